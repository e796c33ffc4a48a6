"""The result of an identification: base parameters with their covariance, torque errors, and a verdict.

Covariance    cov = sum_j v_j c_j P_j
              P_j   covariance of beta for unit noise of joint j, from the estimator
              c_j   autocorrelation time of the residuals of joint j; see ``autocorrelation``
              v_j   variance of these residuals: the sum of their squares divided by n_j - c_j d_j, with the number n_j
                    of equations and the degrees of freedom d_j
              Model errors that vary like noise enlarge the residuals and therefore the standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ytheta.display import Reported
from ytheta.dynamics.kernels import AnyKernel, inverse_dynamics
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.assessment.excitation import (
    Certainty,
    MotionAdvice,
    advise_motion,
    classify_base_parameters,
    classify_standard_parameters,
)
from ytheta.identification.assessment.residuals import TorqueErrors
from ytheta.identification.assessment.verdict import Verdict, reach_verdict
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimate import MAX_UNIDENTIFIED_COMPONENT, Estimate
from ytheta.identification.estimators.evidence.model_choice import NO_CHOICE, ModelChoice
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.priors.prior import Family
from ytheta.identification.priors.settings import PriorCenter
from ytheta.identification.standard_parameters import (
    Mark,
    StandardParameters,
    find_inconsistent_parts,
    mark_parameters,
    with_friction,
)
from ytheta.identification.unknown_geometry import make_torque_kernel, make_unset_error
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.preparing.settings import PreparationSettings
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, freeze

# Findings after which the model describes a robot other than the one that moved.
CONTRADICTIONS = (
    FitFindingCode.TORQUE_SIGN,
    FitFindingCode.TORQUE_SCALE,
    FitFindingCode.POSITION_SIGN,
    FitFindingCode.POSITION_OFFSET,
    FitFindingCode.POSITION_SCALE,
    FitFindingCode.JOINT_ORDER,
    FitFindingCode.TIME_SCALE,
    FitFindingCode.DELAY,
    FitFindingCode.LENGTHS,
    FitFindingCode.GRAVITY,
)


@dataclass(frozen=True)
class Origin:
    """The logs and settings of an identification."""

    logs: tuple[str, ...]
    validation_logs: tuple[str, ...]
    form: str
    estimator: str
    parameters: tuple[str, ...]  # the selected standard parameters
    min_speed: tuple[float, ...] | None  # in rad/s or m/s; equations of slower joints were left out
    settings: tuple[PreparationSettings, ...]  # one per log of the fit; "auto" is replaced by values
    expected_autocorrelation_time: float = 1.0  # that of low-passed white noise, in samples
    prior: PriorCenter = PriorCenter.NONE
    prior_source: str = ""  # file or name of what the prior is centred on, unless it is the robot's own description


@dataclass(frozen=True)
class ConsistencyCost:
    """Torque errors in percent of the estimate and of the bodies nearest to it; None without validation logs."""

    estimate_percent: float
    bodies_percent: float
    validation_estimate_percent: float | None = None
    validation_bodies_percent: float | None = None

    @property
    def ratio(self) -> float:
        """Error of the bodies divided by the error of the estimate, on the logs where it is larger."""
        return _divide(*self.worst)

    @property
    def worst(self) -> tuple[float, float]:
        """Errors of the estimate and of the bodies, on the logs of the fit or validation where they differ more."""
        pairs = [(self.estimate_percent, self.bodies_percent)]
        if self.validation_estimate_percent is not None and self.validation_bodies_percent is not None:
            pairs.append((self.validation_estimate_percent, self.validation_bodies_percent))
        return max(pairs, key=lambda pair: _divide(*pair))


def _divide(estimate: float, bodies: float) -> float:
    return bodies / estimate if estimate > 0.0 else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Reported):
    """A model of a robot, identified from its motion. Its arrays are read-only.

    Attributes
    ----------
    beta, std         values of the base parameters and their standard deviations, in the order of ``names``
    covariance        their covariance; ``correlation`` is their correlation matrix
    verdict           the grade of the model and its reason
    seen, missing     the certainty of every base parameter, and the motion that would determine the others
    robot             the robot with the identified standard parameters ``theta``. If the geometry is unknown, there are
                      no standard parameters: its friction is the identified one, and its links have no inertia
    base              the parameters that were identified: base parameters, or those of a regrouped Lagrangian if
                      the geometry is unknown
    estimate          the result of the estimator
    normal_equations  normal equations of the fit, without weights
    fit               torque errors on the logs of the fit
    validation        torque errors on the validation logs; None without such logs
    origin            logs and settings
    findings          findings about the logs and the fit
    equation_autocorrelation_time
                      autocorrelation time of the residuals, as a number of equations; None for the differential form,
                      in which every sample is an equation and ``fit`` contains the autocorrelation time
    choice            which rotor inertias and friction laws the data chose, and what the alternatives would have given
    standard          standard parameters with their deviations before and after the data, and the bodies; None if the
                      geometry is unknown
    consistency_cost  what physical consistency costs in torque error; None if the geometry is unknown
    marks, standard_marks
                      what determines each base parameter and each standard parameter: data, prior, or both
    """

    subject: ClassVar[str] = "identification"

    base: ModelParameters
    estimate: Estimate
    normal_equations: NormalEquations
    fit: TorqueErrors
    validation: TorqueErrors | None
    origin: Origin
    findings: tuple[Finding, ...] = ()
    equation_autocorrelation_time: PerJoint | None = None
    choice: ModelChoice = NO_CHOICE
    standard: StandardParameters | None = None
    consistency_cost: ConsistencyCost | None = None

    @property
    def beta(self) -> PerBase:
        """Values of the base parameters, in the order of ``names``."""
        return self.estimate.beta

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names

    @property
    def samples(self) -> int:
        """The largest number of equations of a joint; the integral and momentum forms have one equation per window."""
        return round(float(self.normal_equations.counts.max(initial=0.0)))

    @cached_property
    def noise(self) -> PerJoint:
        """Standard deviation of each joint's residuals, in Nm or N."""
        used = self.autocorrelation_time * self.estimate.degrees_of_freedom
        return freeze(np.sqrt(self.residual_squares / np.maximum(self.normal_equations.counts - used, 1.0)))

    @property
    def residual_squares(self) -> PerJoint:
        """Sum of the squared residuals of the fit for each joint."""
        return self.normal_equations.residual_squares(self.beta)

    @cached_property
    def covariance(self) -> BaseByBase:
        """Covariance of beta; without a prior, zero along unidentified directions, where ``std`` is infinite."""
        return freeze(self.estimate.covariance(self.noise**2 * self.autocorrelation_time))

    @property
    def autocorrelation_time(self) -> PerJoint:
        """Autocorrelation time of each joint's residuals, as a number of equations."""
        if self.equation_autocorrelation_time is None:
            return self.fit.autocorrelation_time
        return self.equation_autocorrelation_time

    @cached_property
    def std(self) -> PerBase:
        """Standard deviations of beta; infinite for parameters with a component along an unidentified direction."""
        unidentified = abs(self.estimate.unidentified).max(axis=1, initial=0.0) > MAX_UNIDENTIFIED_COMPONENT
        return freeze(np.where(unidentified, np.inf, np.sqrt(np.maximum(np.diag(self.covariance), 0.0))))

    @property
    def relative_std_percent(self) -> PerBase:
        """Standard deviations relative to the absolute values of beta, in percent."""
        size = abs(self.beta)
        return 100.0 * self.std / np.where(size > 0.0, size, np.finfo(float).tiny)

    @cached_property
    def correlation(self) -> BaseByBase:
        """Correlation matrix of the errors of beta."""
        std = np.sqrt(np.maximum(np.diag(self.covariance), np.finfo(float).tiny))
        return freeze(self.covariance / np.outer(std, std))

    @cached_property
    def decomposition(self) -> NormalDecomposition:
        """Decomposition of the normal equations of all joints with equal weights."""
        return NormalDecomposition.of(self.normal_equations.matrix(np.ones(len(self.normal_equations.joints))))

    @property
    def condition_number(self) -> float:
        """Condition number of all equations with columns scaled to length one; infinite if the rank is not full."""
        return self.decomposition.condition_number

    @cached_property
    def seen(self) -> tuple[Certainty, ...]:
        """The certainty of every base parameter."""
        motion_range = self.fit.motion_range
        return classify_base_parameters(self.base, self.normal_equations, motion_range, self.beta, self.std)

    @cached_property
    def standard_seen(self) -> dict[str, Certainty]:
        """The certainty of every selected standard parameter."""
        return dict(classify_standard_parameters(self.base, self.seen))

    @cached_property
    def missing(self) -> tuple[MotionAdvice, ...]:
        """Motion that would determine the parameters that the data determine weakly or not at all."""
        return advise_motion(self.base, self.seen, self.fit.motion_range)

    @cached_property
    def theta(self) -> Float[np.ndarray, "params"]:
        """Standard parameters of the bodies nearest to the estimate: physically consistent.

        Raises UnsetLengthError or UnsetAngleError if the geometry is unknown.
        """
        if self.standard is None:
            raise make_unset_error(self.base.robot)
        return self.standard.theta

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What determines each base parameter: the data, the prior, or both; the data for estimators without prior."""
        if self.standard is None or self.estimate.posterior is None:
            return tuple(Mark.DATA if np.isfinite(std) else Mark.PRIOR for std in self.std)
        return mark_parameters(self.std, self.standard.base_prior_std)

    @property
    def uses_prior(self) -> bool:
        """Whether the estimate has a prior that expects something of the links or of an earlier model."""
        posterior = self.estimate.posterior
        if posterior is None or self.origin.prior is PriorCenter.NONE:
            return False
        return bool(posterior.prior.belongs_to((Family.LINK, Family.MODEL)).any())

    @property
    def standard_marks(self) -> dict[str, Mark]:
        """What determines each selected standard parameter; empty if the geometry is unknown."""
        return {} if self.standard is None else self.standard.marks

    @cached_property
    def robot(self) -> Robot:
        """The robot with the standard parameters ``theta``, or only with the friction if the geometry is unknown."""
        if isinstance(self.base, BaseParameters):
            return with_theta(self.base.robot, self.theta)
        return with_friction(self.base.robot, dict(zip(self.names, self.beta.tolist(), strict=True)))

    def inverse_dynamics(self) -> AnyKernel:
        """Return the kernel (q, qd, qdd) → tau of this model; it needs no geometry if that is unknown."""
        if isinstance(self.base, BaseParameters):
            return inverse_dynamics(self.robot)
        return make_torque_kernel(self.base.with_robot(self.robot), self.beta)

    @cached_property
    def inconsistent(self) -> dict[str, str]:
        """Links and drives whose standard parameters are not physically consistent, each with the reason."""
        return find_inconsistent_parts(self.robot)

    @property
    def consistent(self) -> bool | None:
        """Whether the standard parameters are physically consistent; None if there are none: unknown geometry."""
        return None if self.robot.inertias_unknown else not self.inconsistent

    @property
    def is_validation_repeated(self) -> bool:
        """Whether a validation log repeats the motion of the fit."""
        return any(finding.code == LogFindingCode.REPEATED_MOTION for finding in self.findings)

    @cached_property
    def verdict(self) -> Verdict:
        """The grade of the model and its reason."""
        contradictions = [finding.statement for finding in self.findings if finding.code in CONTRADICTIONS]
        return reach_verdict(
            joints=self.base.robot.actuated,
            fit=self.fit,
            validation=self.validation,
            repeated=self.is_validation_repeated,
            contradiction=contradictions[0] if contradictions else "",
            certainty=self.seen,
            names=self.names,
            missing=self.missing,
            noun=self.base.noun,
        )

    def save(self, path: str | Path) -> Path:
        """Write robot, parameters, covariance and origin to one TOML file, which every command accepts as a robot."""
        from ytheta.identification.model_file import save_model  # imported here, since most results are not saved

        return save_model(self, path)

    def __repr__(self) -> str:
        errors = f"{self.fit.relative_percent:.2f} % fit"
        if self.validation is not None:
            errors += f", {self.validation.relative_percent:.2f} % validation"
        return f"Identification({len(self.base)} {self.base.noun} of {self.base.robot.name!r}, {errors})"

"""The result of an identification: base parameters with their covariance, torque errors, verdict, and origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ytheta.display import Reported
from ytheta.dynamics.kernels import AnyKernel, inverse_dynamics
from ytheta.errors import InputError, UnsetAngleError, UnsetLengthError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.assessment.excitation import (
    Certainty,
    MotionAdvice,
    advise_motion,
    classify_base_parameters,
    classify_standard_parameters,
)
from ytheta.identification.assessment.residual_analysis import ResidualCause
from ytheta.identification.assessment.torque_errors import (
    BeforeAfter,
    ParameterUncertainty,
    ReportedErrors,
    TorqueErrors,
    compute_differences,
    has_friction,
)
from ytheta.identification.assessment.verdict import (
    PredictionQuality,
    Verdict,
    find_assumptions,
    find_contradictions,
    find_scales,
    measure_quality,
    reach_verdict,
)
from ytheta.identification.between_logs import compute_between_logs, compute_default_variance
from ytheta.identification.consistency.standard_parameters import (
    ConsistencyCost,
    Mark,
    StandardParameters,
    find_inconsistent_parts,
    mark_parameters,
    with_friction,
)
from ytheta.identification.equations.autocorrelation import compute_expected_autocorrelation_time
from ytheta.identification.equations.differential import make_torque_kernel
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.fit_statistics import FitStatistics, compute_correlation, compute_relative_percent
from ytheta.identification.model_choice import NO_CHOICE, ModelChoice
from ytheta.identification.plan import PreparationPlan, TorqueDelay
from ytheta.identification.priors.prior import Family, PriorCenter, PriorSettings
from ytheta.logs.log import Log, LogFindingCode, LogOrigin, LogSize
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, PreparationSettings
from ytheta.logs.preparing.recorded_velocity import DecidedVelocity
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, freeze

# Standard deviation of the scale of torques from currents, the same for all joints: of torque constants that a data
# sheet or another arm of the type gives, with currents that were not calibrated. Chosen on: reasoning; constants of one
# type of motor differ by 5 to 10 %, they fall by 5 % if the magnets warm up by 40 K, and two published sets for the
# UR10e differ by 13 to 49 %.
TORQUE_SCALE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Reported):
    """A model of a robot, identified from its motion. Its arrays are read-only.

    Attributes
    ----------
    beta, std         values of the base parameters of the model and their standard deviations, in the order of
                      ``names``; if the geometry is known, those of the bodies that ``robot`` has and ``save`` writes
    covariance        their covariance; ``correlation`` is their correlation matrix
    verdict           the grade of the model and its reason
    quality           errors and uncertainties of the predicted torques, by which the model is graded
    seen, missing     the certainty of every base parameter, and the motion that would determine the others
    robot             the robot with the identified standard parameters ``theta``. If the geometry is unknown, there are
                      no standard parameters: its friction is the identified one, and its links have no inertia
    base              the parameters that were identified: base parameters, or those of a regrouped Lagrangian if
                      the geometry is unknown
    estimate          the result of the estimator, the free estimate: its parameters need not be those of bodies
    normal_equations  normal equations of the fit, without weights
    fit               torque errors on the logs of the fit, at the cut-off of the judgement: ``origin.cutoff``
    validation        torque errors on the validation logs; None without such logs
    origin            logs and settings
    findings          findings about the logs and the fit
    equation_autocorrelation_time
                      autocorrelation time of the noise, as a number of equations; None for the differential form if its
                      cut-off is that of the errors: then every sample is an equation, and ``fit`` contains the
                      autocovariances of the residuals
    reported          torque errors at the report cut-off; None if it was not given
    description_errors
                      torque errors of the description on the validation logs, or on those of the fit without them;
                      None if it has no inertias or the geometry is unknown
    before_after      the same beside the errors of the identified model
    choice            which rotor inertias and friction laws the data chose, and what the alternatives would have given
    standard          standard parameters with their deviations before and after the data, and the bodies; None if the
                      geometry is unknown
    consistency_cost  torque errors of the free estimate beside those of the model; None if the geometry is unknown
    residual_causes   for each joint the effect that explains most of its residual; empty if it was not looked for
    nuisance_covariance
                      part of the covariance that is due to the uncertainty of what is not a parameter of the model: the
                      delay of the torques (``origin.torque_delay``), and chosen transition speeds of Coulomb friction;
                      None if all of that is known
    between_logs      standard deviation of each joint's torque between logs, beyond noise and uncertain parameters
    left_out_excesses for each log of the fit, squared error minus expected variance if it is predicted from the others;
                      empty with one log
    torque_scale      standard deviation of the scale of each joint's torques, by which all masses and torques of the
                      model are as uncertain: TORQUE_SCALE if a log of the fit contains its currents, else 0
    marks, standard_marks
                      what determines each base parameter and each standard parameter: data, prior, or both
    """

    base: ModelParameters
    beta: PerBase
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
    residual_causes: tuple[ResidualCause, ...] = ()
    nuisance_covariance: BaseByBase | None = None
    reported: ReportedErrors | None = None
    description_errors: TorqueErrors | None = None
    left_out_excesses: tuple[PerJoint, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names

    @property
    def samples(self) -> int:
        """The largest number of equations of a joint; the integral and momentum forms have one equation per window."""
        return round(float(self.normal_equations.counts.max(initial=0.0)))

    @cached_property
    def _statistics(self) -> FitStatistics:
        return FitStatistics(
            self.beta,
            self.estimate,
            self.normal_equations,
            self.fit,
            self.equation_autocorrelation_time,
            self.nuisance_covariance,
        )

    @property
    def noise(self) -> PerJoint:
        """Standard deviation of each joint's equations: of their residuals, corrected for degrees of freedom."""
        return self._statistics.noise

    @property
    def torque_noise(self) -> PerJoint:
        """Standard deviation of each joint's measured torque without that of the model, at the cut-off of the errors.

        It is ``noise`` if every sample of the errors is an equation. Otherwise, equations have another cut-off or are
        integrals: it is computed from the residuals on the logs of the fit.
        """
        return self._statistics.torque_noise

    @property
    def residual_squares(self) -> PerJoint:
        """Sum of the squared residuals of the fit for each joint."""
        return self.normal_equations.residual_squares(self.beta)

    @property
    def covariance(self) -> BaseByBase:
        """Covariance of beta; without a prior, zero along unidentified directions, where ``std`` is infinite."""
        return self._statistics.covariance

    @property
    def error_variances(self) -> PerJoint:
        """Variance of one independent equation of each joint: correlated noise, and errors of preparing the motion."""
        return self._statistics.error_variances

    @property
    def autocorrelation_time(self) -> PerJoint:
        """Autocorrelation time of each joint's noise, as a number of equations.

        It is that of the residuals if the estimator does not say how much of the noise the parameters took away.
        """
        return self._statistics.autocorrelation_time

    @property
    def std(self) -> PerBase:
        """Standard deviations of beta; infinite for parameters with a component along an unidentified direction."""
        return self._statistics.std

    @cached_property
    def between_logs(self) -> PerJoint:
        """Standard deviation of each joint's torque between logs; see the module ``between_logs``."""
        default = compute_default_variance(
            self.fit,
            self.torque_noise,
            self.beta,
            self.base.independent,
            cutoff=self.origin.cutoff,
            logs=max(len(self.origin.logs), 1),
        )
        return freeze(compute_between_logs(default, self.left_out_excesses))

    @cached_property
    def torque_scale(self) -> PerJoint:
        """Standard deviation of the scale of each joint's torques; no other standard deviation contains it."""
        joints = {
            column.joint
            for origin in self.origin.log_origins[: len(self.origin.logs)]
            for column in (() if origin is None else origin.columns)
            if column.gain is not None
        }
        return freeze(np.array([TORQUE_SCALE if name in joints else 0.0 for name in self.base.robot.actuated]))

    @cached_property
    def parameter_uncertainty(self) -> ParameterUncertainty:
        """Covariance of beta, and the directions that the data do not identify."""
        return ParameterUncertainty(self.covariance, self.estimate.unidentified)

    @cached_property
    def uncertainty(self) -> ParameterUncertainty:
        """The uncertainty of torques of other logs: that of the parameters, and the variation between logs."""
        return replace(self.parameter_uncertainty, between_logs=self.between_logs)

    def compute_prediction_std(self, errors: TorqueErrors) -> PerJoint:
        """Return the RMS of the standard deviation of each joint's predicted torque, for the motion of these errors.

        It is that of the model: the variation between logs is not part of it.
        """
        return errors.regressor.compute_rms_std(self.parameter_uncertainty)

    @cached_property
    def quality(self) -> PredictionQuality:
        """Errors and uncertainties of the prediction on the validation logs, or on those of the fit without them."""
        errors = self.fit if self.validation is None else self.validation
        std, coulomb = self.compute_prediction_std(errors), {name: drive.coulomb for name, drive in self.robot.drives}
        friction = np.array([coulomb.get(name, 0.0) for name in self.base.robot.actuated])
        return measure_quality(errors, std, prismatic=self._prismatic, dry_friction=friction)

    @cached_property
    def other_motion_quality(self) -> PredictionQuality | None:
        """The uncertainty for other motion of the same size as that of the fit; None for robots with loops."""
        other = self.fit.other_motion
        if other is None:
            return None
        scale = find_scales(other.torque_variation, other.torque_rms, prismatic=self._prismatic)
        std = other.regressor.compute_rms_std(self.parameter_uncertainty)
        return PredictionQuality.without_errors(std, scale, joint_rows=self.fit.joint_rows)

    @property
    def before_after(self) -> BeforeAfter | None:
        """Torque errors of the description and of the model; None if the description does not predict torques."""
        if self.description_errors is None:
            return None
        after = self.fit if self.validation is None else self.validation
        return BeforeAfter(self.description_errors, after, self.validation is not None, has_friction(self.base.robot))

    @cached_property
    def description_beta(self) -> PerBase | None:
        """The base parameters of the description; None if it does not predict torques."""
        return None if self.description_errors is None else self.base.beta

    @cached_property
    def description_differences(self) -> PerBase | None:
        """Identified minus described base parameters in standard deviations; NaN for those that are not seen."""
        if self.description_beta is None:
            return None
        return freeze(compute_differences(self.beta, self.description_beta, self.std))

    @cached_property
    def standard_differences(self) -> dict[str, float]:
        """Identified minus described standard parameters in standard deviations; empty if the geometry is unknown."""
        if self.standard is None:
            return {}
        robot, names = self.base.robot, self.standard.names
        places = [robot.parameter_names.index(name) for name in names]
        differences = compute_differences(self.theta[places], robot.theta[places], self.standard.std)
        return dict(zip(names, differences.tolist(), strict=True))

    @property
    def _prismatic(self) -> list[bool]:
        return [name in self.base.robot.prismatic_joints for name in self.base.robot.actuated]

    @property
    def relative_std_percent(self) -> PerBase:
        """Standard deviations relative to the absolute values of beta, in percent."""
        return compute_relative_percent(self.std, self.beta)

    @cached_property
    def correlation(self) -> BaseByBase:
        """Correlation matrix of the errors of beta."""
        return freeze(compute_correlation(self.covariance))

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
    def theta(self) -> Float[np.ndarray, " params"]:
        """Standard parameters of the bodies: physically consistent.

        Raises UnsetLengthError or UnsetAngleError if the geometry is unknown.
        """
        if self.standard is None:
            raise _make_unset_error(self.base.robot)
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
        if self.standard is not None:
            return with_theta(self.base.robot, self.theta)
        return with_friction(self.base.robot, dict(zip(self.names, self.beta.tolist(), strict=True)))

    def inverse_dynamics(self) -> AnyKernel:
        """Return the kernel (q, qd, qdd) → tau of this model; it needs no geometry if that is unknown."""
        if self.standard is not None:
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
        return reach_verdict(
            joints=self.base.robot.actuated,
            fit=self.fit,
            validation=self.validation,
            repeated=self.is_validation_repeated,
            contradiction=next(find_contradictions(self.findings), ""),
            assumption=next(find_assumptions(self.findings), ""),
            certainty=self.seen,
            names=self.names,
            missing=self.missing,
            quality=self.quality,
            other_motion=self.other_motion_quality,
            causes={each.joint: each.text for each in self.residual_causes},
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


def _make_unset_error(robot: Robot) -> InputError:
    """Return the error that standard parameters need a length or an angle that is unknown."""
    error = UnsetLengthError if robot.unset_lengths else UnsetAngleError
    return error(
        f"the standard parameters of {robot.name!r} need {robot.unset_symbols[0]!r}, which has no value; without it, "
        "beta, inverse_dynamics() and predict still work"
    )


# The origin of an identified model: the logs and settings of its identification.


@dataclass(frozen=True)
class Origin:
    """The logs and settings of an identification."""

    logs: tuple[str, ...]
    validation_logs: tuple[str, ...]
    form: str
    estimator: str
    parameters: tuple[str, ...]  # the selected standard parameters
    min_speed: tuple[float, ...] | str | None  # rad/s or m/s; slower or, with "auto", resting joints were left out
    settings: tuple[PreparationSettings, ...]  # one per log of the fit; "auto" is replaced by values
    validation_settings: tuple[PreparationSettings, ...] = ()  # one per validation log
    judged_cutoffs: tuple[float, ...] = ()  # in Hz; one per log, validation logs last: those of the torque errors
    expected_autocorrelation_time: float = 1.0  # that of low-passed white noise, in samples
    prior: PriorCenter = PriorCenter.NONE
    prior_source: str = ""  # file or name of what the prior is centred on, unless it is the robot's own description
    log_origins: tuple[LogOrigin | None, ...] = ()  # one per log, validation logs last: the columns of the files
    log_digests: tuple[str, ...] = ()  # one per log of the fit, see ``Log.compute_digest``
    log_sizes: tuple[LogSize, ...] = ()  # one per log, validation logs last: as recorded, before the low-pass
    requested: PreparationSettings = DEFAULT_SETTINGS  # as given, with "auto"
    decided_velocities: tuple[DecidedVelocity, ...] = ()  # those that the torques of the fit chose
    torque_delay: TorqueDelay = TorqueDelay(0.0, 0.0)  # how much too late torques were recorded; they were moved

    @property
    def named_log_origins(self) -> list[tuple[str, LogOrigin]]:
        """Names and origins of the logs that were read from files or tables."""
        pairs = zip((*self.logs, *self.validation_logs), self.log_origins, strict=False)  # origins may be unknown
        return [(name, origin) for name, origin in pairs if origin is not None]

    @property
    def log_rows(self) -> list[list[int]] | None:
        """First row and stop of each log in its file or table, validation logs last; None unless all are known."""
        rows = [[each.first, each.stop] for each in self.log_origins if each is not None]
        return rows if rows and len(rows) == len(self.log_origins) else None

    @property
    def fit_sizes(self) -> tuple[LogSize, ...]:
        """The sizes of the logs of the fit."""
        return self.log_sizes[: len(self.logs)]

    @property
    def validation_sizes(self) -> tuple[LogSize, ...]:
        """The sizes of the validation logs."""
        return self.log_sizes[len(self.logs) :]

    @property
    def cutoff(self) -> float:
        """The lowest cut-off of the torque errors, in Hz."""
        return min(self.judged_cutoffs, default=float(self.settings[0].cutoff))


def describe_origin(
    fit_logs: Sequence[Log],
    validation_logs: Sequence[Log],
    plan: PreparationPlan,
    prior: PriorSettings,
    *,
    form: str,
    estimator: str,
    parameters: tuple[str, ...],
    min_speed: PerJoint | str | None,
    uses_prior: bool,
) -> Origin:
    """Return the origin of a model; ``min_speed``: "auto", or one speed per joint."""
    logs, first = (*fit_logs, *validation_logs), plan.own.fit[0]
    return Origin(
        logs=tuple(log.source for log in fit_logs),
        validation_logs=tuple(log.source for log in validation_logs),
        form=form,
        estimator=estimator,
        parameters=parameters,
        min_speed=tuple(min_speed.tolist()) if isinstance(min_speed, np.ndarray) else min_speed,
        settings=tuple(each.settings for each in plan.own.fit),
        validation_settings=tuple(each.settings for each in plan.judged.validation),
        judged_cutoffs=tuple(float(each.settings.cutoff) for each in (*plan.judged.fit, *plan.judged.validation)),
        expected_autocorrelation_time=compute_expected_autocorrelation_time(first.rate, float(first.settings.cutoff)),
        prior=prior.center if uses_prior else PriorCenter.NONE,
        prior_source=prior.source,
        log_origins=tuple(log.origin for log in logs),
        log_digests=tuple(log.compute_digest() for log in fit_logs),
        log_sizes=tuple(log.size for log in logs),
        requested=plan.settings,
        decided_velocities=plan.decided_velocities,
        torque_delay=plan.torque_delay,
    )

"""Identification: what was learnt from measured motion, how sure it is, and what it is worth.

Covariance    cov = sum_j v_j c_j P_j with the matrices P_j of the estimator, the variance v_j of joint j's residuals
              (n_j of them, less c_j for every parameter they pay for) and c_j, how many of its equations count as one;
              see ``residuals``.
              Model errors are in the residuals and so in the standard deviations, as far as they look like noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.assessment.excitation import MotionAdvice, Certainty, advice, base_seen, standard_seen
from ytheta.identification.assessment.residuals import TorqueErrors
from ytheta.identification.assessment.verdict import Verdict, verdict
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.model_file import save_model
from ytheta.identification.standard_parameters import consistent_links, standard_parameters
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase

# Kinds of findings after which a model describes another robot than the one that moved.
CONTRADICTIONS = ("torque sign", "gravity")


@dataclass(frozen=True)
class Origin:
    """Where an identification comes from: logs, form, estimator and how the logs were prepared."""

    logs: tuple[str, ...]
    validation_logs: tuple[str, ...]
    form: str
    estimator: str
    asked: tuple[str, ...]  # the standard parameters the question was about
    min_speed: tuple[float, ...] | None  # speeds below which a joint's equations were left out
    settings: tuple[PreparationSettings, ...]  # one per log, with all that was left to the log settled
    expected_autocorrelation_time: float = 1.0  # c of white noise after the low-pass: what is above it is no noise


@dataclass(frozen=True, eq=False)
class Identification:
    """A model of a robot from its motion; see the module docstring."""

    base: BaseParameters
    estimate: Estimate
    sums: NormalEquations
    fit: TorqueErrors
    validation: TorqueErrors | None
    origin: Origin
    findings: tuple[Finding, ...] = ()
    equations_as_one: Float[np.ndarray, "joints"] | None = None  # where the equations are not the samples

    @property
    def beta(self) -> PerBase:
        """Values of the base parameters, in the order of ``base.names``."""
        return self.estimate.beta

    @property
    def names(self) -> tuple[str, ...]:
        return self.base.names

    @property
    def samples(self) -> int:
        """Equations of the joint that has most: samples, or windows of the integral form."""
        return round(float(self.normal_equations.counts.max(initial=0.0)))

    @cached_property
    def noise(self) -> Float[np.ndarray, "joints"]:
        """Standard deviation of each joint's equations, as far as the residuals show it."""
        freedom = np.maximum(self.normal_equations.counts - self.correlated * self.estimate.used, 1.0)
        return np.sqrt(self.residual_squares / freedom)

    @property
    def residual_squares(self) -> Float[np.ndarray, "joints"]:
        """NormalEquations of squares of what the equations of the fit leave."""
        return self.sums.residual_squares(self.beta)

    @cached_property
    def covariance(self) -> Float[np.ndarray, "base base"]:
        """Of beta, in directions that the data show; see ``std`` for the others."""
        return self.estimate.covariance(self.noise**2 * self.correlated)

    @property
    def correlated(self) -> Float[np.ndarray, "joints"]:
        """How many equations of a joint count as one."""
        return self.fit.autocorrelation_time if self.equations_as_one is None else self.equations_as_one

    @cached_property
    def std(self) -> PerBase:
        """Standard deviations; infinite where a parameter has a part that the data do not show."""
        unseen = abs(self.estimate.unseen).max(axis=1, initial=0.0) > 1e-6
        return np.where(unseen, np.inf, np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def relative_std_percent(self) -> PerBase:
        """Standard deviations as a part of the values."""
        size = abs(self.beta)
        return 100.0 * self.std / np.where(size > 0.0, size, np.finfo(float).tiny)

    @cached_property
    def correlation(self) -> Float[np.ndarray, "base base"]:
        """Of the errors of two base parameters."""
        own = np.sqrt(np.maximum(np.diag(self.covariance), np.finfo(float).tiny))
        return self.covariance / np.outer(own, own)

    @cached_property
    def normal(self) -> NormalDecomposition:
        """The equations of all joints with equal weights, columns scaled."""
        return NormalDecomposition.of(self.sums.normal(np.ones(len(self.sums.joints))))

    @property
    def condition_number(self) -> float:
        """Of all equations, columns scaled to length one; infinite where something is not seen."""
        return self.normal.condition

    @cached_property
    def seen(self) -> tuple[Certainty, ...]:
        """For every base parameter, whether the data determine it."""
        return base_seen(self.base, self.sums, self.fit.reach, self.beta, self.std)

    @cached_property
    def standard_seen(self) -> dict[str, Certainty]:
        """For every standard parameter asked about, what the data say of it."""
        return dict(standard_seen(self.base, self.seen))

    @cached_property
    def missing(self) -> tuple[MotionAdvice, ...]:
        """Which motion is missing, in words."""
        return advice(self.base, self.seen, self.fit.reach)

    @cached_property
    def theta(self) -> Float[np.ndarray, "params"]:
        """Standard parameters that move the robot like beta, as near to the description's as can be."""
        return standard_parameters(self.base, self.beta)

    @cached_property
    def robot(self) -> Robot:
        """The robot with these standard parameters: what every command takes."""
        return with_theta(self.base.robot, self.theta)

    @cached_property
    def inconsistent(self) -> dict[str, str]:
        """Links whose standard parameters no body can have, and why."""
        return consistent_links(self.robot)

    @cached_property
    def verdict(self) -> Verdict:
        """What the model is worth, in one sentence."""
        against = [finding.statement for finding in self.findings if finding.code in CONTRADICTIONS]
        return verdict(
            joints=self.base.robot.actuated,
            fit=self.fit,
            validation=self.validation,
            repeated=any(finding.code == LogFindingCode.REPEATED_MOTION for finding in self.findings),
            contradiction=against[0] if against else "",
            seen=self.seen,
            names=self.names,
            missing=self.missing,
        )

    def save(self, path: str | Path) -> None:
        """Write robot, parameters, covariance and origin as one TOML file that every command takes for a robot."""
        save_model(self, path)

    def report(self, path: str | Path) -> None:
        """Write one self-contained HTML page: torques, residuals, parameters, findings."""
        from ytheta.report.identification.page import write_report

        write_report(self, path)

    def __str__(self) -> str:
        from ytheta.report.identification.text import identification_text

        return identification_text(self)

    def __repr__(self) -> str:
        figure = f"{self.fit.relative_percent:.2f} % fit"
        if self.validation is not None:
            figure += f", {self.validation.relative_percent:.2f} % validation"
        return f"Identification({len(self.base)} base parameters of {self.base.robot.name!r}, {figure})"

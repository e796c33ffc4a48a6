"""Preparations of the logs of an identification: at which cut-off each log is fitted, and at which it is judged.

Fit       Every log of the fit has its own cut-off: as high as its noise and the rigidity of arms allow. A noisy log
          does not lower the cut-off of a clean one, and a clean log does not raise that of a noisy one. Decimation
          keeps eight samples per period of the cut-off, so residuals of all logs are correlated over as many samples.
Judgement Errors of different logs compare only at the same cut-off. All logs, validation included, are judged at the
          highest cut-off that the motion of the fit needs (ten times its band), but at most at what every log bears.
          No log is judged below twice the band of its own motion, because such a low-pass would change the motion.
Velocity  For the logs of the fit, the torques may choose between recorded velocity and differentiated position. A
          validation log follows the nearest sampling rate for which they did, if the rates are similar, because drives
          and loggers are then the same; its own torques are not asked. The model contains what was decided, so that
          another log of ``predict`` is prepared like a validation log.
Report    Errors at any other cut-off can be stated as well, so that they compare with those of other tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ytheta.arguments import check_number, is_positive
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.model_equations import LogEquations
from ytheta.identification.estimators.least_squares import Weighted
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.logs.preparing.filters import MAX_LOWPASS_RATIO
from ytheta.logs.preparing.preparation import AUTO, Preparation, PreparationSettings, choose_preparation
from ytheta.logs.preparing.recorded_velocity import DecidedVelocity, VelocityChoice
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class LogPreparations:
    """Preparations of the logs of the fit and of the validation logs, in the order of the logs."""

    fit: tuple[Preparation, ...]
    validation: tuple[Preparation, ...]

    @property
    def cutoff(self) -> float:
        """The lowest cut-off of all logs, in Hz."""
        return min(float(each.settings.cutoff) for each in (*self.fit, *self.validation))


@dataclass(frozen=True, eq=False)
class _PreparedLogs:
    """Logs with their own preparations, from which preparations with other cut-offs are made."""

    logs: tuple[Log, ...]
    settings: PreparationSettings
    own: tuple[Preparation, ...]

    def with_cutoffs(self, cutoffs: Sequence[float]) -> tuple[Preparation, ...]:
        """Return the preparations with other cut-offs; the choice between recorded velocity and position is kept."""
        return tuple(
            preparation
            if preparation.settings.cutoff == cutoff
            else choose_preparation(
                log, replace(self.settings, cutoff=cutoff, velocity=preparation.uses_recorded_velocity)
            )
            for log, preparation, cutoff in zip(self.logs, self.own, cutoffs, strict=True)
        )


@dataclass(frozen=True)
class TorqueDelay:
    """How much too late torques were recorded, and the standard deviation of this time, in seconds.

    It is negative if they were recorded too early: a torque that is held after it was recorded acts later.
    """

    value: float
    std: float


@dataclass(frozen=True, eq=False)
class PreparationPlan:
    """How the logs of an identification are prepared.

    Attributes
    ----------
    settings  those that were requested, for all logs
    own       every log at its own cut-off; the equations of the fit are those of ``own.fit``
    judged    for the errors of the model; equal to ``own`` if all logs have the same cut-off and need it
    reported  for errors that are stated in addition; None if they were not requested
    torque_delay
              how much too late the torques of all logs were recorded
    """

    settings: PreparationSettings
    own: LogPreparations
    judged: LogPreparations
    reported: LogPreparations | None
    torque_delay: TorqueDelay

    def with_torque_delay(self, delay: TorqueDelay) -> PreparationPlan:
        """Return the plan with this delay of the torques of all logs."""
        moved: dict[int, Preparation] = {}  # a preparation that is used twice stays the same

        def move(preparations: LogPreparations) -> LogPreparations:
            fit, validation = (
                tuple(moved.setdefault(id(each), each.with_torque_delay(delay.value)) for each in part)
                for part in (preparations.fit, preparations.validation)
            )
            return LogPreparations(fit, validation)

        reported = None if self.reported is None else move(self.reported)
        return PreparationPlan(self.settings, move(self.own), move(self.judged), reported, delay)

    @property
    def decided_velocities(self) -> tuple[DecidedVelocity, ...]:
        """The velocities that the torques of logs of the fit chose, which other logs follow."""
        return tuple(_list_decided_velocities(self.own.fit))

    @property
    def is_fit_judged_apart(self) -> bool:
        """Whether the logs of the fit are judged at another cut-off than that of their equations."""
        return any(a is not b for a, b in zip(self.own.fit, self.judged.fit, strict=True))


def plan_preparations(
    fit: Sequence[Log],
    validation: Sequence[Log],
    settings: PreparationSettings,
    *,
    report_cutoff: float | None = None,
    equations: LogEquations | None = None,
) -> PreparationPlan:
    """Choose the preparations of the logs of the fit and of the validation logs.

    A cut-off in the settings applies to all logs, to the fit as well as to the judgement. ``report_cutoff``: cut-off in
    Hz at which errors are computed in addition. ``equations``: those of the logs, so that the torques choose between
    recorded velocity and differentiated position if the settings do not; None keeps the choice from the spectra.
    """
    logs = (*fit, *validation)
    if report_cutoff is not None:
        check_report_cutoff(report_cutoff, logs)
    own = tuple(choose_preparation(log, settings) for log in logs)
    if equations is not None:
        own = _choose_velocities(own, len(fit), equations)
    prepared = _PreparedLogs(logs, settings, own)

    def split(preparations: tuple[Preparation, ...]) -> LogPreparations:
        return LogPreparations(preparations[: len(fit)], preparations[len(fit) :])

    judged = prepared.own
    if settings.cutoff == AUTO:
        judged = prepared.with_cutoffs(_choose_judged_cutoffs(prepared.own, len(fit)))
    reported = None if report_cutoff is None else split(prepared.with_cutoffs([report_cutoff] * len(logs)))
    delay = TorqueDelay(float(own[0].settings.torque_delay), 0.0)
    return PreparationPlan(settings, split(prepared.own), split(judged), reported, delay)


def choose_judged_preparation(
    log: Log, settings: PreparationSettings, fitted: float | None, decided: Sequence[DecidedVelocity] = ()
) -> Preparation:
    """Return the preparation for errors on one log of a model whose errors were judged at the cut-off ``fitted``.

    ``decided``: velocities that the torques of its fit chose, which the log follows.
    With "auto" as cut-off, it is ``fitted`` or, without it, ten times the band, but at most what the log bears and at
    least twice its band. A log that is too short for a spectrum is prepared at ``fitted``.
    """
    if fitted is not None and max(stop - start for start, stop in log.segments) < MIN_SAMPLES:
        settings = replace(settings, cutoff=fitted if settings.cutoff == AUTO else settings.cutoff)
    own = _follow(choose_preparation(log, settings), decided)
    if own.choice is None:  # the cut-off is given
        return own
    needed = own.choice.judged if fitted is None else fitted
    cutoff = max(min(needed, own.choice.cutoff), own.choice.minimum)
    judged = _PreparedLogs((log,), settings, (own,)).with_cutoffs([cutoff])[0]
    return judged if judged is own else judged.with_velocity(own.velocity)


def _choose_velocities(
    own: tuple[Preparation, ...], fit_count: int, equations: LogEquations
) -> tuple[Preparation, ...]:
    fit = tuple(
        each.with_velocity(choose_velocity(each, equations)) if each.velocity.comparisons else each
        for each in own[:fit_count]
    )
    decided = tuple(_list_decided_velocities(fit))
    return (*fit, *(_follow(each, decided) for each in own[fit_count:]))


def _list_decided_velocities(fit: Sequence[Preparation]) -> Iterator[DecidedVelocity]:
    for each in fit:
        if each.velocity.torque_gain is not None:
            name = Path(each.log.source).name or "the log of the fit"
            yield DecidedVelocity(each.grid.rate, each.uses_recorded_velocity, name)


def _follow(preparation: Preparation, decided: Sequence[DecidedVelocity]) -> Preparation:
    choice = preparation.velocity.follow(decided, preparation.grid.rate)
    return preparation if choice is preparation.velocity else preparation.with_velocity(choice)


def _choose_judged_cutoffs(own: Sequence[Preparation], fit_count: int) -> list[float]:
    choices = [each.choice for each in own if each.choice is not None]
    needed = max(choice.judged for choice in choices[:fit_count])
    common = min(needed, *(choice.cutoff for choice in choices))
    return [max(common, choice.minimum) for choice in choices]


def check_report_cutoff(cutoff: float, logs: Sequence[Log]) -> None:
    """Raise InputError if the cut-off is not a positive number, or too high for the rate of a log."""
    check_number("report_cutoff", cutoff, "a positive number of Hz", allow=is_positive)
    for log in logs:
        highest = MAX_LOWPASS_RATIO * log.rate
        if cutoff > highest:
            raise InputError(
                f"{log.source or 'log'}: a report cut-off of {cutoff:g} Hz is impossible at {log.rate:.4g} samples per "
                f"second; choose at most {highest:.3g} Hz"
            )


def describe_cutoffs(plan: PreparationPlan) -> tuple[Finding, ...]:
    """Return a finding that states the cut-offs of the fit and of the errors if they differ."""
    if plan.own.cutoff == plan.judged.cutoff and not plan.is_fit_judged_apart:
        return ()
    fitted = sorted({float(each.settings.cutoff) for each in plan.own.fit})
    judged = sorted({float(each.settings.cutoff) for each in (*plan.judged.fit, *plan.judged.validation)})
    words = (" and ".join(f"{cutoff:.3g}" for cutoff in cutoffs) for cutoffs in (fitted, judged))
    return (
        Finding(
            LogFindingCode.CUTOFF,
            Severity.NOTE,
            "the model is fitted at {} Hz; errors are computed at {} Hz, which all logs bear and the motion of the fit "
            "needs".format(*words),
            fields={"fit": fitted, "errors": judged},
        ),
    )


# The torques as referee between recorded velocity and differentiated position.
#
# Spectra show scale, delay and noise of recorded velocity (``logs.preparing.recorded_velocity``), but not which of two
# smooth signals is right. The torques do: the source with smaller errors leaves smaller residuals. The same model is
# fitted with each of the candidates, so that all have the same number of parameters and need no held-out samples. Two
# figures are compared: the relative torque error of all joints, to which joints with large torques contribute most, and
# the geometric mean of the joints' RMS residuals, the Gaussian likelihood, to which all joints contribute equally.
#
# Candidates   the choice from the spectra; recorded velocity for all joints at which its scale is right; differentiated
#              position for all joints.
# Choice       the choice from the spectra, unless another candidate reduces both figures by at least 3 %: if the two
#              figures contradict each other, or hardly differ, the torques do not decide.


# Relative reduction of both figures, for which the choice of velocities from the spectra is given up. Chosen on: rule
# of thumb.
MIN_GAIN = 0.03
# Equations of all joints per parameter, below which residuals say nothing about velocities. Chosen on: rule of thumb.
MIN_EQUATIONS_PER_PARAMETER = 10.0


def choose_velocity(preparation: Preparation, equations: LogEquations) -> VelocityChoice:
    """Return the velocities of a log that explain its torques best."""
    spectral = preparation.velocity
    flags = dict.fromkeys((spectral.uses_recorded, spectral.may_use_recorded, (False,) * len(spectral.uses_recorded)))
    if len(flags) == 1:
        return spectral
    levels = {}
    for uses_recorded in flags:
        choice = replace(spectral, uses_recorded=uses_recorded)
        level = compute_residual_levels(equations.make_log_problem(preparation.with_velocity(choice)))
        if level is None:
            return spectral
        levels[uses_recorded] = level
    gains = {each: float((levels[spectral.uses_recorded] - level).min()) for each, level in levels.items()}
    best = max(gains, key=gains.__getitem__)
    if gains[best] < -np.log1p(-MIN_GAIN):
        return spectral
    return replace(spectral, uses_recorded=best, torque_gain=1.0 - float(np.exp(-gains[best])))


def compute_residual_levels(problem: EstimationProblem) -> Float[np.ndarray, "2"] | None:
    """Return the logarithms of the two figures; None if there are too few equations or no residuals."""
    equations = problem.normal_equations()
    if equations.counts.sum() < MIN_EQUATIONS_PER_PARAMETER * len(problem.base):
        return None
    squares = equations.residual_squares(Weighted().fit(problem).beta)
    used = squares > 0.0
    if not used.any():
        return None
    total = np.log(squares[used].sum())
    return 0.5 * np.array([total, np.mean(np.log(squares[used]))])

"""Preparations of the logs of an identification: at which cut-off each log is fitted, and at which it is judged.

Fit       Every log of the fit has its own cut-off: as high as its noise and the rigidity of arms allow. A noisy log
          does not lower the cut-off of a clean one, and a clean log does not raise that of a noisy one. Decimation
          keeps eight samples per period of the cut-off, so residuals of all logs are correlated over as many samples.
Judgement Errors of different logs compare only at the same cut-off. All logs, validation included, are judged at the
          highest cut-off that the motion of the fit needs (ten times its band), but at most at what every log bears.
          No log is judged below twice the band of its own motion, because such a low-pass would change the motion.
Velocity  For the logs of the fit, a referee may choose between recorded velocity and differentiated position. A
          validation log follows the log of the fit with the nearest sampling rate if the rates are similar, because
          drives and loggers are then the same; its own torques are not asked.
Report    Errors at any other cut-off can be stated as well, so that they compare with those of other tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ytheta.arguments import check_number, is_positive
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.logs.preparing.filters import MAX_LOWPASS_RATIO
from ytheta.logs.preparing.preparation import AUTO, Preparation, PreparationSettings, choose_preparation
from ytheta.logs.preparing.recorded_velocity import VelocityChoice

MAX_RATE_RATIO = 2.0  # of the sampling rates of two logs; up to it, they count as recorded in the same way

VelocityReferee = Callable[[Preparation], VelocityChoice]  # chooses the velocities of a log of the fit


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


@dataclass(frozen=True, eq=False)
class PreparationPlan:
    """How the logs of an identification are prepared.

    Attributes
    ----------
    own       every log at its own cut-off; the equations of the fit are those of ``own.fit``
    judged    for the errors of the model; equal to ``own`` if all logs have the same cut-off and need it
    reported  for errors that are stated in addition; None if they were not requested
    """

    own: LogPreparations
    judged: LogPreparations
    reported: LogPreparations | None

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
    referee: VelocityReferee | None = None,
) -> PreparationPlan:
    """Choose the preparations of the logs of the fit and of the validation logs.

    A cut-off in the settings applies to all logs, to the fit as well as to the judgement. ``report_cutoff``: cut-off in
    Hz at which errors are computed in addition. ``referee``: chooses between recorded velocity and differentiated
    position if the settings do not; None keeps the choice from the spectra.
    """
    logs = (*fit, *validation)
    if report_cutoff is not None:
        check_report_cutoff(report_cutoff, logs)
    own = tuple(choose_preparation(log, settings) for log in logs)
    if referee is not None:
        own = _choose_velocities(own, len(fit), referee)
    prepared = _PreparedLogs(logs, settings, own)

    def split(preparations: tuple[Preparation, ...]) -> LogPreparations:
        return LogPreparations(preparations[: len(fit)], preparations[len(fit) :])

    judged = prepared.own
    if settings.cutoff == AUTO:
        judged = prepared.with_cutoffs(_choose_judged_cutoffs(prepared.own, len(fit)))
    reported = None if report_cutoff is None else split(prepared.with_cutoffs([report_cutoff] * len(logs)))
    return PreparationPlan(split(prepared.own), split(judged), reported)


def choose_judged_preparation(log: Log, settings: PreparationSettings, fitted: float | None) -> Preparation:
    """Return the preparation for errors on one log of a model whose errors were judged at the cut-off ``fitted``.

    With "auto" as cut-off, it is ``fitted`` or, without it, ten times the band, but at most what the log bears and at
    least twice its band. A log that is too short for a spectrum is prepared at ``fitted``.
    """
    if settings.cutoff != AUTO:
        return choose_preparation(log, settings)
    if fitted is not None and max(stop - start for start, stop in log.segments) < MIN_SAMPLES:
        return choose_preparation(log, replace(settings, cutoff=fitted))
    own = choose_preparation(log, settings)
    assert own.choice is not None
    needed = own.choice.judged if fitted is None else fitted
    cutoff = max(min(needed, own.choice.cutoff), own.choice.minimum)
    judged = _PreparedLogs((log,), settings, (own,)).with_cutoffs([cutoff])[0]
    return judged if judged is own else judged.with_velocity(own.velocity)


def _choose_velocities(
    own: tuple[Preparation, ...], fit_count: int, referee: VelocityReferee
) -> tuple[Preparation, ...]:
    fit = tuple(each.with_velocity(referee(each)) if each.velocity.comparisons else each for each in own[:fit_count])
    validation = []
    for each in own[fit_count:]:
        nearest = min(fit, key=lambda other: _compare_rates(each, other))
        decided = nearest.velocity.torque_gain is not None and _compare_rates(each, nearest) <= MAX_RATE_RATIO
        if decided and each.velocity.comparisons:
            pairs = zip(nearest.uses_recorded_velocity, each.velocity.may_use_recorded, strict=True)
            uses_recorded = tuple(used and allowed for used, allowed in pairs)
            followed = Path(nearest.log.source).name or "the log of the fit"
            each = each.with_velocity(replace(each.velocity, uses_recorded=uses_recorded, followed=followed))
        validation.append(each)
    return (*fit, *validation)


def _compare_rates(a: Preparation, b: Preparation) -> float:
    return max(a.grid.rate / b.grid.rate, b.grid.rate / a.grid.rate)


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

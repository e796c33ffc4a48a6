"""Mistakes in time: a wrong rate or unit, and torques that were recorded later than positions.

With time multiplied by f, inertial torques are multiplied by 1/f² and weights by 1. Free moments and rotor inertias
absorb most of it, so that the error changes by tens of percent instead of several times. Two observations decide:

velocity    recorded velocity divided by the derivative of position is the same factor in all joints
minimum     the held-out error, as a function of f, has a minimum near the factor: it is higher for shorter and for
            longer time steps. Errors of models without a mistake in time have their minimum near f = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from ytheta.identification.assessment.mistakes.errors import Equations, Errors
from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.assessment.mistakes.torque_mistakes import format_factor
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log

# Factors by which recorded time has to be multiplied: ratios of usual sampling rates, and decimal prefixes.
USUAL_FACTORS = (2.0, 0.5)
FACTORS = tuple(each for size in (4.0, 5.0, 8.0, 10.0, 100.0, 1000.0, 2.5, 1.5) for each in (1.0 / size, size))
DELAYS = (0.05, 0.1, 0.2, 0.5)  # s; those of filters and buses are shorter
MIN_VELOCITY_RATIO = 1.25  # or its inverse; smaller ratios are those of filters and gains
MAX_RATIO_SPREAD = 0.05  # of the ratios of all joints, relative to their median
MIN_RISE = 1.1  # of the total error on both sides of its minimum, relative to the minimum
# Factors, or their inverses, near which a minimum is looked for. The minimum of a model that lacks something may be off
# by less; with larger factors, the error no longer depends on the factor, since inertial torques vanish or dominate.
MIN_MINIMUM_FACTOR, MAX_MINIMUM_FACTOR = 2.0, 5.0
MIN_TOTAL_ERROR = 1e-3  # smaller errors are equally good: those of simulated torques without noise


def list_time_scales(interpretation: Interpretation, factors: Sequence[float] = FACTORS) -> Iterator[Mistake]:
    """Yield factors of time."""
    for factor in factors:
        equations = mend_once(interpretation, interpretation.samples.stretch(factor))
        find_evidence = partial(_describe_minimum, interpretation, factor)
        yield make_time_scale(factor, equations, find_evidence)


def list_recorded_time_scales(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Mistake]:
    """Yield the factor of time that recorded velocities show, if there is one."""
    ratio = find_velocity_ratio(logs)
    if ratio is not None:
        factor = _round_factor(1.0 / ratio)
        equations = mend_once(interpretation, interpretation.samples.stretch(factor))
        yield make_time_scale(
            factor,
            equations,
            lambda: f"recorded velocity is {ratio:.3g} times the derivative of position in all joints",
        )


def make_time_scale(
    factor: float, find_equations: Callable[[], Equations], find_evidence: Callable[[], str]
) -> Mistake:
    """Return the mistake that time has to be multiplied by this factor."""
    size, kind = (1.0 / factor, "long") if factor < 1.0 else (factor, "short")
    return Mistake(
        FitFindingCode.TIME_SCALE,
        f"time steps are {format_factor(size)} times too {kind}",
        f"write [scale] t = {format_factor(factor)} in the mapping, or multiply its rate by "
        f"{format_factor(1.0 / factor)}",
        find_equations,
        fields={"factor": factor},
        find_evidence=find_evidence,
    )


def find_velocity_ratio(logs: Sequence[Log]) -> float | None:
    """Return recorded velocity divided by the derivative of position if all joints of all logs have the same ratio.

    Returns None if the ratios differ, such as those of single gains, or if they are near 1.
    """
    ratios: list[float] = []
    for log in logs:
        findings = [each for each in log.findings if each.code is LogFindingCode.VELOCITY and "ratios" in each.fields]
        if log.qd is None or not findings or set(findings[0].fields["compared"]) != set(findings[0].fields["ratios"]):
            return None
        ratios += findings[0].fields["ratios"].values()
    if not ratios:
        return None
    ratio = float(np.median(ratios))
    is_common = ratio > 0.0 and max(abs(each / ratio - 1.0) for each in ratios) < MAX_RATIO_SPREAD
    return ratio if is_common and max(ratio, 1.0 / ratio) >= MIN_VELOCITY_RATIO else None


def has_minimum_near(interpretation: Interpretation, factor: float) -> bool:
    """Whether the held-out error, as a function of the factor of time, has a minimum near this factor, far from 1."""

    def stretch(factor: float) -> Errors:
        return interpretation.make_equations(interpretation.samples.stretch(factor)).compute_errors()

    if not MIN_MINIMUM_FACTOR <= max(factor, 1.0 / factor) <= MAX_MINIMUM_FACTOR:
        return False
    here = stretch(factor)
    if _bound_total(interpretation.errors) < MIN_RISE * _bound_total(here):
        return False
    profile = [interpretation.errors, stretch(factor**0.5), here, stretch(factor**1.5), stretch(factor**2)]
    totals = [_bound_total(errors) for errors in profile]
    averages = [_average_joints(errors) for errors in profile]
    return (
        0 < int(np.argmin(totals)) < len(totals) - 1
        and min(totals[0], totals[-1]) >= MIN_RISE * totals[2]
        and min(averages[0], averages[-1]) > averages[2]
    )


def list_delays(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield delays of torques relative to positions, and vice versa."""
    for delay in (each for size in DELAYS for each in (size, -size)):
        late, early = ("torques", "positions") if delay > 0.0 else ("positions", "torques")
        yield Mistake(
            FitFindingCode.DELAY,
            f"{late} were recorded about {abs(delay):.2g} s later than {early}",
            f"move the columns of {late} up by {abs(delay):.2g} s in the log",
            mend_once(interpretation, interpretation.samples.shift_torques(delay)),
            fields={"delay": delay},
        )


def _describe_minimum(interpretation: Interpretation, factor: float) -> str:
    text = "the error is lower than with shorter and with longer time steps"
    return text if has_minimum_near(interpretation, factor) else ""


def _bound_total(errors: Errors) -> float:
    return float(np.hypot(errors.total, MIN_TOTAL_ERROR))


def _average_joints(errors: Errors) -> float:
    """Return the mean logarithm of the joints' held-out errors."""
    return float(np.log(np.hypot(errors.held_out, MIN_TOTAL_ERROR)).mean())


def _round_factor(factor: float) -> float:
    """Return the usual factor near a measured one, or the measured one with three digits."""
    near = [each for each in (*USUAL_FACTORS, *FACTORS) if abs(factor / each - 1.0) < MAX_RATIO_SPREAD]
    return min(near, key=lambda each: abs(factor / each - 1.0)) if near else float(f"{factor:.3g}")

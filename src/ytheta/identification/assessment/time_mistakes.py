"""Mistakes in time: a wrong rate or unit, and torques that were recorded later than positions.

With time multiplied by f, inertial torques are multiplied by 1/f² and weights by 1. Free moments and rotor inertias
absorb most of it, so that the error changes by tens of percent instead of several times. Two observations decide:

velocity    recorded velocity divided by the derivative of position is the same factor in all joints
minimum     the held-out error, as a function of f, has a minimum near the factor: it is higher for shorter and for
            longer time steps. Errors of models without a mistake in time have their minimum near f = 1.

Likewise, the error of slow motion depends little on a delay, but has its minimum at the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ytheta.identification.assessment.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.assessment.mistake_errors import Equations, Errors, Samples
from ytheta.identification.assessment.torque_mistakes import format_factor
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.log import Log, LogFindingCode

# Factors by which recorded time has to be multiplied: ratios of usual sampling rates, and decimal prefixes. Chosen on:
# reasoning.
USUAL_FACTORS = (2.0, 0.5)
FACTORS = tuple(each for size in (4.0, 5.0, 8.0, 10.0, 100.0, 1000.0, 2.5, 1.5) for each in (1.0 / size, size))
# Delays in s that are tried. Chosen on: reasoning; those of filters and buses are shorter.
DELAYS = (0.05, 0.1, 0.2, 0.5)
# Ratio of recorded velocity to differentiated position, or its inverse, from which time may be wrong. Chosen on:
# reasoning; smaller ratios are those of filters and gains.
MIN_VELOCITY_RATIO = 1.25
# Spread of these ratios of half of the joints, relative to their median. Chosen on: rule of thumb.
MAX_RATIO_SPREAD = 0.05
# Deviation of the ratios of the others. Chosen on: reasoning; velocities of single joints may have wrong gains.
MAX_GAIN_ERROR = 0.25
# Total error on both sides of its minimum, relative to the minimum. Chosen on: rule of thumb.
MIN_RISE = 1.1
# Factors of time, or their inverses, near which a minimum is looked for. Chosen on: reasoning; the minimum of a model
# that lacks something may be off by less, and with larger factors the error no longer depends on the factor, since
# inertial torques vanish or dominate.
MIN_MINIMUM_FACTOR, MAX_MINIMUM_FACTOR = 2.0, 5.0
# The same for delays, in s. Chosen on: reasoning; elastic joints and filters shift the minimum by up to half of it.
MIN_MINIMUM_DELAY = 0.1
# Total error below which errors are equally good. Chosen on: simulated torques without noise.
MIN_TOTAL_ERROR = 1e-3


def list_time_scales(
    interpretation: Interpretation, logs: Sequence[Log], factors: Sequence[float] = FACTORS
) -> Iterator[Mistake]:
    """Yield factors of time. Minima of errors do not count if recorded velocities tell the factor."""
    has_velocity = any(log.qd is not None for log in logs)
    for factor in factors:
        equations = mend_once(interpretation, interpretation.samples.stretch(factor))
        find_evidence = partial(
            _describe_minimum,
            interpretation,
            equations,
            interpretation.samples.stretch(factor**2),
            "shorter and with longer time steps",
        )
        is_near = MIN_MINIMUM_FACTOR <= max(factor, 1.0 / factor) <= MAX_MINIMUM_FACTOR
        mistake = make_time_scale(factor, equations, find_evidence if is_near and not has_velocity else lambda: "")
        yield replace(mistake, is_double=has_velocity)  # then velocity would be wrong as well


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
    """Return recorded velocity divided by the derivative of position if the joints of all logs have the same ratio.

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
    spread = [abs(each / ratio - 1.0) for each in ratios] if ratio > 0.0 else [np.inf]
    is_common = float(np.median(spread)) < MAX_RATIO_SPREAD and max(spread) < MAX_GAIN_ERROR
    return ratio if is_common and max(ratio, 1.0 / ratio) >= MIN_VELOCITY_RATIO else None


def is_minimum(before: Errors, here: Errors, beyond: Errors) -> bool:
    """Whether errors have a clear minimum between those of a log as recorded and those with a larger change."""
    totals = [float(np.hypot(errors.total, MIN_TOTAL_ERROR)) for errors in (before, here, beyond)]
    joints = [float(np.log(np.hypot(errors.held_out, MIN_TOTAL_ERROR)).mean()) for errors in (before, here, beyond)]
    return min(totals[0], totals[2]) >= MIN_RISE * totals[1] and min(joints[0], joints[2]) > joints[1]


def list_delays(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield delays of torques relative to positions, and vice versa."""
    for delay in (each for size in DELAYS for each in (size, -size)):
        late, early = ("torques", "positions") if delay > 0.0 else ("positions", "torques")
        samples = interpretation.samples
        equations = mend_once(interpretation, samples.shift_torques(delay))
        beyond = samples.shift_torques(2.0 * delay)
        yield Mistake(
            FitFindingCode.DELAY,
            f"{late} were recorded about {abs(delay):.2g} s later than {early}",
            f"move the columns of {late} up by {abs(delay):.2g} s in the log",
            equations,
            fields={"delay": delay},
            find_evidence=partial(
                _describe_minimum, interpretation, equations, beyond, "shorter and with longer delays"
            )
            if abs(delay) >= MIN_MINIMUM_DELAY
            else lambda: "",
        )


def _describe_minimum(interpretation: Interpretation, here: Callable[[], Equations], beyond: Samples, rest: str) -> str:
    """Return the statement that errors have a minimum at a change of the log; empty if they do not."""
    before, after = interpretation.errors, here().compute_errors()
    if before.total <= after.total:
        return ""
    is_lowest = is_minimum(before, after, interpretation.make_equations(beyond).compute_errors())
    return f"the error is lower than with {rest}" if is_lowest else ""


def _round_factor(factor: float) -> float:
    """Return the usual factor near a measured one, or the measured one with three digits."""
    near = [each for each in (*USUAL_FACTORS, *FACTORS) if abs(factor / each - 1.0) < MAX_RATIO_SPREAD]
    return min(near, key=lambda each: abs(factor / each - 1.0)) if near else float(f"{factor:.3g}")

"""Checking recorded velocity: its integral in a time window should equal the distance travelled.

Unlike differentiation of positions, integration does not amplify rounding errors and jitter. The ratio of integral to
distance indicates the fault: 57.3 means velocity in degrees, 1000 means time in milliseconds, and a deviation from 1 by
a few percent means a wrong gain or a filter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.units import TIME_UNITS, format_units
from ytheta.logs.log import Log, LogFindingCode, allocate_temporary, compute_steps
from ytheta.robot.robot import Robot
from ytheta.shapes import StartIndices

# Length in s of the windows in which velocity is integrated, and their fewest rows, which are needed if the unit of
# time is wrong. Chosen on: rule of thumb.
WINDOW_SECONDS, MIN_WINDOW_ROWS = 0.25, 25
MAX_WINDOWS = 20_000  # affects only time
# Deviation from 1 of the ratio of integrated velocity to distance travelled, above which there is a warning. Chosen on:
# rule of thumb.
MAX_RATIO_ERROR = 0.03
# RMS in rad or m of the distances travelled in the windows, from which they are compared. Chosen on: rule of thumb.
MIN_TRAVEL = 2e-3
# Correlation of integrated velocity and distance travelled below which there is a warning. Chosen on: rule of thumb.
MIN_CORRELATION = 0.9
DEGREES_PER_RADIAN = 180.0 / math.pi  # Fixed by: mathematics.
RPM_PER_RADIAN = 30.0 / math.pi  # revolutions per minute for 1 rad/s. Fixed by: mathematics.
# Relative deviation of the ratio from the factor of a unit, up to which the unit is named. Chosen on: rule of thumb.
MAX_UNIT_RATIO_ERROR = 0.05
QUANTITY_NOUNS = {"q": "positions", "qd": "velocities"}
VELOCITY_REMEDY = 'for these joints velocity is computed from position, unless velocity="recorded" is set'


@dataclass(frozen=True)
class VelocityFit:
    """Ratio of a joint's integrated velocity to the distance travelled, and the correlation of the two."""

    ratio: float
    correlation: float


def check_velocities(log: Log, robot: Robot) -> list[Finding]:
    """Report recorded velocities that are not the derivative of the positions."""
    fits = compare_with_positions(log)
    wrong_unit = _check_units(fits, log, robot)
    if wrong_unit is not None:
        return [wrong_unit]
    findings = []
    follows = {joint: fit.ratio for joint, fit in fits.items() if fit.correlation >= MIN_CORRELATION}
    scaled = {joint: ratio for joint, ratio in follows.items() if abs(ratio - 1.0) > MAX_RATIO_ERROR}
    if scaled:
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.WARNING,
            "recorded velocity differs from the differentiated position by a factor "
            f"({', '.join(f'{joint} {ratio:.3f}' for joint, ratio in scaled.items())})",
            remedy=f"{_recognise_rpm(scaled)}{VELOCITY_REMEDY}",
            names=tuple(scaled),
            fields={"ratios": scaled, "compared": list(fits)},
        )
        findings.append(finding)
    unrelated = {joint: fit.correlation for joint, fit in fits.items() if joint not in follows}
    if unrelated:
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.WARNING,
            "recorded velocity does not follow the position "
            f"(correlation {', '.join(f'{joint} {value:.2f}' for joint, value in unrelated.items())})",
            remedy=f"check the order and the signs of the columns; {VELOCITY_REMEDY}",
            names=tuple(unrelated),
            fields={"correlations": unrelated},
        )
        findings.append(finding)
    return findings


def _recognise_rpm(ratios: Mapping[str, float]) -> str:
    """Return a hint if the velocities of all these joints seem to be in revolutions per minute; otherwise nothing."""
    if all(abs(ratio / RPM_PER_RADIAN - 1.0) < MAX_RATIO_ERROR for ratio in ratios.values()):
        return 'they seem to be in rpm: write [scale] qd = "rpm" in a mapping; otherwise, '
    return ""


def _check_units(fits: dict[str, VelocityFit], log: Log, robot: Robot) -> Finding | None:
    """Return the finding about a wrong unit if the ratios of at least half of the joints indicate one; else None."""
    for factor in (DEGREES_PER_RADIAN, 1.0 / DEGREES_PER_RADIAN, *TIME_UNITS):
        near = [joint for joint, fit in fits.items() if abs(fit.ratio / factor - 1.0) < MAX_UNIT_RATIO_ERROR]
        if not near or 2 * len(near) < len(fits):
            continue
        ratio = fits[near[0]].ratio
        if factor in TIME_UNITS:
            quantity, (unit, word) = "t", TIME_UNITS[factor]
            remedy = f'time seems to be in {unit}: write [scale] t = "{word}" in a mapping'
        else:
            quantity, word = "qd" if factor == DEGREES_PER_RADIAN else "q", "degrees"
            entry = format_units(robot, near, in_radians=[joint for joint in fits if joint not in near])
            remedy = _advise_on_degrees(quantity, entry, log, near)
        return Finding(
            LogFindingCode.UNITS,
            Severity.ERROR,
            f"recorded velocity is {ratio:.4g} times the differentiated position ({near[0]})",
            remedy=remedy,
            names=tuple(near),
            fields={"quantity": quantity, "unit": word, "ratio": ratio},
        )
    return None


def _advise_on_degrees(quantity: str, entry: str, log: Log, joints: list[str]) -> str:
    """Return the remedy if positions or velocities, which ``quantity`` says, are too large by the factor of degrees.

    Either they are in degrees, or the other of the two was taken to be in degrees, but is not.
    """
    other = "q" if quantity == "qd" else "qd"
    factors = [c.factor for c in log.origin.columns if c.quantity == other and c.joint in joints] if log.origin else []
    if not any(math.isclose(factor, 1.0 / DEGREES_PER_RADIAN, rel_tol=1e-9) for factor in factors):
        return f"{QUANTITY_NOUNS[quantity]} seem to be in degrees: write [scale] {quantity} = {entry} in a mapping"
    return (
        f"only the {QUANTITY_NOUNS[quantity]} seem to be in degrees, not the {QUANTITY_NOUNS[other]}: without "
        f'--degrees, write [scale] {quantity} = {entry} and {other} = "radians" in a mapping'
    )


def compare_with_positions(log: Log) -> dict[str, VelocityFit]:
    """Compare integrated velocity with distance travelled for each joint that moves."""
    starts, window = _choose_windows(log)
    fits: dict[str, VelocityFit] = {}
    if log.qd is None or not len(starts):
        return fits
    steps, integral = compute_steps(log.t), allocate_temporary(len(log))
    for k, joint in enumerate(log.joints):
        velocity = log.qd[:, k]
        np.add(velocity[1:], velocity[:-1], out=integral[1:])
        integral[1:] *= 0.5
        integral[1:] *= steps
        np.cumsum(integral[1:], out=integral[1:])
        travel = log.q[starts + window, k] - log.q[starts, k]
        integrated = integral[starts + window] - integral[starts]
        squares = float(travel @ travel)
        if math.sqrt(squares / len(starts)) > MIN_TRAVEL:
            product = float(integrated @ travel)
            norms = math.sqrt(squares * float(integrated @ integrated))
            fits[joint] = VelocityFit(product / squares, product / norms if norms else 0.0)
    return fits


def _choose_windows(log: Log) -> tuple[StartIndices, int]:
    """Return the first row of each window and the number of rows per window; each window is within one segment."""
    longest = max((stop - start for start, stop in log.segments), default=0)
    window = max(1, min(max(round(WINDOW_SECONDS * log.rate), MIN_WINDOW_ROWS), longest // 4))
    stride = max(1, window // 2, len(log) // MAX_WINDOWS)
    starts = [np.arange(start, stop - window, stride) for start, stop in log.segments if stop - start > window]
    return (np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)), window

"""Snapping of rounded angles, such as 1.5708 instead of pi/2.

A rounding error of 4e-6 rad between perpendicular axes creates base parameters that no experiment can identify. Readers
therefore replace angles, axes and rotations within a tolerance of multiples of pi/6, and report this in a finding.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ytheta.errors import InputError, RobotFileError
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import ANGLE_STEP, MAX_ANGLE, Frame, Vector, scale_to_order_one, to_rows
from ytheta.shapes import Float

MAX_TOLERANCE = ANGLE_STEP / 2  # rad; every angle is within this distance of a multiple of pi/6
# Smallest change of an angle by snapping (rad) that is reported. Chosen on: reasoning, a few units in the last place
# are rounding errors.
MIN_REPORTED_CHANGE = 4e-15

_UNIT_AXES: tuple[Vector, ...] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (-1.0, 0.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, -1.0),
)


class Snapper:
    """Snaps the angles of one file and records the changes. A tolerance of 0 changes nothing."""

    def __init__(self, tolerance: float) -> None:
        if not 0.0 <= tolerance <= MAX_TOLERANCE:
            raise InputError(
                f"the tolerance {tolerance!r} for rounded angles (snap) must be between 0, which keeps all angles, "
                f"and pi/12 = {MAX_TOLERANCE:.3f}"
            )
        self.tolerance = tolerance
        self._changed: list[tuple[float, str]] = []

    def snap_angle(self, value: float, where: str) -> float:
        """Return the multiple of pi/6 that is within the tolerance of this angle, else the angle itself."""
        if not abs(value) < MAX_ANGLE:
            raise RobotFileError(f"{where}: the angle {value!r} rad is larger than {MAX_ANGLE:g} rad; check its unit")
        exact = round(value / ANGLE_STEP) * ANGLE_STEP
        if not 0.0 < abs(value - exact) <= self.tolerance:
            return value
        self._record_change(abs(value - exact), f"{where}: {value!r} → {format_angle(exact)}")
        return exact

    def snap_rpy(self, roll: float, pitch: float, yaw: float, where: str) -> Frame:
        """Return the rotation by these angles, each snapped."""
        return Frame.from_rpy(*(self.snap_angle(angle, where) for angle in (roll, pitch, yaw)))

    def snap_axis(self, axis: Vector, where: str) -> Vector:
        """Return the coordinate axis that is within the tolerance of this unit vector, else the vector itself."""
        unit = min(_UNIT_AXES, key=lambda unit: math.dist(axis, unit))
        tilt = math.dist(axis, unit)
        if not 0.0 < tilt <= self.tolerance:
            return axis
        self._record_change(tilt, f"{where}: axis {axis} → {unit}")
        return unit

    def snap_rotation(self, frame: Frame, where: str) -> Frame:
        """Return the frame with the nearest rotation whose roll, pitch and yaw are multiples of pi/6.

        If the nearest rotation is not within the tolerance, the frame is not changed.
        """
        if self.tolerance == 0.0:
            return frame
        candidates = _list_exact_rotations()
        # The Frobenius distance of two rotations that differ by a small angle phi is sqrt(2) phi.
        angles = np.linalg.norm(candidates - np.array(frame.rotation), axis=(1, 2)) / math.sqrt(2.0)
        best = int(np.argmin(angles))
        if not 0.0 < angles[best] <= self.tolerance:
            return frame
        self._record_change(float(angles[best]), f"{where}: rotation by {angles[best]:.1e} rad")
        return Frame(frame.translation, to_rows(candidates[best]))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding about all changes that are larger than rounding errors."""
        changes = [(change, text) for change, text in self._changed if change > MIN_REPORTED_CHANGE]
        if not changes:
            return ()
        largest, example = max(changes)
        return (
            Finding(
                "snap",
                Severity.NOTE,
                f"{len(changes)} rounded angle{'s' if len(changes) > 1 else ''} interpreted as multiples of pi/6 "
                f"(largest change {largest:.1e} rad, {example})",
                remedy="--snap 0 (snap=0) keeps them unchanged",
                fields={"count": len(changes), "largest": largest},
            ),
        )

    def _record_change(self, change: float, text: str) -> None:
        self._changed.append((change, text))


def normalize_axis(axis: Vector) -> Vector:
    """Return a direction as a unit vector; vectors of length 1 are not changed. InputError for the zero vector."""
    length = math.hypot(*axis)
    if length == 0.0:
        raise InputError("the axis is zero; give a direction such as 0 0 1")
    if abs(length - 1.0) <= 1e-15:
        return axis
    x, y, z = scale_to_order_one(axis)
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


@cache
def _list_exact_rotations() -> Float[np.ndarray, "candidates 3 3"]:
    """All rotations whose roll, pitch and yaw are multiples of pi/6."""
    full_turn = [k * ANGLE_STEP for k in range(-5, 7)]
    half_turn = [k * ANGLE_STEP for k in range(-3, 4)]
    return np.array([Frame.from_rpy(r, p, y).rotation for r in full_turn for p in half_turn for y in full_turn])


def format_angle(angle: float) -> str:
    """Return a multiple of pi/6 as text, such as ``-pi/2``."""
    steps = round(angle / ANGLE_STEP)
    if steps == 0:
        return "0"
    shared = math.gcd(steps, 6)
    numerator, denominator = steps // shared, 6 // shared
    sign, numerator = ("-", -numerator) if numerator < 0 else ("", numerator)
    return sign + ("pi" if numerator == 1 else f"{numerator}*pi") + ("" if denominator == 1 else f"/{denominator}")

"""Rounded angles: files print 1.5708 and mean pi/2.

A twist of 4e-6 rad between axes that are meant to be perpendicular creates parameters that no experiment can see.
Readers therefore replace angles, axes and rotations that are within a tolerance of multiples of pi/6 (pi/2 among them),
and say so.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ytheta.errors import InputError, RobotFileError
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import MAX_ANGLE, Frame, Vector, scale_to_order_one, to_rows
from ytheta.robot.frame import STEP as STEP
from ytheta.shapes import Float

WIDEST = STEP / 2  # beyond it every angle would be rounded
_UNIT_AXES: tuple[Vector, ...] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (-1.0, 0.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, -1.0),
)


class Snapper:
    """Snaps what one reader reads and remembers what it changed. A tolerance of 0 changes nothing."""

    def __init__(self, tolerance: float) -> None:
        if not 0.0 <= tolerance <= WIDEST:
            raise InputError(
                f"the tolerance {tolerance!r} of rounded angles (snap) should lie between 0, which keeps all angles, "
                f"and pi/12 = {WIDEST:.3f}"
            )
        self.tolerance = tolerance
        self._changed: list[tuple[float, str]] = []

    def angle(self, value: float, where: str) -> float:
        """The multiple of pi/6 that a rounded angle means, else the angle itself."""
        if not abs(value) < MAX_ANGLE:
            raise RobotFileError(
                f"{where}: the angle {value!r} rad is beyond any turn of a robot ({MAX_ANGLE:g} rad); check its unit"
            )
        exact = round(value / STEP) * STEP
        if not 0.0 < abs(value - exact) <= self.tolerance:
            return value
        self._note(abs(value - exact), f"{where}: {value!r} → {format_angle(exact)}")
        return exact

    def rpy(self, roll: float, pitch: float, yaw: float, where: str) -> Frame:
        """A rotation from three angles, each snapped."""
        return Frame.from_rpy(self.angle(roll, where), self.angle(pitch, where), self.angle(yaw, where))

    def axis(self, axis: Vector, where: str) -> Vector:
        """The coordinate axis that a rounded unit vector means, else the vector itself."""
        unit = min(_UNIT_AXES, key=lambda unit: math.dist(axis, unit))
        tilt = math.dist(axis, unit)
        if not 0.0 < tilt <= self.tolerance:
            return axis
        self._note(tilt, f"{where}: axis {axis} → {unit}")
        return unit

    def rotation(self, frame: Frame, where: str) -> Frame:
        """The rotation by multiples of pi/6 in roll, pitch and yaw that a rounded one means, else the frame itself."""
        if self.tolerance == 0.0:
            return frame
        candidates = _exact_rotations()
        # The Frobenius distance of two rotations by a small angle phi is sqrt(2) phi.
        turned = np.linalg.norm(candidates - np.array(frame.rotation), axis=(1, 2)) / math.sqrt(2.0)
        best = int(np.argmin(turned))
        if not 0.0 < turned[best] <= self.tolerance:
            return frame
        self._note(float(turned[best]), f"{where}: rotation by {turned[best]:.1e} rad")
        return Frame(frame.translation, to_rows(candidates[best]))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was changed, as one sentence; changes below a few units in the last place are not worth a word."""
        seen = [(change, text) for change, text in self._changed if change > 4e-15]
        if not seen:
            return ()
        largest, example = max(seen)
        return (
            Finding(
                "snap",
                Severity.NOTE,
                f"{len(seen)} rounded angle{'s' if len(seen) > 1 else ''} taken as multiples of pi/6 "
                f"(largest change {largest:.1e} rad, {example})",
                remedy="snap 0 keeps them as they are",
                fields={"count": len(seen), "largest": largest},
            ),
        )

    def _note(self, change: float, text: str) -> None:
        self._changed.append((change, text))


def normalize_axis(axis: Vector) -> Vector:
    """A direction as a unit vector; one that has length 1 is kept to the last digit. InputError for the zero vector."""
    length = math.hypot(*axis)
    if length == 0.0:
        raise InputError("the axis is zero; give a direction such as 0 0 1")
    if abs(length - 1.0) <= 1e-15:
        return axis
    x, y, z = scale_to_order_one(axis)
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


@cache
def _exact_rotations() -> Float[np.ndarray, "candidates 3 3"]:
    """Every rotation whose roll, pitch and yaw are multiples of pi/6."""
    turns = [k * STEP for k in range(-5, 7)]
    quarter = [k * STEP for k in range(-3, 4)]
    return np.array([Frame.from_rpy(r, p, y).rotation for r in turns for p in quarter for y in turns])


def format_angle(angle: float) -> str:
    """A multiple of pi/6 as a person writes it: ``-pi/2``."""
    steps = round(angle / STEP)
    if steps == 0:
        return "0"
    shared = math.gcd(steps, 6)
    above, below = steps // shared, 6 // shared
    sign, above = ("-", -above) if above < 0 else ("", above)
    return sign + ("pi" if above == 1 else f"{above}*pi") + ("" if below == 1 else f"/{below}")

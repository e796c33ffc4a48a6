"""Reference trajectories as functions of time, and their samples, which all runs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ytheta.arguments import check_number
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, InstantsByJoint, PerInstant, PerJoint

# A reference may exceed a limit by this fraction of the range between the limits, because of smoothing and rounding.
# The excess is also at most 1e-3 rad or m (rad/s or m/s for velocities).
LIMIT_TOLERANCE = 1e-3

# One row per time, or no rows at all for a single time.
SampledMotion: TypeAlias = Float[np.ndarray, "*times joints"]


@runtime_checkable
class ReferenceTrajectory(Protocol):
    """A function that returns q, qd and qdd at given times (s), with one row per time and one column per joint."""

    def __call__(self, t: PerInstant, /) -> tuple[InstantsByJoint, InstantsByJoint, InstantsByJoint]: ...


@runtime_checkable
class TimedReference(Protocol):
    """A reference with a duration."""

    @property
    def seconds(self) -> float:
        """The duration in s."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledReference:
    """The reference at the instants t.

    Attributes
    ----------
    t    times, s
    q    positions, one row per time and one column per joint, rad or m
    qd   velocities
    qdd  accelerations
    """

    t: PerInstant
    q: InstantsByJoint
    qd: InstantsByJoint
    qdd: InstantsByJoint

    def __repr__(self) -> str:
        return f"SampledReference({len(self.t)} instants, {self.q.shape[1]} joints)"


def evaluate_at_instant(reference: ReferenceTrajectory, t: Any) -> tuple[PerJoint, PerJoint, PerJoint]:
    """Return q, qd and qdd at one time, without the dimension of time."""
    q, qd, qdd = reference(np.array([check_number("t", t, "a number of seconds, or an array of them")]))
    return q[0], qd[0], qdd[0]


def sample_reference(reference: ReferenceTrajectory, robot: Robot, t: PerInstant) -> SampledReference:
    """Evaluate the reference at these times.

    Raise an error if a shape is wrong, a value is not finite, or a limit of the robot is exceeded.
    """
    shape = (len(t), len(robot.actuated))
    returned = reference(t)
    if not isinstance(returned, tuple | list) or len(returned) != 3:
        count = f"{len(returned)} values" if isinstance(returned, tuple | list) else "one value"
        raise InputError(f"the reference returned {count} for the times t; return three arrays, (q, qd, qdd)")
    columns = [np.ascontiguousarray(values, dtype=float) for values in returned]
    if [values.shape for values in columns] != [shape] * 3:
        raise InputError(
            f"the reference must return q, qd and qdd of shape {shape}, one column for each of "
            f"{', '.join(robot.actuated)}; it returns shapes {[values.shape for values in columns]}"
        )
    for name, values in zip(("q", "qd", "qdd"), columns, strict=True):
        not_finite = np.argwhere(~np.isfinite(values))
        if len(not_finite):
            k, joint = not_finite[0]
            raise InputError(
                f"the reference {name} of {robot.actuated[joint]!r} is {values[k, joint]} at t = {t[k]:g} s"
            )
    _check_limits(robot, t, columns[0], columns[1])
    return SampledReference(t, *columns)


def _check_limits(robot: Robot, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
    for k, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        max_speed = limits.velocity or np.inf  # exporters write 0 for an unknown limit
        for quantity, values, lower, upper in (
            ("position", q[:, k], limits.lower, limits.upper),
            ("velocity", qd[:, k], -max_speed, max_speed),
        ):
            tolerance = LIMIT_TOLERANCE * min(1.0, upper - lower or 1.0)
            outside = np.flatnonzero((values < lower - tolerance) | (values > upper + tolerance))
            if len(outside):
                first = outside[0]
                raise InputError(
                    f"the reference {quantity} of {name!r} is {values[first]:.8g} at t = {t[first]:.6g} s, outside its "
                    f"limits {lower:.8g} … {upper:.8g}; choose a smaller or slower reference"
                )

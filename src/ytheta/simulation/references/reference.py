"""Reference trajectories as functions of time, and their samples, which all runs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import InstantsByJoint, PerInstant

# A reference may exceed a limit by this fraction of the range between the limits, because of smoothing and rounding.
# The excess is also at most 1e-3 rad or m (rad/s or m/s for velocities).
LIMIT_TOLERANCE = 1e-3

# A function that returns q, qd and qdd at given times.
ReferenceTrajectory: TypeAlias = Callable[[PerInstant], tuple[InstantsByJoint, InstantsByJoint, InstantsByJoint]]


@dataclass(frozen=True, eq=False)
class SampledReference:
    """The reference q, qd and qdd at the instants t."""

    t: PerInstant
    q: InstantsByJoint
    qd: InstantsByJoint
    qdd: InstantsByJoint


def sample_reference(reference: ReferenceTrajectory, robot: Robot, t: PerInstant) -> SampledReference:
    """Evaluate the reference at these times.

    Raise an error if a shape is wrong, a value is not finite, or a limit of the robot is exceeded.
    """
    shape = (len(t), len(robot.actuated))
    columns = [np.ascontiguousarray(values, dtype=float) for values in reference(t)]
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

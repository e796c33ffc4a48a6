"""Measured friction: the part of the measured torque that the model without friction leaves over.

Identity      friction_measured = tau - tau_model + friction_model(v)
              The vertical distance of a point from the friction curve is therefore the residual of the torque.

Points exist for drives that move with one actuated joint; those of couplings and loops share their torque with others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.robot.friction_curve import compute_friction
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class FrictionPoints:
    """Speeds of a drive and the friction measured there, in Nm or N."""

    speeds: Float[np.ndarray, "points"]
    friction: Float[np.ndarray, "points"]


def compute_friction_points(robot: Robot, errors: TorqueErrors, name: str, drive: Drive) -> FrictionPoints | None:
    """Return the friction measured at the samples of the trace, without those that are left out.

    None if the drive does not move with one actuated joint alone. ``drive`` has the identified friction. Friction that
    depends on the load is computed at zero load, so that it appears as scatter around the curve.
    """
    joint = _find_joint(robot, name)
    if joint is None:
        return None
    trace = errors.trace
    speeds = trace.qd[:, joint]
    residual = trace.measured[:, joint] - trace.predicted[:, joint]
    used = np.isfinite(residual) & np.isfinite(speeds) & ~trace.left_out[:, joint]
    if not used.any():
        return None
    return FrictionPoints(speeds[used], residual[used] + compute_friction(drive, speeds[used]))


def _find_joint(robot: Robot, name: str) -> int | None:
    """Return the actuated joint whose velocity and torque are those of the drive; None if there is none."""
    if name not in robot.actuated:
        return None
    if robot.loops:
        return robot.actuated.index(name)
    ratios = compute_velocity_ratios(robot)
    own, column = ratios[robot.moving.index(name)], robot.coordinates.index(name)
    alone = own[column] == 1.0 and np.count_nonzero(own) == 1 and np.count_nonzero(ratios[:, column]) == 1
    return robot.actuated.index(name) if alone else None

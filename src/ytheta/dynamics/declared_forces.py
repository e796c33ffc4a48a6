"""Declared forces of a robot as columns of Y: springs, counterbalances and other forces of known shape.

Identity      tau += D^T @ shapes @ k,   D the drive Jacobian (``drive_motion``), k the last parameters of theta
Accepts       every robot; forces may act on, and depend on, passive and coupled joints, cut joints and motors
Notation      code      meaning                                                             shape
              shapes    torque of every drive per unit of each force                        drives x forces

k are the unknown magnitudes of the forces. Shapes depend only on positions, so they are the same with a reference
velocity. Declared forces contribute to the torque that holds the arm at rest, but not to the momentum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import dot, zeros
from ytheta.robot.forces import evaluate_shapes
from ytheta.shapes import Shaped


def compute_force_shapes(
    constraint: Constraint, q: Shaped[np.ndarray, "joints"]
) -> Shaped[np.ndarray, "drives forces"]:
    """Compute the shapes of all forces at the joint positions q and the coordinates ``constraint.x``."""
    robot = constraint.robot
    result = zeros(len(robot.moving), len(robot.forces))
    if not robot.forces:
        return result
    positions = _collect_positions(constraint, q)
    row = {name: k for k, name in enumerate(positions)}
    for k, force in enumerate(robot.forces):
        for name, shape in evaluate_shapes(force, positions).items():
            result[row[name], k] = exact_array([shape])[0]
    return result


def _collect_positions(constraint: Constraint, q: np.ndarray) -> dict[str, Any]:
    """The positions of all drives by name, in the order of ``robot.moving``. Angles of cut joints are in [-pi, pi]."""
    robot = constraint.robot
    _, offset = robot.motor_map
    base = len(robot.base_coordinates)
    motors = dot(constraint.motors, scalars(constraint.x)) + exact_array(offset.tolist()) if len(offset) else ()
    return dict(
        zip(robot.moving, (*q[base : base + len(robot.movable)], *constraint.cut_positions, *motors), strict=True)
    )

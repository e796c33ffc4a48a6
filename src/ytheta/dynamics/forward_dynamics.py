"""Forward dynamics of a whole robot: accelerations of the actuated coordinates, by composite bodies or from regressors.

Identity      M qdd = tau - bias
Reference     [lu1993] sec. V, "Evaluation of qdd in simulations", steps 1-4, for ``compute_from_regressor``
Accepts       every robot in which each actuated coordinate moves some inertia
Notation      code    paper         meaning                                                     shape
              M       H(q)          mass matrix of the actuated coordinates                     actuated x actuated
              bias    C qd + G      torque at zero acceleration, friction and forces included   actuated
              Y       Y(q, qd, qdd) graph of the regressor of all standard parameters           actuated x params
              f       -             friction and offset of the drives, without fl               drives
              d       -             sign of the velocity of the drives, smoothed or not         drives
              r       -             torque that the drives transmit                             drives
Differs from  the paper in: friction, couplings and loops, which the regressor contains; M is factorized, not inverted.

Load-dependent friction fl d |r| depends on the accelerations through the transmitted torque r, but it can be eliminated
drive by drive: tau - f = r + fl d |r| has the solution r = (tau - f) / (1 + fl d sign(tau - f)), unique if |fl| < 1.
M and bias are those of fl = 0, and tau is replaced by r + f, which is the torque without load-dependent friction that
has the same effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.dynamics.graph_inputs import GraphInputs
from ytheta.dynamics.links import composite_body
from ytheta.dynamics.loops.constraint import column
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array, dot, multiply_entries, zeros
from ytheta.errors import RobotError
from ytheta.native.graph import Graph
from ytheta.shapes import AnyActuatedByActuated, AnyPerActuated, Float


def compute_from_regressor(inputs: GraphInputs, Y: Graph) -> tuple[AnyActuatedByActuated, AnyPerActuated]:
    """M and bias from n + 1 regressors, in the paper's steps."""
    x, qd, size = inputs.symbols[0][1], column(inputs.vector("qd")), len(inputs.loops.actuated)

    def compute_torque(qdd: AnyPerActuated) -> AnyPerActuated:
        entries = zeros(Y.size)  # integer zeros, which cost no operations
        entries[list(Y.places)] = scalars(Y.function(x, qd, column(qdd)))
        return dot(entries.reshape(Y.shape), inputs.model.without_load_friction.theta)

    bias = compute_torque(zeros(size))  # step 1: Y_0 theta
    M = zeros(size, size)
    for i in range(size):
        e = zeros(size)
        e[i] = 1
        M[:, i] = compute_torque(e) - bias  # steps 2 and 3: (Y_i - Y_0) theta
    return M, bias


def solve_accelerations(inputs: GraphInputs, M: AnyActuatedByActuated, right: AnyPerActuated) -> AnyPerActuated:
    """Solve M qdd = right (step 4).

    The factorization of M follows the tree if the coordinates are the joints in their order and there are no motors.
    Sensors, whose coordinates come last, do not move: their accelerations are zero, and their wrenches have no effect.
    """
    robot = inputs.loops.robot
    moving = slice(0, len(robot.actuated) - len(robot.sensor_coordinates))
    uncoupled = not robot.loops and not robot.motors
    qdd = zeros(len(right))
    if uncoupled and robot.coordinates == robot.position_names:
        qdd[moving] = composite_body.solve(inputs.loops.mechanism, M[moving, moving], right[moving])
    else:
        qdd[moving] = composite_body.solve_dense(M[moving, moving], right[moving])
    return qdd


def remove_load_friction(inputs: GraphInputs, tau: AnyPerActuated) -> AnyPerActuated:
    """The torque r + f that has the same effect as tau if fl = 0; tau itself if no drive has such friction."""
    from casadi import sign

    if not inputs.model.has_load_friction:
        return tau
    m = inputs.motion
    f = inputs.model.compute_friction(m)
    s = dot(m.drive_jacobian, tau) - f  # the Jacobian is a permutation, since there are no loops, couplings and motors
    factors = multiply_entries(inputs.model.load_theta, m.directions)
    r = array([entry if type(k) is int else entry / (1 + k * sign(entry)) for entry, k in zip(s, factors, strict=True)])
    return dot(m.drive_jacobian.T, r + f)


def check_load_friction(names: Sequence[str], theta: Float[np.ndarray, "params"]) -> None:
    """Raise RobotError if load-dependent friction drives a joint, or is so large that it blocks the joint."""
    for name, value in zip(names, theta, strict=True):
        if name.endswith(".fl") and not 0.0 <= value < 1.0:
            raise RobotError(
                f"the load-dependent friction {name} is {value:g} times the torque that the drive transmits, with "
                "which no motion can be computed; give a 'load' of at least 0 and less than 1"
            )


def check_inertia(inputs: GraphInputs) -> None:
    """Raise RobotError if nothing that a coordinate moves has inertia, since its acceleration is then undetermined."""
    from casadi import SX

    robot = inputs.loops.robot
    for name, entry in zip(robot.actuated, inputs.model.mass_matrix.diagonal(), strict=True):
        if SX(entry).is_zero() and name not in robot.sensor_coordinates:
            raise RobotError(
                f"robot {robot.name!r}: nothing that {name!r} moves has inertia, so its acceleration is undetermined; "
                "give a link behind it a mass, or its joint a rotor inertia"
            )

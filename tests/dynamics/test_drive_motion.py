"""The motion of joints and drives: velocities and accelerations against finite differences of their positions."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from tests.support.driven_robots import coupled_robot
from tests.support.loop_motion import close_pose, draw_motion
from tests.support.loop_robots import make_looped_robot
from ytheta.dynamics.constraint import LoopConstraint, build_constraint, column, compute_drive_motion


def compute_positions(loops: LoopConstraint, Q: np.ndarray) -> np.ndarray:
    """Joint positions q at actuated coordinates Q."""
    zero = np.zeros(len(Q), dtype=object)
    motion = compute_drive_motion(loops, zero, zero)
    q = casadi.Function("q", [loops.x], [column(motion.joints.q)])
    return np.array(q(close_pose(loops, Q) if loops.passive else Q))[:, 0]


@pytest.mark.parametrize("name", ["five-bar", "walker", "coupled"])
def test_joint_velocities_and_accelerations(name: str) -> None:
    """Against central differences along Q + t Qd + t² Qdd / 2."""
    robot = coupled_robot() if name == "coupled" else make_looped_robot(name)
    loops = build_constraint(robot)
    Q, Qd, Qdd = np.random.default_rng(2).uniform(-0.5, 0.5, (3, 6)) if name == "coupled" else draw_motion(name)
    m = compute_drive_motion(loops, Qd.astype(object), Qdd.astype(object))
    outputs = [column(m.joints.qd), column(m.joints.vd), column(m.joint_jacobian.ravel())]
    x = close_pose(loops, Q) if loops.passive else Q
    qd, qdd, J = (np.array(part)[:, 0] for part in casadi.Function("m", [loops.x], outputs)(x))
    step = 1e-4
    before, now, after = (compute_positions(loops, Q + t * Qd + t * t / 2 * Qdd) for t in (-step, 0.0, step))
    np.testing.assert_allclose((after - before) / (2 * step), qd, rtol=0.0, atol=1e-5 * abs(qd).max())
    np.testing.assert_allclose((after - 2 * now + before) / step**2, qdd, rtol=0.0, atol=1e-4 * abs(qdd).max())
    np.testing.assert_allclose(J.reshape(len(qd), -1) @ Qd, qd, rtol=0.0, atol=1e-12 * abs(qd).max())
    assert m.joints.v is m.joints.qd
    assert m.reference_velocity is m.velocity


def test_drives_are_joints_cut_joints_and_motors() -> None:
    for robot in (coupled_robot(), make_looped_robot("walker")):
        loops = build_constraint(robot)
        zero = np.zeros(len(loops.actuated), dtype=object)
        m = compute_drive_motion(loops, zero, zero)
        assert m.drive_jacobian.shape == (len(robot.moving), len(loops.actuated))
        assert len(m.parameter_factors) == len(robot.moving)


def test_friction_follows_the_two_velocities() -> None:
    """Viscous friction uses the reference velocity, Coulomb friction the sign of the real velocity."""
    loops = build_constraint(coupled_robot())
    qd, v = np.full(6, 2.0, dtype=object), np.full(6, -3.0, dtype=object)
    factors = compute_drive_motion(loops, qd, 0 * qd, v).parameter_factors
    viscous, coulomb = float(casadi.DM(factors[0, 1])), float(casadi.DM(factors[0, 2]))
    assert (viscous, coulomb, factors[0, 3]) == (-3.0, 1.0, 1)

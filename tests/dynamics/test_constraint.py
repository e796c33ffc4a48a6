"""E, its derivative, and the motion of cut joints: compared with differences of closed poses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.cut_joint_matrices import compute_positions_by_matrices
from tests.support.loop_motion import (
    DIFFERENCE_TOLERANCE,
    ROUNDING_TOLERANCE,
    close_pose,
    differentiate_motion,
    draw_motion,
    evaluate,
    get_constraint,
    is_close,
)
from tests.support.loop_robots import NAMES, make_looped_robot
from ytheta.dynamics.graphs import cut_motion_graph
from ytheta.dynamics.mechanism import scalars


@pytest.mark.parametrize("name", NAMES)
def test_E_and_its_derivative_by_differences(name: str) -> None:
    import casadi

    loops = get_constraint(name)
    Q, Qd, Qdd = draw_motion(name)
    x, xd, xdd = differentiate_motion(name)
    E = np.array(loops.tangent(x))
    units = 1e-5 * np.eye(len(Q))
    differences = [(close_pose(loops, Q + e) - close_pose(loops, Q - e)) / 2e-5 for e in units]
    assert is_close(E, np.stack(differences, axis=1), DIFFERENCE_TOLERANCE)
    symbol, reference = casadi.SX.sym("Qd", len(Q)), casadi.SX.sym("V", len(Q))
    EV = [loops.E @ scalars(vector) for vector in (symbol, reference)]
    function = casadi.Function("Edot", [loops.x, symbol, reference], list(loops.Edot_times(*EV)))
    V = np.random.default_rng(5).normal(size=len(Q))
    Edot_V = np.array([float(entry) for entry in function(x, Qd, V)])
    h = 1e-4
    after, before = (np.array(loops.tangent(close_pose(loops, Q + t * Qd))) for t in (h, -h))
    assert is_close(Edot_V, (after - before) @ V / (2 * h), DIFFERENCE_TOLERANCE * 10)
    Edot_Qd = np.array([float(entry) for entry in function(x, Qd, Qd)])
    assert is_close(E @ Qd, xd, DIFFERENCE_TOLERANCE)
    assert is_close(E @ Qdd + Edot_Qd, xdd, DIFFERENCE_TOLERANCE * 10)
    if loops.affine is None:
        assert not is_close(E @ Qdd, xdd, 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_positions_and_rates_of_cut_joints_by_differences(name: str) -> None:
    loops, graph = get_constraint(name), cut_motion_graph(make_looped_robot(name))
    Q, Qd, Qdd = draw_motion(name)
    A, b = loops.robot.coupling_map

    def compute_positions(t: float) -> np.ndarray:
        x = close_pose(loops, Q + t * Qd + t * t / 2 * Qdd)
        return compute_positions_by_matrices(loops.robot, A @ x + b)

    motion = evaluate(graph, close_pose(loops, Q), Qd, Qdd)
    assert motion.shape == (0 if name == "ball" else len(loops.cuts), 3)
    h = 1e-4
    before, now, after = (compute_positions(t) for t in (-h, 0.0, h))
    assert is_close(motion[:, 0], now, ROUNDING_TOLERANCE)
    assert is_close(motion[:, 1], (after - before) / (2 * h), DIFFERENCE_TOLERANCE)
    assert is_close(motion[:, 2], (after - 2 * now + before) / h**2, 1e-5)

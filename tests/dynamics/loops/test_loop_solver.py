"""x = U(Q) and its derivatives: against differences, the cosine rule, and the one-pose closure of ``robot``."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import ytheta
from tests.support.loop_motion import (
    DIFFERENCE_TOLERANCE,
    ROUNDING_TOLERANCE,
    close_pose,
    constraint_of,
    differentiate_motion,
    evaluate,
    is_close,
    random_motion,
)
from tests.support.loop_robots import CATALOG, NAMES, make_looped_robot
from ytheta.dynamics.graphs import cut_motion_graph
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.elimination import blocks
from ytheta.dynamics.loops.elimination import solve as eliminate
from ytheta.dynamics.loops.solver import solve
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import scalars
from ytheta.errors import ClosureError, InputError
from ytheta.robot.frame import Frame
from ytheta.robot.loops import closure
from ytheta.robot.loops.closure import loop_states
from ytheta.robot.parts import Loop


@pytest.mark.parametrize("name", NAMES)
def test_E_and_its_derivative(name: str) -> None:
    import casadi

    loops = constraint_of(name)
    Q, Qd, Qdd = random_motion(name)
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
def test_cut_joints(name: str) -> None:
    loops, graph = constraint_of(name), cut_motion_graph(make_looped_robot(name))
    Q, Qd, Qdd = random_motion(name)
    A, b = loops.robot.coupling_map

    def positions(t: float) -> np.ndarray:
        x = close_pose(loops, Q + t * Qd + t * t / 2 * Qdd)
        states = loop_states(loops.robot, A @ x + b)
        return np.array([s.position for s, loop in zip(states, loops.robot.loops, strict=True) if loop.joint.moves])

    found = evaluate(graph, close_pose(loops, Q), Qd, Qdd)
    assert found.shape == (0 if name == "ball" else len(loops.cuts), 3)
    h = 1e-4
    before, now, after = (positions(t) for t in (-h, 0.0, h))
    assert is_close(found[:, 0], now, ROUNDING_TOLERANCE)
    assert is_close(found[:, 1], (after - before) / (2 * h), DIFFERENCE_TOLERANCE)
    assert is_close(found[:, 2], (after - 2 * now + before) / h**2, 1e-5)


def test_parallelograms_are_closed_forms() -> None:
    affine = constraint_of("palletiser").affine
    assert affine is not None
    names = constraint_of("palletiser").robot.coordinates
    rows = dict(zip(names, affine.E, strict=True))
    assert rows["elbow"].tolist() == [0.0, -1.0, 1.0, 0.0]
    assert rows["rod_pin"].tolist() == [0.0, 1.0, -1.0, 0.0]
    assert not affine.offset.any()
    assert solve(constraint_of("palletiser"), np.array([[0.3, 1.2, -0.4, 2.0]])).rounds == 0
    assert all(constraint_of(name).affine is None for name in NAMES if name != "palletiser")
    robot = ytheta.load("palletiser")
    cut = robot.loops[0].joint
    uneven = replace(robot, loops=(Loop(replace(cut, placement=Frame.shift(1.15))),))
    assert build_constraint(uneven).affine is None


@pytest.mark.parametrize("name", CATALOG)
def test_loops_close_over_the_range_of_the_catalog(name: str) -> None:
    loops = constraint_of(name)
    limits = [loops.robot.joint(joint).limits for joint in loops.robot.actuated]
    axes = np.meshgrid(*(np.linspace(limit.lower, limit.upper, 11) for limit in limits))
    Q = np.stack([axis.ravel() for axis in axes], axis=1)[:20000]
    outcome = solve(loops, Q).or_raise()
    assert outcome.advice == "closed"
    assert outcome.gap.max() < 1e-12
    for k in (0, len(Q) // 3):
        found = closure.close_loops(loops.robot, dict(zip(loops.robot.actuated, Q[k], strict=True)))
        assert outcome.x[k] == pytest.approx(list(found.coordinates.values()), abs=1e-6)
        assert outcome.q[k] == pytest.approx(found.q, abs=1e-6)


def test_branches_are_kept_to_the_edge() -> None:
    """Walker's boom by the cosine rule, far beyond the stated range: which poses exist, and which of two."""
    loops = constraint_of("walker")
    Q = np.random.default_rng(0).uniform([0.2, 0.5, -1.0], [1.16, 2.0, 1.0], (3000, 3))
    pivot10, pivot11, eye = complex(-0.2, 0.15), complex(0.45, -0.25), complex(0.65, -0.08)
    cosine = (abs(pivot11) ** 2 + abs(eye) ** 2 - Q[:, 0] ** 2) / (2 * abs(pivot11) * abs(eye))
    q1 = np.arccos(np.clip(cosine, -1.0, 1.0)) + np.angle(pivot11) - np.angle(eye)
    side = np.abs(pivot10 - 1.2 * np.exp(1j * q1))
    exists = (np.abs(cosine) < 1.0) & (np.abs(side - 0.35) < Q[:, 1]) & (Q[:, 1] < side + 0.35)
    outcome = solve(loops, Q)
    assert 0.2 < exists.mean() < 0.8
    assert not (outcome.closed & ~exists).any()
    assert np.count_nonzero(outcome.closed != exists) <= 3  # within a millimetre of stretched
    assert outcome.x[outcome.closed, 0] == pytest.approx(q1[outcome.closed], abs=1e-6)


def test_warm_starts_keep_their_own_branch() -> None:
    loops = constraint_of("five-bar")
    home = loops.home[list(loops.actuated)]
    Q = home + 0.3 * np.sin(np.linspace(0.0, 6.0, 200))[:, None] * [1.0, -0.5]
    up = solve(loops, Q).or_raise()
    again = solve(loops, Q, start=np.roll(up.x, 1, axis=0)).or_raise()
    assert is_close(again.x, up.x, ROUNDING_TOLERANCE)
    guess = loops.home * [1.0, -1.0, 1.0, -1.0]
    down = solve(loops, Q[:1], start=guess[None]).or_raise()
    assert not is_close(down.x, up.x[:1], 0.1)


def test_around_a_corner() -> None:
    """Straight on from home the elbows of the five-bar would meet; a log that goes around that pose is followed."""
    loops = constraint_of("five-bar")
    home = loops.home[list(loops.actuated)]
    meet = np.array([np.arccos(0.6), np.pi - np.arccos(0.6)])
    target = home + 1.5 * (meet - home)
    path = [home, meet + 0.7, target]
    Q = np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(path)])
    assert not solve(loops, target[None]).closed.any()
    together = solve(loops, Q).or_raise()
    assert np.abs(np.diff(together.x, axis=0)).max() < 0.3


def test_unreachable_poses_are_an_outcome_with_advice() -> None:
    loops = constraint_of("walker")
    Q = np.array([[0.77, 1.22, 0.0], [0.77, 1.7, 0.0], [3.0, 1.22, 0.0]])
    outcome = solve(loops, Q)
    assert outcome.closed.tolist() == [True, False, False]
    assert outcome.determined.tolist() == [True, False, False]
    assert outcome.gap[1] > 0.1
    assert np.isfinite(outcome.x).all()
    assert "2 of 3 samples; the first is sample 1 at q5 = 0.77, q7 = 1.7" in outcome.advice
    assert "loop 'q9' stays 0.1" in outcome.advice
    with pytest.raises(ClosureError, match="keep to poses it can reach"):
        outcome.or_raise()


def test_singular_poses_are_flagged() -> None:
    outcome = solve(constraint_of("palletiser"), np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 1.5, 0.0, 0.0]]))
    assert outcome.closed.all()
    assert outcome.determined.tolist() == [False, True]
    assert outcome.condition[0] > 1e6 > outcome.condition[1]
    assert "singular in 1 of 2 samples" in outcome.advice
    assert "do not determine elbow, rod_pin" in outcome.advice


def test_misuse() -> None:
    with pytest.raises(InputError, match="has 3 actuated coordinates, not 2"):
        solve(constraint_of("walker"), np.zeros((1, 2)))
    robot = ytheta.load("five-bar")
    with pytest.raises(ClosureError, match="leave 2 coordinates free, but 3 are actuated; leave 1 of"):
        build_constraint(replace(robot, actuated=("left", "right", "left_elbow")))
    with pytest.raises(ClosureError, match="choose 2 of"):
        build_constraint(replace(robot, actuated=("left",)))
    assert solve(constraint_of("walker"), np.zeros((0, 3))).x.shape == (0, 7)


def test_elimination_needs_no_pivots() -> None:
    """Random sparse systems with empty diagonals, blocks of all sizes; a wrong order of blocks would show."""
    rng = np.random.default_rng(0)
    sizes = set()
    for n in range(1, 9):
        for density in (0.2, 0.4, 1.0):
            full = rng.normal(size=(n, n)) * (rng.uniform(size=(n, n)) < density) + np.roll(np.eye(n), 1, axis=0)
            matrix, right = exact_array(full.tolist()), rng.normal(size=(n, 2)).astype(object)
            found = eliminate(matrix, right).astype(float)
            bound = 1e-13 * np.linalg.cond(full) ** 2
            assert is_close(full @ found, right.astype(float), bound)
            sizes |= {len(rows) for rows, _ in blocks(matrix)}
    assert sizes >= {1, 2, 3, 4, 5}
    with pytest.raises(ValueError, match="structure is singular"):
        eliminate(exact_array([(1.5, 0.0), (2.5, 0.0)]), exact_array([(1.0,), (1.0,)]))

"""x = U(Q) for many samples: compared with the law of cosines and with the closure of single poses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ytheta
from tests.support.loop_motion import ROUNDING_TOLERANCE, get_constraint, is_close
from tests.support.loop_robots import CATALOG
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.errors import ClosureError, InputError
from ytheta.robot.frame import Frame
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot


@pytest.mark.parametrize("name", CATALOG)
def test_loops_close_over_the_range_of_the_catalog(name: str) -> None:
    loops = get_constraint(name)
    limits = [loops.robot.joint(joint).limits for joint in loops.robot.actuated]
    axes = np.meshgrid(*(np.linspace(limit.lower, limit.upper, 11) for limit in limits))
    Q = np.stack([axis.ravel() for axis in axes], axis=1)[:20000]
    outcome = solve(loops, Q).or_raise()
    assert outcome.advice == "closed"
    assert outcome.gap.max() < 1e-12
    for k in (0, len(Q) // 3):
        single = close_loops(loops.robot, dict(zip(loops.robot.actuated, Q[k], strict=True)))
        assert outcome.x[k] == pytest.approx(list(single.coordinates.values()), abs=1e-6)
        assert outcome.q[k] == pytest.approx(single.q, abs=1e-6)


def test_samples_stay_on_their_branch_up_to_singular_poses() -> None:
    """Walker's robot far beyond its stated range. The law of cosines tells which poses exist, and gives q1."""
    loops = get_constraint("walker")
    Q = np.random.default_rng(0).uniform([0.2, 0.5, -1.0], [1.16, 2.0, 1.0], (3000, 3))
    pivot10, pivot11, eye = complex(-0.2, 0.15), complex(0.45, -0.25), complex(0.65, -0.08)
    cosine = (abs(pivot11) ** 2 + abs(eye) ** 2 - Q[:, 0] ** 2) / (2 * abs(pivot11) * abs(eye))
    q1 = np.arccos(np.clip(cosine, -1.0, 1.0)) + np.angle(pivot11) - np.angle(eye)
    side = np.abs(pivot10 - 1.2 * np.exp(1j * q1))
    exists = (np.abs(cosine) < 1.0) & (np.abs(side - 0.35) < Q[:, 1]) & (Q[:, 1] < side + 0.35)
    outcome = solve(loops, Q)
    assert 0.2 < exists.mean() < 0.8
    assert not (outcome.closed & ~exists).any()
    assert np.count_nonzero(outcome.closed != exists) <= 3  # at poses within a millimetre of a stretched linkage
    assert outcome.x[outcome.closed, 0] == pytest.approx(q1[outcome.closed], abs=1e-6)


def test_a_warm_start_decides_the_branch() -> None:
    loops = get_constraint("five-bar")
    home = loops.home[list(loops.actuated)]
    Q = home + 0.3 * np.sin(np.linspace(0.0, 6.0, 200))[:, None] * [1.0, -0.5]
    up = solve(loops, Q).or_raise()
    again = solve(loops, Q, start=np.roll(up.x, 1, axis=0)).or_raise()
    assert is_close(again.x, up.x, ROUNDING_TOLERANCE)
    guess = loops.home * [1.0, -1.0, 1.0, -1.0]
    down = solve(loops, Q[:1], start=guess[None]).or_raise()
    assert not is_close(down.x, up.x[:1], 0.1)


def test_samples_are_reached_from_their_neighbours() -> None:
    """On the straight line from home to the target the elbows of the five-bar meet. A log may go around that pose."""
    loops = get_constraint("five-bar")
    home = loops.home[list(loops.actuated)]
    meet = np.array([np.arccos(0.6), np.pi - np.arccos(0.6)])
    target = home + 1.5 * (meet - home)
    path = [home, meet + 0.7, target]
    Q = np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(path)])
    assert not solve(loops, target[None]).closed.any()
    together = solve(loops, Q).or_raise()
    assert np.abs(np.diff(together.x, axis=0)).max() < 0.3


def test_unreachable_poses_are_an_outcome_with_advice() -> None:
    loops = get_constraint("walker")
    Q = np.array([[0.77, 1.22, 0.0], [0.77, 1.7, 0.0], [3.0, 1.22, 0.0]])
    outcome = solve(loops, Q)
    assert outcome.closed.tolist() == [True, False, False]
    assert outcome.determined.tolist() == [True, False, False]
    assert outcome.gap[1] > 0.1
    assert np.isfinite(outcome.x).all()
    assert "2 of 3 samples; the first is sample 1 at q5 = 0.77, q7 = 1.7" in outcome.advice
    assert "loop 'q9' stay 0.1" in outcome.advice
    with pytest.raises(ClosureError, match="use poses that the robot can reach"):
        outcome.or_raise()


def test_singular_poses_are_not_determined() -> None:
    outcome = solve(get_constraint("palletiser"), np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 1.5, 0.0, 0.0]]))
    assert outcome.closed.all()
    assert outcome.determined.tolist() == [False, True]
    assert outcome.condition[0] > 1e6 > outcome.condition[1]
    assert "singular in 1 of 2 samples" in outcome.advice
    assert "do not determine elbow, rod_pin" in outcome.advice


def make_parallelogram_with_second_loop() -> Robot:
    """A crank of 0.5 m that moves a parallelogram and another four-bar; with the parallelogram alone, U is linear."""
    z, x, y = (0.0, 0.0, 1.0), Frame.shift(x=1.0), Frame.shift(y=0.5)
    joints = (
        Joint("crank", JointKind.REVOLUTE, "base", "a", axis=z),
        Joint("coupler", JointKind.REVOLUTE, "a", "b", placement=y, axis=z),
        Joint("lever", JointKind.REVOLUTE, "base", "c", placement=x, axis=z),
        Joint("second_coupler", JointKind.REVOLUTE, "a", "d", placement=y, axis=z),
        Joint("second_lever", JointKind.REVOLUTE, "base", "e", placement=Frame.shift(x=-1.0), axis=z),
    )
    loops = (
        Loop(Joint("cut", JointKind.REVOLUTE, "b", "c", placement=x, axis=z, seat=Frame.shift(y=-0.5))),
        Loop(
            Joint(
                "second_cut",
                JointKind.REVOLUTE,
                "d",
                "e",
                placement=Frame.shift(x=-0.9),
                axis=z,
                seat=Frame.shift(y=-0.7),
            )
        ),
    )
    links = tuple(Link(name) for name in ("base", "a", "b", "c", "d", "e"))
    return Robot("linkage", links, joints, loops=loops, actuated=("crank",))


def test_a_parallelogram_does_not_become_an_antiparallelogram(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crank is in line with the base at ±pi/2. Up to there, the coupler of a parallelogram does not turn."""
    loops = build_constraint(make_parallelogram_with_second_loop())
    assert loops.affine is None
    crank, coupler = (loops.robot.coordinates.index(name) for name in ("crank", "coupler"))
    Q = np.linspace(-3.0, 3.0, 301)[:, None]
    outcome = solve(loops, Q)
    assert outcome.determined[np.abs(Q[:, 0]) < 1.5].all()
    turn = outcome.x[:, crank] + outcome.x[:, coupler]
    assert np.abs(turn[outcome.determined]).max() < 1e-9
    monkeypatch.setattr("ytheta.robot.loops.solver.MAX_VELOCITY_CHANGE", np.inf)
    other = solve(loops, Q)  # the twin: the determinant of Jp has the same sign
    assert np.abs(other.x[:, crank] + other.x[:, coupler])[other.determined].max() > 0.1


def test_the_number_of_actuated_coordinates_is_checked() -> None:
    with pytest.raises(InputError, match="has 3 actuated coordinates, not 2"):
        solve(get_constraint("walker"), np.zeros((1, 2)))
    assert solve(get_constraint("walker"), np.zeros((0, 3))).x.shape == (0, 7)


def test_without_loops_x_is_Q() -> None:
    loops = build_constraint(ytheta.load("ur10"))
    Q = np.random.default_rng(0).normal(size=(5, 6))
    outcome = solve(loops, Q).or_raise()
    assert (outcome.x == Q).all()
    assert (outcome.q == Q).all()
    assert loops.robot.loops == ()
    assert JointKind.POINT not in {joint.kind for joint in loops.robot.joints}

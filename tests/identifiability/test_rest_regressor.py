"""The regressor at rest against the formulations, and numbers of base parameters against ranks by Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ytheta
from tests.support.driven_robots import coupled_robot
from tests.support.example_robots import urdf
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from ytheta.identifiability.sampling import PoseSample, RestRegressor
from ytheta.robot.floating import float_base
from ytheta.robot.robot import Robot


def assemble(robot: Robot, x: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Y at rest, from the blocks."""
    Y = np.zeros((len(x), len(robot.actuated), len(robot.parameter_names)))
    for c, block in enumerate(RestRegressor(robot.numeric.merged, PoseSample(x)).iterate_blocks()):
        Y[:, c, block.columns] = block.weight + np.einsum("pkc,pk->pc", block.inertia, qdd[:, block.related])
    return Y


def check(robot: Robot, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    x, qdd = rng.uniform(-1.0, 1.0, (2, 3, len(robot.actuated)))
    expected = ytheta.regressor(robot, backend="interpreter")(x, 0 * x, qdd)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(assemble(robot, x, qdd), expected, rtol=0.0, atol=1e-13 * scale)
    if len(robot.actuated):
        assert np.abs(assemble(robot, x, -qdd) - expected).max() > 1e-6


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["panda", "stanford", "coupled"])
def test_rows_of_robots(name: str, *, floating: bool) -> None:
    robot = coupled_robot() if name == "coupled" else ytheta.load(name)
    check(float_base(robot) if floating else robot)


@given(robots(loops=False, symbols=False), st.booleans(), st.integers(0, 99))
@settings(max_examples=25)
def test_rows_of_random_trees(robot: Robot, floating: bool, seed: int) -> None:  # Hypothesis names it
    robot = replace(robot, name="tree")
    if floating:
        robot = float_base(replace(robot, mounting=ytheta.Frame()))
    if robot.movable or robot.floating:
        rng = np.random.default_rng(seed)
        x, qdd = rng.uniform(-1.0, 1.0, (2, 3, len(robot.actuated)))
        expected = ytheta.regressor(robot, backend="interpreter")(x, 0 * x, qdd)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(assemble(robot, x, qdd), expected, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("double_pendulum_simple.urdf", 10 + 7 * 2),
        ("go2.urdf", 10 + 7 * 12),
        ("talos_reduced.urdf", 10 + 7 * 32),  # Ayusawa, Venture, Nakamura 2014: 10 and 7 for each revolute joint
        ("z1.urdf", 10 + 7 * 7),
    ],
)
def test_base_parameters_of_floating_robots(name: str, count: int) -> None:
    robot = float_base(ytheta.load(urdf(name)))
    lin, qr = (ytheta.base_parameters(robot, method=method) for method in ("lin", "qr"))
    assert len(lin) == len(qr) == count
    assert lin.independent == qr.independent
    np.testing.assert_allclose(lin.K.astype(float), qr.K, rtol=0.0, atol=1e-9)
    rank = measure_rank(robot, poses=8)
    assert rank == count
    assert len(ytheta.base_parameters(ytheta.load(urdf(name)))) < count


def measure_rank(robot: Robot, poses: int) -> int:
    """The rank of Pinocchio's regressor in random states."""
    pinocchio, rng = peer(robot), np.random.default_rng(0)
    size = len(robot.actuated)
    count = poses * (10 + 10 * len(robot.movable)) // size + 1
    rows = [pinocchio.regressor(*rng.uniform(-2.0, 2.0, (3, size))) for _ in range(count)]
    W = np.concatenate(rows)
    W = W / np.maximum(np.linalg.norm(W, axis=0), 1e-12)
    return int(np.linalg.matrix_rank(W, tol=1e-9 * np.linalg.norm(W, 2)))


def test_prismatic_joints_and_rotors_of_a_floating_robot() -> None:
    robot = float_base(ytheta.load("stanford"))
    lin, qr = (ytheta.base_parameters(robot, method=m, rotor_inertia=True) for m in ("lin", "qr"))
    assert len(lin) == len(qr) == 10 + 7 * 5 + 4 + 6  # a prismatic joint has m, mx, my, mz; every joint has a rotor
    assert lin.independent == qr.independent


def test_a_floating_body_without_joints_has_ten_parameters() -> None:
    body = ytheta.load(urdf("iris_simple.urdf"))
    assert not body.movable
    assert len(ytheta.base_parameters(float_base(body))) == 10

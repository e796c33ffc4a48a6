"""Regressors at rest, friction and declared forces of robots with loops, as arrays, against the traced graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.forced_robots import with_forces
from tests.support.loop_motion import OFFSETS, ROUNDING_TOLERANCE, draw_motion, evaluate, get_constraint, is_close
from tests.support.loop_robots import NAMES, make_looped_robot
from ytheta.dynamics.graphs import regressor_graph
from ytheta.dynamics.loop_solver import compute_tangents, solve
from ytheta.files.expressions import format_position
from ytheta.identifiability.sampling import PoseSample, RestRegressor, SampledDrives
from ytheta.robot.parts import Drive, Force
from ytheta.robot.robot import Robot


def add_laws(robot: Robot) -> Robot:
    """The robot with root friction and smooth Coulomb friction, and with a force on every drive."""

    def change(_: str, drive: Drive) -> Drive:
        return replace(drive, root=0.2, coulomb_speed=0.3)

    names = robot.moving
    last = format_position(names[-1])
    torque = tuple((name, f"{k + 1}*sin({format_position(name)}) + {last}") for k, name in enumerate(names))
    return with_forces(robot.with_drives(change), Force("spring", torque), Force("constant", torque[:1]))


def sample(name: str) -> tuple[PoseSample, np.ndarray, np.ndarray]:
    """One closed pose, with its velocity and acceleration."""
    Q, Qd, Qdd = draw_motion(name)
    x = solve(get_constraint(name), Q[None]).or_raise().x
    return PoseSample(x, compute_tangents(get_constraint(name), x)), Qd, Qdd


@pytest.mark.parametrize("name", NAMES)
def test_rows_at_rest_equal_those_of_the_graph(name: str) -> None:
    """The rows of links, rotors, offsets and forces; those for the opposite acceleration differ."""
    robot = add_laws(make_looped_robot(name))
    poses, Qd, Qdd = sample(name)
    expected = evaluate(regressor_graph(robot), poses.x[0], 0.0 * Qd, Qdd)

    def assemble(acceleration: np.ndarray) -> np.ndarray:
        Y = np.zeros_like(expected)
        for c, block in enumerate(RestRegressor(robot.numeric.merged, poses).iterate_blocks()):
            Y[c, block.columns] = block.weight[0] + acceleration[list(block.related)] @ block.inertia[0]
        return Y

    assert is_close(assemble(Qdd), expected, ROUNDING_TOLERANCE)
    assert not is_close(assemble(-Qdd), expected, 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_friction_is_the_odd_part_of_the_regressor(name: str) -> None:
    """Half the difference of Y at opposite velocities has only the columns fv, fc and fs; half the sum has others."""
    robot = add_laws(make_looped_robot(name))
    poses, Qd, _ = sample(name)
    forward, backward = (evaluate(regressor_graph(robot), poses.x[0], rate, 0.0 * Qd) for rate in (Qd, -Qd))
    drives = SampledDrives(robot.numeric.merged, poses)
    friction = np.zeros_like(forward)
    for c in range(len(Qd)):
        columns, rows = drives.compute_friction_rows(c, Qd[None])
        assert {robot.parameter_names[k].rpartition(".")[2] for k in columns} == {"fv", "fc", "fs"}
        friction[c, columns] = rows[0]
    assert is_close(friction, 0.5 * (forward - backward), ROUNDING_TOLERANCE)
    assert not is_close(friction, 0.5 * (forward + backward), 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_tangents_are_derivatives_of_closed_poses(name: str) -> None:
    loops, h = get_constraint(name), 1e-5
    center = loops.home[list(loops.actuated)] + np.mean(OFFSETS[name], axis=0)
    steps = h * np.eye(len(center))
    after, before = (solve(loops, center + sign * steps).or_raise().x for sign in (1.0, -1.0))
    E = compute_tangents(loops, solve(loops, center[None]).or_raise().x)[0]
    np.testing.assert_allclose(E, (after - before).T / (2.0 * h), rtol=0.0, atol=1e-7 * (1.0 + np.abs(E).max()))

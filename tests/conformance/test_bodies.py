"""Every robot of the catalog gets bodies near a random estimate, which MuJoCo accepts if it accepts the robot."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import ytheta
from tests.support.body_problems import add_bounds, draw_problem
from ytheta.errors import InputError
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parameters import with_theta
from ytheta.robot.reading.catalog import list_names
from ytheta.robot.robot import Robot


def loads_in_mujoco(robot: Robot) -> bool:
    try:
        mujoco.MjModel.from_xml_string(to_mjcf(robot.merged, drives=True))
    except (ValueError, InputError):
        return False
    return True


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", list_names())
def test_nearest_bodies(name: str, bounded: bool) -> None:
    problem = draw_problem(ytheta.load(name), 5)
    problem = add_bounds(problem) if bounded else problem
    assert not loads_in_mujoco(with_theta(problem.robot, problem.target))
    bodies = problem.solve()
    robot = with_theta(problem.robot, bodies.theta)
    assert bodies.converged
    assert bodies.repaired == ()
    assert bodies.violation < 1e-12
    assert {robot.consistency[link].reason for link in problem.reference.pseudo} == {"physically consistent"}
    assert loads_in_mujoco(robot)
    assert 0.0 < bodies.distance <= problem.compute_distance(problem.reference.theta)
    np.testing.assert_allclose(bodies.distance, problem.compute_distance(bodies.theta), rtol=1e-6)

"""Coulomb friction in the equations: the velocities of the drives, and the entries of Y that they multiply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.driven_robots import driven_robot
from tests.support.known_arm import known_arm
from tests.support.motor_robots import COUPLED, PUMA
from ytheta.dynamics import graph_inputs
from ytheta.dynamics.kernels import regressor
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.identify import identify
from ytheta.logs.log import Log
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

ROBOTS = [driven_robot("ur10"), load("stanford"), PUMA, COUPLED]


@pytest.mark.parametrize("robot", ROBOTS, ids=["ur10", "stanford", "motor on two joints", "couplings"])
def test_velocity_ratios_are_the_columns_of_the_offsets(robot: Robot) -> None:
    """An offset is a constant torque of its drive, so that its column of Y contains the velocity ratios."""
    directions = make_drive_directions(robot)
    assert directions is not None
    names = [f"{name}.fo" for name in robot.moving]
    zeros = np.zeros((1, len(robot.actuated)))
    columns = regressor(robot, parameters=names)(zeros, zeros, zeros)[0]
    np.testing.assert_array_equal(directions.rates, columns.T)
    assert directions.rates.shape == (len(robot.moving), len(robot.actuated))


def test_a_robot_with_loops_has_no_constant_ratios() -> None:
    assert make_drive_directions(load("five-bar")) is None


@pytest.mark.parametrize("friction", [("viscous", "coulomb", "offset"), ("viscous", "coulomb", "root", "load")])
def test_logs_of_other_speeds_share_graphs(monkeypatch: pytest.MonkeyPatch, friction: tuple[str, ...]) -> None:
    """The speed of smooth friction comes from the log, but no kernel of the fit contains it."""
    arm = known_arm()
    robot = arm.robot.with_drives(lambda _, drive: replace(drive, coulomb_speed=0.0))
    log = arm.log()
    slow = Log(log.joints, 1.5 * log.t, log.q, log.tau)
    robot = replace(robot, name=f"{robot.name} with {' '.join(friction)}")  # its graphs are not known yet
    first = identify(robot, log, estimator="weighted", friction=friction)
    monkeypatch.setattr(graph_inputs, "trace", None)  # a second trace raises a TypeError
    second = identify(robot, slow, estimator="weighted", friction=friction)
    speeds = [[drive.coulomb_speed for _, drive in fit.base.robot.drives] for fit in (first, second)]
    np.testing.assert_allclose(speeds[0], 1.5 * np.array(speeds[1]), rtol=0.1)
    with pytest.raises(TypeError):
        identify(replace(robot, name="other"), log, estimator="weighted", friction=friction)

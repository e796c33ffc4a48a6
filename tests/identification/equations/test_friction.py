"""Coulomb friction in the equations: the velocities of the drives, and the entries of Y that they multiply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.driven_robots import driven_robot
from tests.support.known_arm import known_arm
from tests.support.motor_robots import COUPLED, PUMA
from ytheta.dynamics import graphs
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.kernels import regressor
from ytheta.dynamics.loop_solver import solve
from ytheta.identification.equations.friction import find_smooth_speeds, make_drive_directions
from ytheta.identification.identify import identify
from ytheta.logs.log import Log
from ytheta.logs.preparing.drives import DriveDirections, PoseDirections
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

ROBOTS = [driven_robot("ur10"), load("stanford"), PUMA, COUPLED]


@pytest.mark.parametrize("robot", ROBOTS, ids=["ur10", "stanford", "motor on two joints", "couplings"])
def test_velocity_ratios_are_the_columns_of_the_offsets(robot: Robot) -> None:
    """An offset is a constant torque of its drive, so that its column of Y contains the velocity ratios."""
    directions = make_drive_directions(robot)
    assert isinstance(directions, DriveDirections)
    names = [f"{name}.fo" for name in robot.moving]
    zeros = np.zeros((1, len(robot.actuated)))
    columns = regressor(robot, parameters=names)(zeros, zeros, zeros)[0]
    np.testing.assert_array_equal(directions.rates, columns.T)
    assert directions.rates.shape == (len(robot.moving), len(robot.actuated))


@pytest.mark.parametrize("name", ["five-bar", "walker"])
def test_pose_ratios_are_velocities_of_drives(name: str) -> None:
    """Compared with differences of closed positions; the twin takes the ratios of another pose."""
    robot = load(name)
    directions = make_drive_directions(robot)
    assert isinstance(directions, PoseDirections)
    q = yt.default_reference(robot, 2.0)(np.array([0.3, 0.9, 1.4]))[0]
    ratios = np.zeros((len(q), len(robot.moving), len(robot.actuated)))
    ratios[:, directions.pairs[:, 0], directions.pairs[:, 1]] = directions.compute_rates(q).T
    loops = build_constraint(robot)
    coordinates = [robot.moving.index(joint) for joint in robot.coordinates]
    step, changes = 1e-6, 0.0
    for joint in range(len(robot.actuated)):
        change = np.zeros(len(robot.actuated))
        change[joint] = step
        ends = [solve(loops, q + sign * change).or_raise().x for sign in (1.0, -1.0)]
        differences = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(ratios[:, coordinates, joint], differences, atol=1e-7)  # of central differences
        changes = max(changes, abs(ratios[:, coordinates, joint] - differences[::-1]).max())
    assert changes > 1e-2


def test_the_highest_speeds_of_drives_in_loops_are_those_of_their_motion() -> None:
    robot = load("five-bar")
    q, qd, _ = yt.default_reference(robot, 4.0)(np.arange(4000) / 1000.0)
    log = Log(robot.actuated, np.arange(4000) / 1000.0, q, np.zeros_like(q))
    speeds = find_smooth_speeds(robot, [log])
    for k, joint in enumerate(robot.actuated):
        assert speeds[joint] == pytest.approx(1e-3 * abs(qd[:, k]).max(), rel=0.02)  # averaged over 50 ms
    assert set(speeds) == set(robot.moving)


@pytest.mark.parametrize("friction", [("viscous", "coulomb", "offset"), ("viscous", "coulomb", "root", "load")])
def test_logs_of_other_speeds_share_graphs(monkeypatch: pytest.MonkeyPatch, friction: tuple[str, ...]) -> None:
    """The speed of smooth friction comes from the log, but no kernel of the fit contains it."""
    arm = known_arm()
    robot = arm.robot.with_drives(lambda _, drive: replace(drive, coulomb_speed=0.0))
    log = arm.log()
    motion = replace(arm.motion, qd=arm.motion.qd / 1.5, qdd=arm.motion.qdd / 1.5**2)
    slow = Log(log.joints, 1.5 * log.t, log.q, arm.form.torque(motion, arm.beta).T)
    robot = replace(robot, name=f"{robot.name} with {' '.join(friction)}")  # its graphs are not known yet
    first = identify(robot, log, estimator="weighted", friction=friction)
    monkeypatch.setattr(graphs, "trace", None)  # a second trace raises a TypeError
    second = identify(robot, slow, estimator="weighted", friction=friction)
    speeds = [[drive.coulomb_speed for _, drive in fit.base.robot.drives] for fit in (first, second)]
    np.testing.assert_allclose(speeds[0], 1.5 * np.array(speeds[1]), rtol=0.1)
    with pytest.raises(TypeError):
        identify(replace(robot, name="other"), log, estimator="weighted", friction=friction)

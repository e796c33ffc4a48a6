"""Checks of all logs before a fit."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.known_arm import known_arm
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.identification.identify import identify
from ytheta.identification.log_checks import find_one_way_drives
from ytheta.logs.log import Log


def test_a_validation_log_that_repeats_the_motion_of_the_fit_is_found() -> None:
    arm = known_arm()
    fit = identify(arm.robot, arm.log(), validate=arm.log())
    assert any(finding.severity is Severity.WARNING and finding.code == "repeats" for finding in fit.findings)
    other = Log(arm.robot.actuated, arm.motion.t, arm.motion.q[::-1] * 0.7, arm.tau)
    assert not any(finding.code == "repeats" for finding in identify(arm.robot, arm.log(), validate=other).findings)


def test_bad_logs_are_refused() -> None:
    arm = known_arm()
    motion, robot, log = arm.motion, arm.robot, arm.log()
    for logs, message in (
        (arm.log(0.0 * arm.tau), "all torques are zero"),
        (arm.log(np.where(motion.t[:, None] > 19.0, np.nan, motion.q)), "row 3801 is not a finite number"),
        ([log, log], "given twice"),
        (Log(robot.actuated, motion.t, motion.q), "no torques"),
        ([], "no log"),
    ):
        with pytest.raises(InputError, match=message):
            identify(robot, logs)
    with pytest.raises(InputError, match="has the joints"):
        identify(ytheta.load("ur10"), log)


def make_one_way_log(*, backward: float) -> Log:
    """A log of the known arm whose second joint moves forward all the time, and at last backward by a share."""
    arm = known_arm()
    t = np.arange(4000) / 400.0
    speed = np.where(t < 9.0, 0.3 * np.sin(np.pi * t / 9.0) ** 2, -backward * 2.7 * np.sin(np.pi * (t - 9.0)) ** 2)
    q = np.stack([np.sin(1.3 * t) + 0.3 * np.sin(4.1 * t), np.cumsum(speed) / 400.0], axis=1)
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    return Log(arm.robot.actuated, t, q, arm.form.kernel(q, qd, qdd) @ arm.beta)


@pytest.mark.parametrize(("backward", "one_way"), [(0.0, True), (0.2, False)])
def test_offsets_of_drives_that_move_in_one_direction_are_left_out(backward: float, one_way: bool) -> None:
    """The twin moves back by a fifth of the way."""
    robot, log = known_arm().robot, make_one_way_log(backward=backward)
    names = tuple(robot.actuated[1:] if one_way else ())
    assert find_one_way_drives(robot, [log]) == names
    fit = identify(robot, log)
    assert ([name for name in robot.actuated if f"{name}.fo" not in fit.base.selected]) == list(names)
    notes = [finding for finding in fit.findings if "in one direction only" in finding.statement]
    assert [finding.names for finding in notes] == ([names] if names else [])
    chosen = identify(robot, log, friction=("viscous", "coulomb", "offset"))  # what the user chooses is kept
    assert all(f"{name}.fo" in chosen.base.selected for name in robot.actuated)


def test_a_held_joint_does_not_move_in_one_direction() -> None:
    arm = known_arm()
    assert find_one_way_drives(arm.robot, [arm.held_log(1e-5)]) == ()

"""Angles that wrap are made continuous; other jumps are not taken for wraps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.log_defects import CLEAN, ROBOT
from tests.support.log_files import codes_above_notes, get_finding, make_log
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.checking.units import unwrap_positions

TURN = 2.0 * np.pi
PANDA = ytheta.load("panda")


@pytest.mark.parametrize("lowest", [-np.pi, 0.0])
@pytest.mark.parametrize("has_velocity", [True, False])
def test_wrapped_angles_are_made_continuous(lowest: float, has_velocity: bool) -> None:
    q = CLEAN.q + np.linspace(-np.pi, np.pi, 6)
    wrapped = replace(CLEAN, q=(q - lowest) % TURN + lowest, qd=CLEAN.qd if has_velocity else None)
    assert np.max(np.abs(np.diff(wrapped.q, axis=0))) > 6.0
    log = check_log(wrapped, ROBOT)
    assert codes_above_notes(log) == {"wrapped"}
    assert get_finding(log, "wrapped").severity is Severity.REPAIRED
    np.testing.assert_allclose((log.q - q + np.pi) % TURN - np.pi, 0.0, atol=1e-9)  # the same angles
    assert np.max(np.abs(np.diff(log.q, axis=0))) < 0.1


def test_positions_are_moved_into_the_limits() -> None:
    clean = make_log(PANDA)
    middle = np.array([0.5 * (limits.lower + limits.upper) for limits in PANDA.actuated_limits])
    q = 0.5 * clean.q + middle
    log = check_log(replace(clean, q=q % TURN, qd=None), PANDA)
    has_wrapped = np.any(np.abs(np.diff(q % TURN, axis=0)) > 6.0, axis=0)
    assert has_wrapped.any()
    np.testing.assert_allclose(log.q[:, has_wrapped], q[:, has_wrapped], atol=1e-9)


def test_a_wrap_between_segments_and_a_single_wrapped_row() -> None:
    q = CLEAN.q.copy()
    q[1500:, 2] += TURN
    q[200, 3] -= TURN
    log = unwrap_positions(replace(CLEAN, q=q, segments=((0, 1500), (1500, 3000))), ROBOT)
    np.testing.assert_allclose(log.q, CLEAN.q, atol=1e-9)
    assert get_finding(log, "wrapped").fields["wraps"] == {ROBOT.actuated[2]: 1, ROBOT.actuated[3]: 2}


@pytest.mark.parametrize("jump", [TURN + 0.4, TURN - 0.4, 2.0 * TURN, np.pi, 5.0])
def test_twin_other_jumps_are_no_wraps(jump: float) -> None:
    q = CLEAN.q.copy()
    q[1500:, 2] += jump
    log = replace(CLEAN, q=q)
    assert unwrap_positions(log, ROBOT) is log


def test_many_turns_and_sliding_joints_are_left_as_they_are() -> None:
    turning = replace(CLEAN, q=CLEAN.q + np.linspace(0.0, 40.0, len(CLEAN))[:, None])
    assert unwrap_positions(turning, ROBOT) is turning
    robot = ytheta.load("stanford")
    sliding = make_log(robot)
    q = sliding.q.copy()
    q[1500:, 2] += TURN
    assert robot.actuated[2] in robot.prismatic_joints
    log = replace(sliding, q=q)
    assert unwrap_positions(log, robot) is log

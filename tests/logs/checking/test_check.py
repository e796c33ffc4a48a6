"""Clean logs pass, a second check finds nothing new, and ``strict`` refuses anything more serious than a note."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.log_defects import (
    CLEAN,
    ROBOT,
    assert_refused,
    delay,
    hold_rows,
    modify,
    put,
    scale,
)
from tests.support.log_files import codes_above_notes, make_log
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log


def test_a_clean_log_is_clean_and_not_copied() -> None:
    log = check_log(CLEAN, ROBOT, strict=True)
    assert [(finding.code, finding.severity) for finding in log.findings] == [("sampling", Severity.NOTE)]
    assert log.q is CLEAN.q
    assert log.segments == ((0, len(CLEAN)),)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rate", [50.0, 1000.0])
def test_other_clean_logs_are_clean(rate: float, seed: int) -> None:
    log = make_log(ROBOT, rate=rate, seed=seed, rows=int(20 * rate))
    assert codes_above_notes(check_log(log, ROBOT)) == set()
    assert log.tau is not None
    rounded = replace(log, q=np.round(log.q, 4), tau=np.round(log.tau, 2), qd=None)
    assert codes_above_notes(check_log(rounded, ROBOT)) == set()


def test_rest_and_friction_without_noise_are_clean() -> None:
    """A noise-free simulation stops and goes, holds its torque exactly, and its friction changes sign in one step."""
    t = np.arange(6000) / 500.0
    phase = np.clip(np.mod(t, 3.0), 0.0, 2.0) / 2.0
    s = (10 * phase**3 - 15 * phase**4 + 6 * phase**5) * np.where(np.mod(t, 6.0) < 3.0, 1, -1)
    s += np.where(np.mod(t, 6.0) < 3.0, 0.0, 1.0)
    sizes = np.linspace(0.5, 1.5, 6)
    q = s[:, None] * sizes
    qd = np.gradient(q, t, axis=0)
    tau = 20.0 * np.cos(q) + 5.0 * np.sign(np.round(qd, 9))
    assert codes_above_notes(check_log(Log(ROBOT.actuated, t, q, tau, qd), ROBOT)) == set()


def test_a_second_check_adds_no_findings() -> None:
    log = hold_rows(modify(tau=put((500, 1), 400.0)), [100, 101, 700])
    once = check_log(log, ROBOT)
    assert codes_above_notes(once) == {"held", "spike"}
    assert check_log(once, ROBOT).findings == once.findings


def test_strict_lists_all_findings_at_once() -> None:
    log = hold_rows(modify(t=delay(1000, 0.05), qd=scale(2, 1.18)), [200, 201])
    assert_refused(log, "1 gap", "2 rows", "elbow_joint 1.180", "made", strict=True)


def test_a_log_of_other_joints_is_refused() -> None:
    assert_refused(make_log(ytheta.load("lu-two-link")), "joint1, joint2", "shoulder_pan_joint")


def test_a_log_without_rows_is_refused() -> None:
    assert_refused(CLEAN.select_rows(0, 0), "no rows")

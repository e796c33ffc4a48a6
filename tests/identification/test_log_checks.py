"""Checks of all logs before a fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.arm_logs import identified_arm
from tests.support.known_arm import known_arm
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.identify import identify
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


def test_logs_of_the_prior_count_twice(tmp_path: Path) -> None:
    """The whole log, and a part of it; the twin is a new log."""
    fit, _ = identified_arm(tmp_path)
    part = identify(ytheta.load("lu-two-link"), tmp_path / "a.npz", hold_out=40.0)
    for name, model in (("whole.toml", fit), ("part.toml", part)):
        path = model.save(tmp_path / name)
        known, new = (
            [
                finding
                for finding in identify(ytheta.load("lu-two-link"), tmp_path / log, prior=path).findings
                if finding.code == FitFindingCode.PRIOR
            ]
            for log in ("a.npz", "b.npz")
        )
        assert [(finding.severity, finding.source) for finding in known] == [
            (Severity.WARNING, str(tmp_path / "a.npz")),
        ]
        assert "count twice" in known[0].statement
        assert new == []

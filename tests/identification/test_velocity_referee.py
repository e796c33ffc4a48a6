"""The torques choose between two smooth signals, of which only one is the velocity of the arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.identify import identify
from ytheta.logs.log import Log, LogFindingCode


def make_log(*, wobbling: str, size: float = 2e-4) -> Log:
    """A log in which either positions or recorded velocities wobble at 4 Hz, although the arm does not."""
    arm = known_arm()
    motion = arm.motion
    omega = 2.0 * np.pi * 4.0
    wobble = size * np.sin(omega * motion.t)[:, np.newaxis] * np.sin(0.9 * motion.t)[:, np.newaxis]
    rng = np.random.default_rng(2)
    q, qd = motion.q.copy(), motion.qd.copy()
    if wobbling == "position":
        q += wobble
    elif wobbling == "velocity":
        qd += omega * wobble
    tau = arm.tau + 0.002 * rng.normal(size=arm.tau.shape)
    return replace(arm.log(tau), q=q, qd=qd)


@pytest.mark.parametrize(("wobbling", "recorded"), [("position", True), ("velocity", False)])
def test_the_torques_choose(wobbling: str, recorded: bool) -> None:
    log = make_log(wobbling=wobbling, size=2e-3)
    fit = identify(known_arm().robot, log, estimator="weighted", cutoff=10.0)
    assert fit.origin.settings[0].velocity == (recorded, recorded)
    errors = {
        source: identify(known_arm().robot, log, estimator="weighted", cutoff=10.0, velocity=source).fit
        for source in ("recorded", "position")
    }
    best = min(errors, key=lambda source: errors[source].relative_percent)
    assert best == ("recorded" if recorded else "position")


def test_the_reason_is_said_in_words() -> None:
    decided = []
    for wobbling in ("position", "velocity"):
        fit = identify(known_arm().robot, make_log(wobbling=wobbling, size=2e-3), estimator="weighted", cutoff=10.0)
        texts = [finding.text for finding in fit.findings if finding.code == LogFindingCode.VELOCITY]
        assert len(texts) == 1
        decided.append("torque residuals are" in texts[0])
    assert any(decided)  # at least one of the two contradicts the spectra, which cannot tell


def test_validation_logs_follow_the_fit() -> None:
    log = make_log(wobbling="position", size=2e-3)
    other = replace(log, q=log.q[::-1].copy(), qd=-np.asarray(log.qd)[::-1], tau=np.asarray(log.tau)[::-1].copy())
    fit = identify(known_arm().robot, log, validate=other, estimator="weighted", cutoff=10.0)
    assert fit.origin.settings[0].velocity == (True, True)


def test_validation_logs_say_which_log_they_follow() -> None:
    log = replace(make_log(wobbling="position", size=2e-3), source="fit.csv")
    fit = identify(known_arm().robot, log, validate=replace(log, source="other.csv"), estimator="weighted", cutoff=10.0)
    texts = {finding.source: finding.text for finding in fit.findings if finding.code == LogFindingCode.VELOCITY}
    assert "torque residuals are" in texts["fit.csv"]
    assert "as in fit.csv, where the torques decided" in texts["other.csv"]
    assert "as in" not in texts["fit.csv"]

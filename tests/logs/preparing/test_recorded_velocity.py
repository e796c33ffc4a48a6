"""Recorded velocity is used for the joints for which it agrees with the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.sine_logs import ANGULAR_FREQUENCIES, make_sine_log
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.preparing.preparation import choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.preparing.settings import PreparationSettings


def test_each_velocity_is_trusted_or_not() -> None:
    log = make_sine_log(noise=1e-5)
    assert log.qd is not None
    wrong = log.qd * np.array([1.0, 1.07, 1.0])
    wrong[:, 2] = np.roll(wrong[:, 2], 25)  # late by 50 ms
    prepared = prepare_log(replace(log, qd=wrong))
    assert prepared.settings.velocity == (True, False, False)
    (repaired,) = (finding for finding in prepared.findings if finding.severity is Severity.REPAIRED)
    assert repaired.names == ("b", "c")
    assert "for these joints velocity is computed from position" in repaired.text
    np.testing.assert_allclose(
        prepared.motion.qd,
        ANGULAR_FREQUENCIES * np.cos(np.outer(prepared.motion.t, ANGULAR_FREQUENCIES)),
        rtol=0.0,
        atol=1e-2,
    )
    assert prepare_log(replace(log, qd=None)).settings.velocity == (False, False, False)


def test_recorded_velocity_gives_better_accelerations_if_positions_are_coarse() -> None:
    log = make_sine_log(noise=1e-5)
    log = replace(log, q=np.round(log.q, 2))
    errors = {}
    for source in ("recorded", "position"):
        motion = prepare_log(log, PreparationSettings(cutoff=10.0, velocity=source)).motion
        errors[source] = np.std(motion.qdd + ANGULAR_FREQUENCIES**2 * np.sin(np.outer(motion.t, ANGULAR_FREQUENCIES)))
    assert errors["recorded"] < 0.1 * errors["position"]


def test_missing_recorded_velocity_is_refused() -> None:
    with pytest.raises(InputError, match="velocity was not recorded"):
        choose_preparation(replace(make_sine_log(), qd=None), PreparationSettings(velocity="recorded"))

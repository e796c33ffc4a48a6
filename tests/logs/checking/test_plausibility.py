"""Few rows, joints at rest, and torques that are constant or saturated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.log_defects import (
    CLEAN,
    ROBOT,
    Defect,
    assert_only_defect,
    assert_refused,
    modify,
    put,
    scale,
)
from tests.support.log_files import codes_above_notes, get_finding
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log


def clip_torque(tau: np.ndarray) -> None:
    np.clip(tau[:, 1], -9.0, 9.0, out=tau[:, 1])


DEFECTS = {
    "saturation": Defect(modify(tau=clip_torque), "saturation", Severity.WARNING),
    "a joint at rest": Defect(modify(q=scale(4, 0.005), qd=scale(4, 0.005)), "still", Severity.WARNING),
    "one torque missing": Defect(modify(tau=scale(5, 0.0)), "torque", Severity.WARNING),
    "few rows": Defect(CLEAN.select_rows(0, 95), "short", Severity.WARNING),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])


ERRORS: dict[str, tuple[Log, tuple[str, ...]]] = {
    "no torque": (modify(tau=put(..., 0.0)), ("all torques are zero",)),
    "eight rows": (CLEAN.select_rows(0, 8), ("only 8",)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_logs_that_would_give_wrong_results_are_refused(name: str) -> None:
    log, words = ERRORS[name]
    assert_refused(log, *words)


def test_torques_that_were_lost_are_reported(rng: np.random.Generator) -> None:
    """Random rows of a random joint; twin: a torque that passes zero has zeros, too, if it is rounded."""
    joint = int(rng.integers(len(CLEAN.joints)))
    assert CLEAN.tau is not None
    tau = CLEAN.tau + 20.0
    tau[rng.choice(len(tau), round(rng.uniform(0.01, 0.1) * len(tau)), replace=False), joint] = 0.0
    finding = get_finding(check_log(replace(CLEAN, tau=tau), ROBOT), "torque")
    assert finding.names == (CLEAN.joints[joint],)
    rounded = replace(CLEAN, tau=np.round(CLEAN.tau, 0))
    assert np.count_nonzero(rounded.tau == 0.0) > 100
    assert "torque" not in codes_above_notes(check_log(rounded, ROBOT))

"""Gaps, jitter, and timestamps that run backwards or repeat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.log_defects import (
    CLEAN,
    Defect,
    assert_only_defect,
    assert_refused,
    delay,
    modify,
    put,
)
from tests.support.log_files import get_finding, load_shared_robot
from ytheta.findings import Severity
from ytheta.logs.log import Log
from ytheta.logs.reading.read import read_log


def make_jump_at_gap() -> Log:
    """A log whose positions jump at a gap, which is not a spike."""
    rows = np.r_[0:1500, 1700:3000]
    assert CLEAN.tau is not None
    return Log(CLEAN.joints, CLEAN.t[rows], CLEAN.q[rows], CLEAN.tau[rows], source="made")


def add_jitter(t: np.ndarray) -> None:
    t += np.random.default_rng(1).uniform(-0.0045, 0.0045, len(t))


DEFECTS = {
    "a gap": Defect(modify(t=delay(1000, 0.05)), "gap", Severity.REPAIRED, segments=2),
    "two gaps": Defect(
        modify(t=lambda t: (delay(700, 0.4)(t), delay(1000, 0.05)(t))), "gap", Severity.REPAIRED, segments=3
    ),
    "a jump at a gap": Defect(make_jump_at_gap(), "gap", Severity.REPAIRED, segments=2),
    "a timestamp too early": Defect(modify(t=put(500, 4.5)), "time", Severity.REPAIRED, dropped=1),
    "a timestamp too late": Defect(modify(t=put(500, 5.5)), "time", Severity.REPAIRED, dropped=1),
    "a timestamp twice": Defect(modify(t=put(500, CLEAN.t[499])), "time", Severity.REPAIRED, dropped=1),
    "jitter": Defect(modify(t=add_jitter), "sampling", Severity.WARNING),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])


ERRORS: dict[str, tuple[Log, tuple[str, ...]]] = {
    "two recordings": (modify(t=delay(1500, -15.0)), ("time goes backwards once (", "row 1500", "split")),
    "coarse timestamps": (modify(t=put(..., np.round(CLEAN.t, 1))), ("time stands still 2699 times (", "rate")),
}


@pytest.mark.parametrize("name", ERRORS)
def test_logs_that_would_give_wrong_results_are_refused(name: str) -> None:
    log, words = ERRORS[name]
    assert_refused(log, *words)


def test_the_panda_log_has_four_gaps(shared_data: Path) -> None:
    log = read_log(shared_data / "panda/panda_gaz2019.parquet", load_shared_robot(shared_data, "panda"))
    text = get_finding(log, "gap").text
    assert "4 gaps" in text
    for step in ("8.54 ms", "8.81 ms", "8.4 ms", "8.5 ms"):
        assert step in text

"""Rows with missing values are dropped, and garbage with the rows next to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.log_defects import (
    ROBOT,
    Defect,
    assert_only_defect,
    assert_refused,
    modify,
    put,
)
from tests.support.log_files import codes_above_notes, make_log
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log

DEFECTS = {
    "NaN": Defect(modify(q=put((slice(300, 305), 2), np.nan)), "missing", Severity.REPAIRED, dropped=5, segments=2),
    "NaN at the end": Defect(modify(tau=put((slice(2990, 3000), 2), np.nan)), "missing", Severity.REPAIRED, dropped=10),
    "infinity": Defect(modify(tau=put((40, 0), np.inf)), "missing", Severity.REPAIRED, dropped=1),
    "one row in fifty": Defect(
        modify(q=put((slice(None, None, 50), 1), np.nan)), "missing", Severity.REPAIRED, dropped=60
    ),
    "three rows": Defect(modify(tau=put((slice(40, 43), 0), np.nan)), "missing", Severity.REPAIRED, dropped=3),
    "four rows": Defect(
        modify(tau=put((slice(40, 44), 0), np.nan)), "missing", Severity.REPAIRED, dropped=4, segments=2
    ),
    "a single garbage row": Defect(modify(tau=put((900, 3), -1e9)), "garbage", Severity.REPAIRED, dropped=1),
    "garbage near the beginning": Defect(modify(q=put((7, 0), 1e300)), "garbage", Severity.REPAIRED, dropped=8),
    "garbage inside": Defect(
        modify(tau=put(([900, 905], 3), -1e9)), "garbage", Severity.REPAIRED, dropped=6, segments=2
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])


def test_garbage_beside_infinities() -> None:
    """Differences of infinite positions have no quantile, and times that are all infinite no median."""
    log = modify(q=put(([40, 900], 0), (np.inf, 1e300)))
    assert codes_above_notes(check_log(log, ROBOT)) == {"missing", "garbage"}
    with pytest.raises(InputError):
        check_log(modify(t=put(slice(None), np.inf), q=put((40, 0), 1e300)), ROBOT)


ERRORS: dict[str, tuple[Log, tuple[str, ...]]] = {
    "an empty column": (modify(qd=put((slice(None), 2), np.nan)), ("qd of elbow_joint", "contains no finite value")),
    "mostly missing": (modify(q=put((slice(0, 1600), 1), np.nan)), ("1600 of 3000", "record the log again")),
}


@pytest.mark.parametrize("name", ERRORS)
def test_logs_that_would_give_wrong_results_are_refused(name: str) -> None:
    log, words = ERRORS[name]
    assert_refused(log, *words)


def test_rows_of_other_signals_may_be_many() -> None:
    """Tools that write several topics into one table leave the columns of the others empty."""
    clean = make_log(ROBOT, rows=600)
    assert clean.qd is not None
    assert clean.tau is not None
    spread: dict[str, Any] = {name: np.full((1800, len(ROBOT.actuated)), np.nan) for name in ("q", "qd", "tau")}
    for name, values in (("q", clean.q), ("qd", clean.qd), ("tau", clean.tau)):
        spread[name][::3] = values
    log = Log(ROBOT.actuated, np.repeat(clean.t, 3) + np.tile([0.0, 0.002, 0.005], 600), **spread, source="made")
    checked = check_log(log, ROBOT)
    np.testing.assert_array_equal(checked.q, clean.q)
    assert len(checked.segments) == 1
    finding = next(each for each in checked.findings if each.code == "missing")
    assert finding.severity is Severity.REPAIRED
    assert "1200 of 1800 rows contain no value of a joint" in finding.text
    # The twin: rows with some of the values are too many to drop.
    spread["q"][1::3] = clean.q
    with pytest.raises(InputError, match=r"1200 of 1200 rows.*interpolate the signals"):
        check_log(Log(ROBOT.actuated, log.t, **(spread | {"tau": np.roll(spread["tau"], 1, axis=0)}), source=""), ROBOT)

"""A clean log, ways to put defects into it, and the assertions about checking it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import ytheta
from tests.support.log_files import codes_above_notes, get_finding, make_log
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log

ROBOT = ytheta.load("ur10")
CLEAN = make_log(ROBOT)


class Defect(NamedTuple):
    """A log with one defect, and the outcome that is expected of its check."""

    log: Log
    code: str
    severity: Severity
    dropped: int = 0
    segments: int = 1


def assert_only_defect(defect: Defect) -> None:
    """Assert that the defect is found and nothing else, that it is repaired, and that ``strict`` refuses it."""
    log = check_log(defect.log, ROBOT)
    assert codes_above_notes(log) == {defect.code}
    finding = get_finding(log, defect.code)
    assert finding.severity is defect.severity
    assert (len(defect.log) - len(log), len(log.segments)) == (defect.dropped, defect.segments)
    for values in (log.t, log.q, log.qd, log.tau):
        assert values is None or np.all(np.isfinite(values))
    assert np.all(np.diff(log.t) > 0.0)
    assert_refused(defect.log, finding.text, strict=True)


def assert_refused(log: Log, *words: str, strict: bool = False) -> None:
    """Assert that a log is refused with a message that contains all words."""
    with pytest.raises(InputError) as caught:
        check_log(log, ROBOT, strict=strict)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def modify(**arrays: Callable[[np.ndarray], object]) -> Log:
    """The clean log with some arrays changed in place."""
    copies: dict[str, Any] = {}
    for name, change in arrays.items():
        copies[name] = np.array(getattr(CLEAN, name))
        change(copies[name])
    return replace(CLEAN, **copies)


def put(rows: object, values: object) -> Callable[[np.ndarray], None]:
    """A change that assigns values to rows."""

    def change(array: np.ndarray) -> None:
        array[rows] = values  # type: ignore[call-overload]

    return change


def delay(row: int, seconds: float) -> Callable[[np.ndarray], None]:
    """A change that delays all stamps from a row on."""

    def change(t: np.ndarray) -> None:
        t[row:] += seconds

    return change


def scale(joint: int, factor: float) -> Callable[[np.ndarray], None]:
    """A change that multiplies the column of a joint."""

    def change(array: np.ndarray) -> None:
        array[:, joint] *= factor

    return change


def hold_rows(log: Log, rows: list[int]) -> Log:
    """A log in which some rows repeat the row before."""
    source = np.arange(len(log))
    for row in rows:
        source[row] = source[row - 1]
    assert log.qd is not None
    assert log.tau is not None
    return replace(log, q=log.q[source], qd=log.qd[source], tau=log.tau[source])

"""Findings that are attached to an error."""

from __future__ import annotations

import pytest

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity, attach_findings

GAP = Finding("gap", Severity.WARNING, "the log has a gap", "record it again", source="a.csv")
RATE = Finding("rate", Severity.NOTE, "the rate is 100 Hz")


def test_an_error_carries_the_findings_before_it() -> None:
    with pytest.raises(InputError, match="no motion") as caught, attach_findings((GAP, RATE)):
        raise InputError("no motion")
    assert caught.value.__notes__ == ["a.csv: the log has a gap; record it again"]


def test_other_errors_are_left_as_they_are() -> None:
    with pytest.raises(ValueError, match="a bug") as caught, attach_findings((GAP,)):
        raise ValueError("a bug")
    assert not hasattr(caught.value, "__notes__")


def test_a_finding_prints_as_its_sentence() -> None:
    assert str(GAP) == GAP.text == "a.csv: the log has a gap; record it again"

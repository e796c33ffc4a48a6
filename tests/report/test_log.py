"""A log as text and as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from tests.support.log_files import ARM_LOG
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.report.numbers import format_plain

NOTE = Finding("sampling", Severity.NOTE, "sampled at 100 Hz")
GAP = Finding("gap", Severity.REPAIRED, "a gap of 2 s", "the log was split there")


def test_the_table_has_the_range_of_every_quantity() -> None:
    log = replace(ARM_LOG, segments=((0, 70), (80, 150)), findings=(NOTE, GAP), source="/data/run.csv", tau=None)
    text = str(log)
    lines = text.splitlines()
    assert lines[0] == f"run.csv: {log.seconds:.4g} s, 150 samples at 100 Hz in 2 segments"
    assert "velocity qd" in text
    (row,) = (line for line in lines if line.split()[:1] == ["joint2"])
    low, high = float(log.q[:, 1].min()), float(log.q[:, 1].max())
    assert f"{format_plain(low)} … {format_plain(high)}" in row
    assert row.rstrip().endswith("–")  # there are no torques
    assert "repaired: a gap of 2 s; the log was split there" in lines
    assert NOTE.text not in text  # only printed if verbose


def test_the_data_of_a_log() -> None:
    data = ARM_LOG.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["log"], data["samples"], data["segments"]) == ("made", 150, [[0, 150]])
    assert data["rate"] == ARM_LOG.rate
    assert ARM_LOG.tau is not None
    np.testing.assert_array_equal(data["ranges"]["tau"], [ARM_LOG.tau.min(axis=0), ARM_LOG.tau.max(axis=0)])
    assert replace(ARM_LOG, qd=None).to_dict()["ranges"]["qd"] is None
    holes = np.where(np.arange(150)[:, None] == 3, np.nan, ARM_LOG.q)
    assert replace(ARM_LOG, q=holes).to_dict()["ranges"]["q"] == [[None, None], [None, None]]


def test_an_empty_log_shows_itself() -> None:
    empty = Log(("a",), np.zeros(0), np.zeros((0, 1)))
    assert "log: 0 s, 0 samples" in str(empty)
    assert empty.to_dict()["start"] is None


def test_the_representation_is_one_short_line() -> None:
    assert repr(ARM_LOG) == "Log(made: 150 samples, 1.49 s at 100 Hz; q, qd, tau of 2 joints)"

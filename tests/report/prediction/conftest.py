"""Predictions to report: with and without measured torques, of a log with a gap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.browser import EVIL
from ytheta.findings import Finding, Severity

GAP = Finding("gap", Severity.REPAIRED, f"a gap of 0.5 s in {EVIL}", "the log was cut there")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> yt.Log:
    folder: Path = tmp_path_factory.mktemp("logs")
    read = yt.read_log(write_log(folder / "run.npz", true_arm(folder)), yt.load("lu-two-link"))
    return replace(read, segments=((0, 900), (1000, 2000)), findings=(*read.findings, GAP))


@pytest.fixture(scope="module")
def prediction(log: yt.Log) -> yt.Prediction:
    return yt.predict("lu-two-link", log)


@pytest.fixture(scope="module")
def without_torques(log: yt.Log) -> yt.Prediction:
    return yt.predict("lu-two-link", replace(log, tau=None))

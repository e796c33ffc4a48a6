"""The start-up benchmark: it runs a command and its peer, finds the logs, and states a limit that is exceeded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.clock import Row

from benchmarks import start_up


def test_a_command_is_compared_with_its_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_up, "RUNS", 1)
    row = start_up._measure_command(("--version",), start_up.IMPORT_TYPER, 2.5, os.environ)
    assert row.name == "ytheta --version"
    assert row.ytheta > 0.0
    assert row.peer > 0.0


def test_recorded_logs_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for purpose in ("fit", "validate"):
        (tmp_path / f"ur10.{purpose}.parquet").write_bytes(b"log")
    monkeypatch.setattr(start_up, "LOGS", tmp_path)
    assert start_up.find_logs(tmp_path / "other") == (tmp_path / "ur10.fit.parquet", tmp_path / "ur10.validate.parquet")


def test_a_limit_is_stated() -> None:
    kept, exceeded = (Row("a", seconds, 1.0, "b", 2.5) for seconds in (2.5, 2.6))
    assert (kept.is_within_limit, kept.verdict) == (True, "takes 2.50× (limit 2.5×)")
    assert (exceeded.is_within_limit, exceeded.verdict) == (False, "takes 2.60× (limit 2.5×, exceeded)")
    assert Row("a", 0.5, 1.0, "b").verdict == "2.0×"

"""Benchmarks run: a small version of each gives rows with times; how fast is measured by ``make bench``, never here."""

from __future__ import annotations

import pytest
from benchmarks import clock, compile_time, dynamics


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "LONG_ENOUGH", 0.0)
    monkeypatch.setattr(dynamics, "SAMPLES", 16)
    monkeypatch.setattr(dynamics, "BATCH", 32)
    monkeypatch.setattr(compile_time, "JOINTS", (1, 2))


def test_dynamics() -> None:
    rows = dynamics._robot_rows("UR10", *dynamics.ROBOTS["UR10"])
    assert "base regressor (36)" in rows[0].name
    assert all(row.ytheta > 0.0 and row.peer > 0.0 for row in rows)


def test_compile_time() -> None:
    assert len(compile_time.rows()) == 2

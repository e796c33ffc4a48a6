"""A small version of each benchmark runs and gives rows with times; ``make bench`` measures the speed."""

from __future__ import annotations

import pytest

from benchmarks import clock, compile_time, dynamics, export, identify
from tests.support.c_code import find_compiler


@pytest.fixture(autouse=True)
def _small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "MIN_TOTAL_SECONDS", 0.0)
    monkeypatch.setattr(dynamics, "SAMPLES", 16)
    monkeypatch.setattr(dynamics, "BATCH", 32)
    monkeypatch.setattr(compile_time, "JOINTS", (1, 2))
    for name, value in {"SAMPLES": (200, 400), "RUNS": 1, "HOUR": 40_000}.items():
        monkeypatch.setattr(identify, name, value)


def test_dynamics() -> None:
    rows = dynamics._measure_robot("UR10", *dynamics.ROBOTS["UR10"])
    assert "base regressor (36)" in rows[0].name
    assert all(row.ytheta > 0.0 and row.peer > 0.0 for row in rows)


def test_compile_time() -> None:
    assert len(compile_time.measure_rows()) == 2


def test_identify() -> None:
    rows = [*identify._measure_fits("one thread", 1), *identify._measure_hour()]
    assert len(rows) == 3
    assert all(row.ytheta > 0.0 and row.peer > 0.0 for row in rows)


def test_export(monkeypatch: pytest.MonkeyPatch) -> None:
    find_compiler()
    for name, value in {"ROBOTS": ("lu-two-link",), "PINOCCHIO_ROBOTS": (), "REPETITIONS": 2}.items():
        monkeypatch.setattr(export, name, value)
    rows = export.measure_rows()
    assert [row.name.split()[1] for row in rows] == ["inverse", "forward", "mass", "gravity", "regressor"]
    assert all(row.ytheta > 0.0 and row.peer > 0.0 for row in rows)

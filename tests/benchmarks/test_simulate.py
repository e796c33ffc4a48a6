"""A small version of the benchmark of closed loops runs; ``make bench`` measures the speed."""

from __future__ import annotations

import pytest

from benchmarks import clock, simulate


def test_simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "MIN_TOTAL_SECONDS", 0.0)
    for name, value in {"RUNS": 20, "SECONDS": 0.08, "PEER_STEPS": 2, "RUNS_PER_BATCH": 16, "CALLS": 3}.items():
        monkeypatch.setattr(simulate, name, value)
    rows = simulate.measure_rows()
    assert len(rows) == 5 + len(simulate.JOINTS)
    assert all(row.ytheta > 0.0 and row.peer > 0.0 for row in rows)

"""A simulation as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.browser import EVIL, Page
from tests.support.simulate_cases import PUMA
from tests.support.simulated_loops import DIVERGED, RUNS, simulate_loops, with_all_diverged
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.report.simulation import QUANTILES, summarize_simulation
from ytheta.report.simulation_page import simulation_html
from ytheta.simulation.result import Simulation

FIXED = {
    "robot", "controller", "plant", "seconds", "runs", "finished", "tracking_rms", "last_tracking_rms",
    "parameter_error", "initial_parameter_error", "joints", "parameters", "quantiles", "advice",
}  # fmt: skip


def test_fixed_keys_and_figures(simulation: Simulation) -> None:
    data = summarize_simulation(simulation)
    assert set(data) >= FIXED
    assert data == json.loads(json.dumps(data, allow_nan=False))
    assert data["tracking_rms"] == pytest.approx(float(simulation.tracking_rms[0]), rel=1e-12)
    assert data["parameter_error"] == pytest.approx(float(simulation.parameter_error[0]), rel=1e-12)
    assert data["initial_parameter_error"] == pytest.approx(float(simulation.initial_parameter_error[0]), rel=1e-12)
    assert data["last_tracking_rms"] == pytest.approx(float(np.sqrt(np.mean(simulation.last_rms**2))), rel=1e-12)
    assert (data["runs"], data["finished"], data["quantiles"], data["advice"]) == (1, 1, None, "")
    assert [joint["name"] for joint in data["joints"]] == list(simulation.robot.actuated)
    assert [joint["largest_torque"] for joint in data["joints"]] == abs(simulation.runs.tau[0]).max(axis=0).tolist()
    assert [joint["torque_limit"] for joint in data["joints"]] == [60.0, 60.0]
    (row,) = data["parameters"]
    truth, start, end = simulation.truth[0, 0], simulation.initial_estimate[0, 0], simulation.estimate[0, 0]
    assert row == {"name": f"{EVIL}.m", "truth": truth, "start": start, "end": end}
    assert abs(start - truth) > 1e-3


def test_diverged_runs_are_left_out(batch: Simulation) -> None:
    assert np.flatnonzero(~batch.finished).tolist() == list(DIVERGED)
    data = summarize_simulation(batch)
    stayed = batch.finished
    assert data["tracking_rms"] == pytest.approx(np.sqrt(np.mean(batch.runs.rms[stayed] ** 2)), rel=1e-12)
    assert data["tracking_rms"] < 0.1 * np.sqrt(np.mean(batch.runs.rms**2))  # what lost runs would have made of it
    assert data["parameter_error"] == pytest.approx(np.median(batch.parameter_error[stayed]), rel=1e-12)
    assert data["finished"] == RUNS - len(DIVERGED)
    assert {row["run"]: row["t"] for row in data["diverged"]} == {k: batch.runs.diverged_at[k] for k in DIVERGED}
    assert data["quantiles"]["percent"] == [5.0, 50.0, 95.0]
    for key, values in (("tracking_rms", batch.tracking_rms), ("parameter_error", batch.parameter_error)):
        assert data["quantiles"][key] == pytest.approx(np.quantile(values[stayed], QUANTILES), rel=1e-12)
    assert "diverged" in data["advice"]
    order = np.argsort(batch.tracking_rms[stayed])
    assert data["shown_run"] == np.flatnonzero(stayed)[order[(len(order) - 1) // 2]]


def test_all_runs_diverged_or_no_unknowns(batch: Simulation) -> None:
    gone = summarize_simulation(with_all_diverged(batch))
    assert json.loads(json.dumps(gone, allow_nan=False))["tracking_rms"] is None
    assert (gone["parameter_error"], gone["finished"], gone["quantiles"]) == (None, 0, None)
    assert gone["shown_run"] == RUNS - 1
    assert {joint["largest_torque"] for joint in gone["joints"]} == {None}
    law = ComputedTorque(PUMA, stiffness=100.0, damping=20.0)
    still = simulate_loops(PUMA, law, 0.3)
    data = summarize_simulation(still)
    assert (data["parameter_error"], data["initial_parameter_error"], data["parameters"]) == (None, None, [])
    assert data["tracking_rms"] > 0.0
    text = Page(simulation_html(still)).text
    assert "no parameter is adapted" in text
    assert "Unknown parameters" in text
    assert "Parameters" not in text
    assert "Parameters" in Page(simulation_html(batch)).text

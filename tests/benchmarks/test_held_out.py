"""The benchmark of held-out errors: its splits, its figures and its comparison with a baseline."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.held_out import OWN, REFERENCE, Case, Measurement, Part

import ytheta as yt
from benchmarks import held_out


def _overlap(case: Case) -> bool:
    """Return whether a time of a log belongs to the fit and to the validation."""
    pairs = [(a, b) for a in case.fit for b in case.validation if a.log == b.log]
    return any(max(a.start, b.start) < min(a.end, b.end) for a, b in pairs)


def test_fit_and_validation_share_no_samples() -> None:
    assert not any(_overlap(case) for case in held_out.CASES)
    assert _overlap(Case("twin", "TX40", (Part("run", 0.0, 5.0),), (Part("run", 4.9),)))


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in held_out.CASES]
    assert len(set(names)) == len(names)
    assert sum(case.is_named for case in held_out.CASES) == 8
    assert len(names) - 8 >= 15


def test_thirds_cover_the_motion() -> None:
    *_, case = held_out._split_log("TX40", "run", "run", 1.0, 7.0)
    assert case.fit == (Part("run", -math.inf, 3.0), Part("run", 5.0, math.inf))
    assert case.validation == (Part("run", 3.0, 5.0),)


def test_ratios_to_a_baseline(tmp_path: Path) -> None:
    before = [Measurement("a", OWN, True, validation=4.0), Measurement("b", OWN, True, validation=2.0)]
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"measurements": [asdict(each) for each in before]}))
    now = [replace(before[0], validation=1.0), replace(before[1], validation=8.0), Measurement("c", OWN, False)]
    ratios = held_out.compare(now, held_out.read_measurements(path))
    assert ratios == {("a", OWN): 0.25, ("b", OWN): 4.0}
    (line,) = held_out.summarize(now, ratios)
    assert line == "cases with targets, own cut-off: 2 cases, geometric mean 1.000, worst 4.000 (b)"


def test_a_refused_case_is_not_overlooked() -> None:
    assert math.isnan(held_out.compute_geometric_mean([0.5, math.nan]))
    assert not Measurement("a", OWN, True, target=5.0).is_within_target


@pytest.mark.parametrize(("error", "within"), [(1.304, True), (1.306, False)])
def test_targets_are_compared_with_printed_errors(error: float, within: bool) -> None:
    assert Measurement("a", OWN, True, validation=error, target=1.3).is_within_target == within


def test_a_robot_with_negative_mass_is_refused_by_mujoco() -> None:
    robot = yt.load("ur10").merged
    last = robot.links[-1]
    broken = robot.with_inertias({last.name: yt.Inertia((-1.0, *last.inertia.parameters[1:]))})
    assert held_out.is_accepted_by_mujoco(robot)
    assert not held_out.is_accepted_by_mujoco(broken)
    assert held_out.compute_mass(robot) - held_out.compute_mass(broken) == pytest.approx(last.inertia.mass + 1.0)


def test_one_case_is_measured() -> None:
    robot = yt.load("lu-two-link")
    t = 0.01 * np.arange(1500)
    w = np.array([1.3, 2.1])
    angle = np.outer(t, w)
    q = np.sin(angle) + np.sin(1.7 * angle)
    qd = w * np.cos(angle) + 1.7 * w * np.cos(1.7 * angle)
    qdd = -(w**2) * np.sin(angle) - (1.7 * w) ** 2 * np.sin(1.7 * angle)
    log = yt.Log(robot.actuated, t, q, yt.inverse_dynamics(robot)(q, qd, qdd))
    case = Case("simulated", "lu-two-link", (Part("run", 0.0, 8.0),), (Part("run", 8.0),), {REFERENCE: 1.0})
    result = held_out.measure_case(case, REFERENCE, robot, {"run": log}, {"cutoff": 8.0})
    assert (result.cutoff, result.target, result.refusal) == (8.0, 1.0, "")
    assert 0.0 < result.validation < 1.0
    assert result.is_within_target
    refused = held_out.measure_case(case, REFERENCE, robot, {"run": log}, {"cutoff": 8.0, "estimator": "none"})
    assert "none" in refused.refusal
    assert not refused.is_within_target

"""Time scales and delays: what recorded velocities and torques show, and when they show nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.diagnosis_runs import simulate_run
from ytheta.identification.assessment.suspects import MAX_VELOCITY_LOG_ODDS, VelocityRatio
from ytheta.identification.finding_codes import CONTRADICTIONS


@cache
def _make_table() -> dict[str, np.ndarray]:
    motion = simulate_run("ur10").motion
    assert motion.tau is not None
    return {"t": motion.t, "q": motion.q, "qd": motion.qd, "tau": motion.tau}


def _read(factors: np.ndarray | float = 1.0, time: float = 1.0) -> yt.Log:
    table = _make_table()
    changed = {**table, "t": time * table["t"], "qd": factors * table["qd"]}
    return yt.read_log(changed, yt.load("ur10"))


def _find_contradictions(log: yt.Log) -> list[yt.Finding]:
    result = yt.identify(yt.load("ur10"), log)
    return [finding for finding in result.findings if finding.code in CONTRADICTIONS]


def _find_ratio(*logs: yt.Log) -> float:
    ratio = VelocityRatio.of(logs)
    assert ratio is not None
    return float(np.exp(ratio.median))


def test_the_same_velocity_ratio_in_all_joints_speaks_for_a_factor_of_time() -> None:
    assert _find_ratio(_read(time=2.0)) == pytest.approx(2.0, rel=1e-3)
    assert _find_ratio(_read(time=2.0), _read(time=2.0)) == pytest.approx(2.0, rel=1e-3)
    same = VelocityRatio.of([_read(time=2.0)])
    different = VelocityRatio.of([_read(np.array([1.0, 1.2, 1.4, 2.0, 2.8, 2.4]))])  # the twin: gains of single joints
    assert same is not None
    assert different is not None
    assert same.compute_log_odds(-np.log(2.0)) == pytest.approx(MAX_VELOCITY_LOG_ODDS)
    assert same.compute_log_odds(np.log(2.0)) == 0.0
    assert different.compute_log_odds(-np.log(2.0)) < 3.0
    assert VelocityRatio.of([replace(_read(time=2.0), qd=None)]) is None
    assert VelocityRatio.of([]) is None


def test_a_wrong_gain_of_all_velocities_is_no_mistake_in_time() -> None:
    """The twin of the next test: torques contradict another time scale."""
    log = _read(2.0)
    assert _find_ratio(log) == pytest.approx(2.0, rel=1e-3)
    assert _find_contradictions(log) == []


@pytest.mark.parametrize("has_velocity", [True, False])
def test_the_remedy_of_a_time_scale_mends_it(has_velocity: bool) -> None:
    robot, table = yt.load("ur10"), {**_make_table(), "t": 2.0 * _make_table()["t"]}
    if not has_velocity:
        del table["qd"]
    (finding,) = _find_contradictions(yt.read_log(table, robot))
    assert finding.code == "time scale"
    match = re.search(r"\[scale\] t = ([0-9.]+) in the mapping", finding.remedy)
    assert match is not None
    assert float(match[1]) == 0.5
    assert _find_contradictions(yt.read_log(table, robot, mapping={"scale": {"t": float(match[1])}})) == []


@pytest.mark.parametrize("delay", [0.1, -0.1])
def test_delays_are_named(delay: float) -> None:
    rows = round(abs(delay) * 100.0)
    ahead, behind = (
        {name: values[part] for name, values in _make_table().items()} for part in (slice(rows, None), slice(-rows))
    )
    table = {**ahead, "tau": behind["tau"]} if delay > 0.0 else {**behind, "tau": ahead["tau"]}
    (finding,) = _find_contradictions(yt.read_log(table, yt.load("ur10")))
    assert finding.code == "delay"
    assert finding.fields["delay"] == pytest.approx(delay, abs=2e-3)
    assert f"write [delay] tau = {finding.fields['delay']:.3g} in the mapping" in finding.text

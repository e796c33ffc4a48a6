"""Time scales and delays: what recorded velocities and errors show, and when they show nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.diagnosis_runs import simulate_run
from ytheta.identification.assessment.mistake_errors import Errors
from ytheta.identification.assessment.time_mistakes import find_velocity_ratio, is_minimum
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


def test_the_same_velocity_ratio_in_all_joints_is_that_of_time() -> None:
    assert find_velocity_ratio([_read(time=2.0)]) == pytest.approx(2.0, rel=1e-3)
    assert find_velocity_ratio([_read(time=2.0), _read(time=2.0)]) == pytest.approx(2.0, rel=1e-3)
    some_gains = np.array([1.0, 1.0, 1.0, 1.0, 1.1, 1.2])
    assert find_velocity_ratio([_read(some_gains, time=2.0)]) == pytest.approx(2.0, rel=1e-3)


def test_other_velocity_ratios_are_not_those_of_time() -> None:
    """The twins: right velocities, gains of single joints, logs that differ, and no velocities."""
    assert find_velocity_ratio([_read()]) is None
    assert find_velocity_ratio([_read(np.array([2.0, 2.0, 2.0, 2.0, 2.0, 1.0]))]) is None
    assert find_velocity_ratio([_read(np.array([2.0, 2.0, 2.0, 2.0, 2.0, 1.4]))]) is None
    assert find_velocity_ratio([_read(np.array([2.0, 2.0, 2.2, 2.2, 2.4, 2.4]))]) is None
    assert find_velocity_ratio([_read(1.1)]) is None
    assert find_velocity_ratio([_read(time=2.0), _read()]) is None
    assert find_velocity_ratio([replace(_read(time=2.0), qd=None)]) is None
    assert find_velocity_ratio([]) is None


def test_a_wrong_gain_of_all_velocities_is_no_mistake_in_time() -> None:
    """The twin of the next test: torques contradict another time scale."""
    log = _read(2.0)
    assert find_velocity_ratio([log]) == pytest.approx(2.0, rel=1e-3)
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
    assert finding.fields["delay"] == delay


def _make_errors(total: float, joint: float) -> Errors:
    return Errors(np.array([joint, joint]), np.ones(2), np.ones(2), total)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ((1.2, 1.0, 1.2), True),
        ((1.05, 1.0, 1.2), False),  # the log as recorded is nearly as good
        ((1.2, 1.0, 1.05), False),  # a larger change is nearly as good: the error does not tell
        ((1.2, 1.0, 0.9), False),
        ((0.9, 1.0, 1.2), False),
    ],
)
def test_a_minimum_is_lower_than_both_sides(totals: tuple[float, float, float], expected: bool) -> None:
    errors = [_make_errors(0.03 * total, 0.1 * total) for total in totals]
    assert is_minimum(*errors) is expected


def test_joints_must_agree_with_the_total() -> None:
    errors = [_make_errors(0.03 * total, 0.1) for total in (1.2, 1.0, 1.2)]
    assert not is_minimum(*errors)

"""A second run of the same trajectory is recognised, also shifted in time; other motion is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.log_files import load_shared_robot, make_log
from ytheta.errors import InputError
from ytheta.logs.checking.check import _correlate, find_repeated_motion
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.reading.read import read_log
from ytheta.shapes import SamplesByJoint

ROBOT = ytheta.load("ur10")
CLEAN = make_log(ROBOT)


def with_positions(log: Log, q: SamplesByJoint, t: np.ndarray | None = None) -> Log:
    return replace(log, q=q, t=log.t if t is None else t, qd=None, tau=None)


def test_repeated_motion_is_recognised() -> None:
    noise = 0.003 * np.random.default_rng(3).standard_normal(CLEAN.q.shape)
    finding = find_repeated_motion(CLEAN, with_positions(CLEAN, CLEAN.q + noise, CLEAN.t + 77.0))
    assert finding is not None
    assert finding.code == LogFindingCode.REPEATED_MOTION
    assert "the trajectory of made 77 s later (" in finding.text
    finding = find_repeated_motion(with_positions(CLEAN, CLEAN.q, CLEAN.t + 77.0), CLEAN)
    assert finding is not None
    assert "77 s earlier" in finding.text
    twice = Log(CLEAN.joints, np.arange(6000) / 100.0, np.concatenate((CLEAN.q, CLEAN.q)))
    # Counted from the starts of the two parts, the delay would be 0.5 s.
    finding = find_repeated_motion(twice.select_rows(0, 2900), twice.select_rows(3050, 6000))
    assert finding is not None
    assert "30 s later" in finding.text
    late = with_positions(CLEAN.select_rows(500, 3000), CLEAN.q[500:])
    finding = find_repeated_motion(CLEAN, late)
    assert finding is not None
    assert "starting 4.99 s into it" in finding.text
    finding = find_repeated_motion(late, CLEAN)
    assert finding is not None
    assert "starting 4.99 s before it" in finding.text


@pytest.mark.parametrize(("first", "second"), [(1, 1), (7, 5), (5, 7), (64, 65), (300, 20)])
def test_the_correlation_is_that_of_its_definition(first: int, second: int) -> None:
    rng = np.random.default_rng(first)
    a, b = rng.normal(size=(first, 3)), rng.normal(size=(second, 3))
    expected = sum(np.correlate(a[:, k], b[:, k], mode="full") for k in range(3))
    np.testing.assert_allclose(_correlate(a, b), expected, rtol=0.0, atol=1e-12)
    if first != second:  # the twin: the shifts are not symmetric
        assert np.abs(_correlate(b, a) - expected).max() > 1e-3


def test_a_repetition_at_another_rate_has_no_shift() -> None:
    """Both logs are resampled from their first rows, which lie at the same time."""
    coarse = Log(CLEAN.joints, CLEAN.t[::20], CLEAN.q[::20])
    finding = find_repeated_motion(CLEAN, coarse)
    assert finding is not None
    assert finding.fields["shift"] == 0.0


def test_other_motions_are_not_repetitions() -> None:
    assert find_repeated_motion(CLEAN, make_log(ROBOT, seed=1)) is None
    assert find_repeated_motion(CLEAN.select_rows(0, 1500), CLEAN.select_rows(1500, 3000)) is None
    rest = with_positions(CLEAN, np.zeros_like(CLEAN.q))
    assert find_repeated_motion(rest, rest) is None
    assert find_repeated_motion(CLEAN, CLEAN.select_rows(0, 1)) is None
    with pytest.raises(InputError, match="different joints"):
        find_repeated_motion(CLEAN, make_log(ytheta.load("lu-two-link")))


def test_real_logs_that_repeat_each_other(shared_data: Path) -> None:
    def read(folder: str, name: str) -> Log:
        return read_log(shared_data / folder / f"{name}.parquet", load_shared_robot(shared_data, folder))

    assert find_repeated_motion(read("lwr4", "lwr4_run1"), read("lwr4", "lwr4_run2")) is not None
    pair = find_repeated_motion(read("ur10e", "ur10e_50s_14harm_unloaded"), read("ur10e", "ur10e_50s_14harm_loaded"))
    assert pair is not None
    assert "starting 1.18 s before it" in pair.text
    assert find_repeated_motion(read("kr300", "kr300_run_a"), read("kr300", "kr300_run_b")) is None
    assert find_repeated_motion(read("dvrk_mtm", "mtm_train_one"), read("dvrk_mtm", "mtm_test_two")) is None
    assert find_repeated_motion(read("ur10e", "ur10e_train_30s_12harm"), read("ur10e", "ur10e_ptp10")) is None


def test_free_flights_differ_in_their_joints() -> None:
    """All bases fall alike, by many metres; other motion of the joints is not a repetition, the same motion is."""
    t = np.arange(0.0, 6.0, 0.01)
    joints = ("base_x", "base_y", "base_z", "base_rx", "base_ry", "base_rz", "hip", "knee")

    def fly(frequency: float, height: float) -> Log:
        q = np.zeros((len(t), len(joints)))
        q[:, 2] = height - 0.5 * 9.81 * t**2
        q[:, 6], q[:, 7] = np.sin(frequency * t), np.cos(1.3 * frequency * t)
        return Log(joints, t, q)

    assert find_repeated_motion(fly(2.0, 0.0), fly(3.1, 0.0)) is None
    assert find_repeated_motion(fly(2.0, 0.0), fly(2.0, 5.0)) is not None

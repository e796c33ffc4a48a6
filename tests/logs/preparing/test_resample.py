"""The grid of a log: equally spaced timestamps, late timestamps of even samples, uneven sampling, held rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ytheta.errors import InputError
from ytheta.logs.checking.rows import find_held_rows
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.resample import Grid, choose_grid, drop_held_rows

RATE = 200.0


def evaluate_motion(t: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(2 * np.pi * 0.5 * t), 0.5 * np.cos(2 * np.pi * 0.8 * t)], axis=1)


def make_log(t: np.ndarray, q: np.ndarray, segments: tuple[tuple[int, int], ...] = ()) -> Log:
    return Log(joints=("a", "b"), t=t, q=q, tau=3.0 * q, segments=segments)


def test_rows_with_equally_spaced_timestamps_are_the_samples() -> None:
    t = 7.0 + np.arange(2000) / RATE
    log = make_log(t, evaluate_motion(t))
    grid, findings = choose_grid(log)
    assert grid == Grid(grid.step)
    assert grid.rate == pytest.approx(RATE, rel=1e-9)
    assert findings == ()
    (samples,) = grid.sample(log, (0, 2000), 10, 60, (log.q,))
    np.testing.assert_array_equal(samples, log.q[10:60].T)


def test_late_timestamps_of_evenly_sampled_rows_are_ignored() -> None:
    even = np.arange(4000) / RATE
    stamped = even + np.random.default_rng(0).uniform(0.0, 0.4, 4000) / RATE
    grid, (finding,) = choose_grid(make_log(stamped, evaluate_motion(even)))
    assert grid.by_rows
    assert grid.rate == pytest.approx(RATE, rel=1e-3)
    assert "times smoother" in finding.text


def test_one_noisy_joint_does_not_hide_late_timestamps() -> None:
    """The roughness is that of the median joint. If all joints are noisy, the timestamps cannot be refuted."""
    rng, even = np.random.default_rng(5), np.arange(4000) / RATE
    stamped = even + rng.uniform(0.0, 0.4, 4000) / RATE
    q = np.column_stack([evaluate_motion(even), evaluate_motion(even)[:, 0]])
    for noisy, by_rows in ((1, True), (3, False)):
        noise = np.where(np.arange(3) < noisy, 0.1, 0.0) * rng.normal(size=q.shape)
        grid, _ = choose_grid(Log(("a", "b", "c"), stamped, q + noise, q))
        assert grid.by_rows is by_rows


def test_the_last_row_is_a_sample_although_its_timestamp_is_rounded() -> None:
    t = np.arange(11) * 0.1
    t[-1] -= 1e-9
    log, grid = make_log(t, evaluate_motion(t)), Grid(0.1, by_rows=False)
    assert grid.count_samples(log, (0, 11)) == 11
    assert grid.find_nearest_rows(log, (0, 11), 0, 11).tolist() == list(range(11))
    (samples,) = grid.sample(log, (0, 11), 0, 11, (log.q,))
    np.testing.assert_allclose(samples.T, log.q, rtol=0.0, atol=1e-8)


def test_uneven_samples_are_interpolated_between_their_timestamps() -> None:
    """Steps of 10 and 12 ms, or jitter of the sampling itself: the timestamps are right."""
    rng = np.random.default_rng(1)
    for t in (np.cumsum(rng.choice([0.010, 0.012], 3000)), (np.arange(3000) + rng.uniform(0.0, 0.4, 3000)) / RATE):
        log = make_log(t, evaluate_motion(t))
        grid, (finding,) = choose_grid(log)
        assert not grid.by_rows
        assert "uneven sampling (timestamps deviate by up to" in finding.text
        count = grid.count_samples(log, (0, 3000))
        times = grid.compute_times(log, (0, 3000), 0, count)
        (samples,) = grid.sample(log, (0, 3000), 0, count, (log.q,))
        # Linear interpolation is off by at most step^2 / 8 times the acceleration.
        bound = np.diff(t).max() ** 2 / 8.0 * (2 * np.pi * 0.8) ** 2
        assert np.abs(samples.T - evaluate_motion(times)).max() < bound
        assert times[-1] <= t[-1] + 1e-9
        near = grid.find_nearest_rows(log, (0, 3000), 0, count)
        assert np.abs(t[near] - times).max() <= np.diff(t).max() / 2 + 1e-9


def test_held_rows_are_dropped() -> None:
    t = np.arange(4000) / RATE
    source = np.arange(4000)
    again = np.random.default_rng(2).random(4000) < 0.12
    again[0] = False
    source[again] = 0
    held = evaluate_motion(t)[np.maximum.accumulate(source)]
    log, (finding,) = drop_held_rows(make_log(t, held))
    assert finding.code == LogFindingCode.HELD
    assert "12" in finding.text or "11" in finding.text
    assert len(log) == 4000 - finding.fields["rows"]
    grid, _ = choose_grid(log)
    assert not grid.by_rows
    assert grid.rate == pytest.approx(RATE)
    (repaired,) = grid.sample(log, (0, len(log)), 0, 3990, (log.q,))
    error, error_before = np.abs(repaired.T - evaluate_motion(t)[:3990]).max(), np.abs(held - evaluate_motion(t)).max()
    assert error < 0.1 * error_before


def test_rows_at_rest_are_not_held() -> None:
    t = np.arange(4000) / RATE
    q = np.round(evaluate_motion(np.minimum(t, 10.0)), 5)
    log = make_log(t, q)
    assert not (find_held_rows(log).drop >= 2100).any()
    assert drop_held_rows(log) == (log, ())


@pytest.mark.parametrize("held", [False, True])
def test_pieces_equal_the_whole(held: bool) -> None:
    rng = np.random.default_rng(3)
    t = np.cumsum(rng.choice([0.010, 0.012], 1500))
    source = np.arange(1500)
    source[5::7] -= held
    log, findings = drop_held_rows(make_log(t, (evaluate_motion(t) + rng.normal(size=(1500, 2)))[source]))
    assert bool(findings) is held
    grid = Grid(0.01, by_rows=False)
    segment = (0, len(log))
    count = grid.count_samples(log, segment)
    (whole,) = grid.sample(log, segment, 0, count, (log.q,))
    parts = [grid.sample(log, segment, a, min(a + 100, count), (log.q,))[0] for a in range(0, count, 100)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=0.0, atol=1e-12)


def test_interpolation_stays_within_a_segment() -> None:
    """Rows beyond the end have huge values; a grid that ignores segments would use them."""
    t = np.cumsum(np.random.default_rng(4).choice([0.010, 0.012], 400))
    q = evaluate_motion(t)
    q[200:] = 1e9
    log = make_log(t, q, segments=((0, 200), (200, 400)))
    grid = Grid(0.01, by_rows=False)
    (samples,) = grid.sample(log, (0, 200), 0, grid.count_samples(log, (0, 200)), (log.q,))
    assert np.abs(samples).max() < 2.0
    (across,) = grid.sample(log, (0, 400), 0, grid.count_samples(log, (0, 400)), (log.q,))
    assert np.abs(across).max() > 1e8


@given(st.integers(0, 2**32 - 1), st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
def test_straight_lines_are_exact_for_any_timestamps(seed: int, level: float, slope: float) -> None:
    t = np.cumsum(np.random.default_rng(seed).uniform(0.5, 1.5, 60)) / RATE
    line = level + slope * t
    log = make_log(t, np.stack([line, -line], axis=1))
    grid = Grid(1.0 / RATE, by_rows=False)
    count = grid.count_samples(log, (0, 60))
    (samples,) = grid.sample(log, (0, 60), 0, count, (log.q,))
    np.testing.assert_allclose(
        samples[0], level + slope * grid.compute_times(log, (0, 60), 0, count), rtol=0.0, atol=1e-9
    )


def test_time_that_does_not_increase_is_refused() -> None:
    t = np.arange(100) / RATE
    log = make_log(t, evaluate_motion(t))
    with pytest.raises(InputError, match="time does not increase at row 50"):
        choose_grid(replace(log, t=np.where(np.arange(100) == 50, 0.0, t)))
    with pytest.raises(InputError, match="rows 0 to 100 give no sample"):
        Grid(1.0 / RATE, by_rows=False).sample(log, (0, 100), 5, 5, (log.q,))
    with pytest.raises(InputError, match="no segment has two rows"):
        choose_grid(log.select_rows(0, 1))

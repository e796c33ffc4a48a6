"""Prepared motion: the true one, the same in pieces, and separate for every segment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.sine_logs import ANGULAR_FREQUENCIES, RATE, make_sine_log
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import MotionSamples, prepare_log, prepare_pieces, prepare_span

FIELDS = ("t", "q", "qd", "qdd", "tau", "raw_tau", "rows")


def concatenate_pieces(parts: list[MotionSamples]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS}


@pytest.mark.parametrize("derivative", ["central", "spline"])
@pytest.mark.parametrize("velocity", ["recorded", "position"])
def test_the_true_motion_is_recovered(derivative: str, velocity: str) -> None:
    prepared = prepare_log(
        make_sine_log(noise=1e-6), PreparationSettings(cutoff=10.0, derivative=derivative, velocity=velocity)
    )
    motion = prepared.motion
    phase = np.outer(motion.t, ANGULAR_FREQUENCIES)
    np.testing.assert_allclose(motion.q, np.sin(phase), rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(motion.qd, ANGULAR_FREQUENCIES * np.cos(phase), rtol=0.0, atol=3e-3)
    middle = slice(20, -20)  # at the ends, the filter has settled to one hundredth only
    np.testing.assert_allclose(
        motion.qdd[middle], -(ANGULAR_FREQUENCIES**2) * np.sin(phase)[middle], rtol=0.0, atol=2e-2
    )
    assert motion.tau is not None
    np.testing.assert_allclose(motion.tau, 4 * motion.q + 2 * ANGULAR_FREQUENCIES * np.cos(phase), rtol=0.0, atol=5e-3)
    assert prepared.rate == pytest.approx(RATE / prepared.settings.decimate)  # type: ignore[operator]
    np.testing.assert_allclose(np.diff(motion.t), 1.0 / prepared.rate, rtol=1e-9)


@pytest.mark.parametrize("derivative", ["central", "spline"])
@pytest.mark.parametrize("jitter", [False, True])
@pytest.mark.parametrize("decimate", [1, 7])
def test_pieces_equal_the_whole(derivative: str, jitter: bool, decimate: int) -> None:
    log = make_sine_log(30.0, noise=1e-4)
    if jitter:
        log = replace(log, t=log.t + np.random.default_rng(1).uniform(0.0, 0.9, len(log)) / RATE)
    settings = PreparationSettings(cutoff=8.0, derivative=derivative, velocity=(True, False, True), decimate=decimate)
    whole = concatenate_pieces(list(prepare_pieces(log, settings, size=10**6)))
    small = concatenate_pieces(list(prepare_pieces(log, settings, size=1000)))
    for name in FIELDS:
        scale = np.abs(whole[name]).max()
        np.testing.assert_allclose(small[name], whole[name], rtol=0.0, atol=1e-9 * scale, err_msg=name)


def test_a_piece_holds_no_more_than_the_samples_kept() -> None:
    preparation = choose_preparation(make_sine_log(30.0), PreparationSettings(cutoff=8.0, decimate=7))
    motion = prepare_span(preparation, *next(preparation.iterate_pieces(1000)))
    for name in ("t", "q", "qd", "qdd", "tau", "raw_tau", "rows"):
        array = getattr(motion, name)
        assert (array if array.base is None else array.base).nbytes == array.nbytes, name


def test_pieces_without_margins_would_differ() -> None:
    preparation = choose_preparation(make_sine_log(30.0, noise=1e-4), PreparationSettings(cutoff=8.0, decimate=1))
    pieces = list(preparation.iterate_pieces(1000))
    whole = concatenate_pieces([prepare_span(preparation, *piece) for piece in pieces])
    bare = [(segment, replace(span, start=span.core_start, stop=span.core_stop)) for segment, span in pieces]
    twin = concatenate_pieces([prepare_span(preparation, *piece) for piece in bare])
    assert np.abs(twin["qdd"] - whole["qdd"]).max() > 1e-2 * np.abs(whole["qdd"]).max()


def test_segments_do_not_influence_each_other() -> None:
    """Other positions after the gap change nothing before it; without the gap they do."""
    log = make_sine_log()
    settings = PreparationSettings(cutoff=10.0, velocity="position", decimate=1)
    split = replace(log, segments=((0, 4000), (4000, 10000)))
    poison = split.q.copy()
    poison[4000:] += 100.0
    alone = prepare_log(log.select_rows(0, 4000), settings).motion
    for gapped, equal in ((replace(split, q=poison), True), (replace(log, q=poison), False)):
        prepared = prepare_log(gapped, settings)
        first = prepared.motion.qdd[: len(alone)]
        assert bool(np.abs(first - alone.qdd).max() < 1e-9) is equal
    prepared = prepare_log(split, settings)
    assert len(prepared.segments) == 2
    assert prepared.segments[0] == (0, len(alone))
    assert prepared.segments[1][1] == len(prepared.motion)
    # Both segments are trimmed at both ends.
    ends = [prepared.motion.rows[i] for a, b in prepared.segments for i in (a, b - 1)]
    trimmed = round(prepared.settings.trim * RATE)  # type: ignore[operator]
    assert ends == [trimmed, 4000 - trimmed - 1, 4000 + trimmed, 10000 - trimmed - 1]

"""Smooth motion: the smoother against dense matrices and its gain, ranges of samples, and directions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import RATE, make_case
from ytheta.identification.estimators.instrumental_variables import (
    MIN_DEAD_SPEED_RATIO,
    smooth_motion,
    smooth_positions,
)


@pytest.mark.parametrize("count", [8, 9, 200])
def test_positions_are_those_of_dense_matrices(count: int) -> None:
    q, band, rate = np.random.default_rng(0).normal(size=count), 3.0, 100.0
    D = np.diff(np.eye(count), n=2, axis=0)
    penalty = (np.sqrt(2.0) - 1.0) / (2.0 * np.sin(np.pi * band / rate)) ** 4
    S = np.linalg.inv(np.eye(count) + penalty * D.T @ D)
    np.testing.assert_allclose(smooth_positions(q, band, rate), S @ S @ q, atol=1e-9)
    assert abs(smooth_positions(q, band, rate) - S @ q).max() > 1e-3  # the twin: smoothed once


def test_the_gain_is_one_half_at_the_band() -> None:
    t = np.arange(20_000) / 1000.0
    middle = slice(5000, 15_000)
    for band in (0.5, 5.0, 50.0):  # 0.5 Hz at 1 kHz is as ill-conditioned as logs get
        for ratio in (0.5, 1.0, 2.0):
            steepness = (np.sin(np.pi * ratio * band / 1000.0) / np.sin(np.pi * band / 1000.0)) ** 4
            gain = (1.0 + (np.sqrt(2.0) - 1.0) * steepness) ** -2.0
            wave = np.sin(2.0 * np.pi * ratio * band * t)
            measured = float(
                smooth_positions(wave, band, 1000.0)[middle] @ wave[middle] / (wave[middle] @ wave[middle])
            )
            assert measured == pytest.approx(gain, rel=0.005)
            assert gain == pytest.approx(0.5) or ratio != 1.0


def test_straight_lines_and_high_bands_pass_unchanged() -> None:
    line = 0.3 + 0.02 * np.arange(500)
    np.testing.assert_allclose(smooth_positions(line, 1.0, 100.0), line, rtol=1e-12)
    noise = np.random.default_rng(0).normal(size=500)
    np.testing.assert_array_equal(smooth_positions(noise, 41.0, 100.0), noise)
    assert abs(smooth_positions(noise, 39.0, 100.0) - noise).max() > 1e-3


def test_motion_does_not_depend_on_ranges_and_is_near_the_true_motion() -> None:
    known = make_case(ytheta.load("ha-scara"), 400, still=(2,))
    noise = 1e-3 * np.random.default_rng(2).normal(size=known.motion.q.shape)
    noisy = replace(known, motion=replace(known.motion, q=known.motion.q + noise))
    problem = noisy.problem()
    (segment,) = smooth_motion(problem, None).values()
    whole = segment.replace_motion(noisy.motion, 0)
    for first, last in ((0, 1), (0, 90), (90, 180), (397, 400)):
        part = segment.replace_motion(noisy.motion.select(first, last), first)
        for name in ("q", "qd", "qdd", "direction"):
            np.testing.assert_allclose(getattr(part, name), getattr(whole, name)[first:last], atol=1e-9)
    inner = slice(20, -20)
    for name, tolerance in (("q", 0.02), ("qd", 0.05), ("qdd", 0.2)):
        true, smooth = (getattr(each, name)[inner] for each in (known.motion, whole))
        assert np.linalg.norm(smooth - true) < tolerance * np.linalg.norm(true)
    differences = np.gradient(np.gradient(noisy.motion.q, 1.0 / RATE, axis=0), 1.0 / RATE, axis=0)[inner]
    assert np.linalg.norm(differences - known.motion.qdd[inner]) > 0.3 * np.linalg.norm(known.motion.qdd[inner])
    assert not whole.qd[:, 2].any()  # a joint that does not move, although its position has noise
    assert not whole.qdd[:, 2].any()


def test_directions_are_zero_below_the_dead_speed() -> None:
    known = make_case(ytheta.load("ha-scara"), 400)
    (segment,) = smooth_motion(known.problem(), None).values()
    whole = segment.replace_motion(known.motion, 0)
    assert whole.direction is not None
    assert (segment.dead_speeds >= MIN_DEAD_SPEED_RATIO * abs(known.motion.qd).max(axis=0) * (1.0 - 1e-12)).all()
    slow, fast = abs(whole.qd) < segment.dead_speeds, abs(whole.qd) > 2.0 * segment.dead_speeds
    assert slow.any()
    assert not whole.direction[slow].any()
    np.testing.assert_array_equal(whole.direction[fast], np.sign(whole.qd[fast]))

"""Drive directions: smooth signs of velocities, and with loops their products with velocity ratios."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.logs.log import Log
from ytheta.logs.preparing.drives import DriveDirections, PoseDirections
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_span

RATE, CUTOFF = 1000.0, 6.0
PAIRS = np.array([[0, 0], [1, 0], [1, 1]])  # drive and joint
SPEEDS = np.array([[0.0, 0.02]])
ALL_MOVE = np.ones(2, dtype=bool)
T = np.arange(6000) / RATE
SPAN = Span(2000, 4000, 0, 6000)
Q = np.stack([np.sin(2.0 * T), 0.7 * np.cos(3.1 * T)], axis=1)
QD = np.stack([2.0 * np.cos(2.0 * T), -2.17 * np.sin(3.1 * T)], axis=1)


def compute_rates(q: np.ndarray) -> np.ndarray:
    return np.stack([np.ones(len(q)), 1.0 + 0.5 * np.sin(q[:, 0]), np.cos(q[:, 1])])


def prepare(directions: DriveDirections | PoseDirections) -> np.ndarray:
    """Low-passed rows in the middle of a log."""
    log = Log(("a", "b"), T, Q, np.zeros_like(Q))
    preparation = choose_preparation(log, PreparationSettings(cutoff=CUTOFF))
    assert preparation.decimate > 4
    motion = prepare_span(preparation, log.segments[0], SPAN, directions)
    assert motion.direction is not None
    return motion.direction.T


def low_pass(rows: np.ndarray) -> np.ndarray:
    """The same rows, all computed at the rate of the log, after the low-pass of a torque."""
    log = Log(("a", "b", "c"), T, np.stack([Q[:, 0]] * 3, axis=1), np.ascontiguousarray(rows.T))
    preparation = choose_preparation(log, PreparationSettings(cutoff=CUTOFF))
    motion = prepare_span(preparation, log.segments[0], SPAN)
    assert motion.tau is not None
    return motion.tau.T


def test_products_of_ratio_and_direction_are_low_passed() -> None:
    """Against products at every sample; the ratios are interpolated. The twins low-pass only one factor."""
    rates = compute_rates(Q)
    velocity = np.stack([QD[:, 0], rates[1] * QD[:, 0] + rates[2] * QD[:, 1]])
    sign = np.stack([np.sign(velocity[0]), velocity[1] / np.sqrt(velocity[1] ** 2 + SPEEDS[0, 1] ** 2)])
    rows = prepare(PoseDirections(PAIRS, compute_rates, SPEEDS, ALL_MOVE))
    # The low-pass changes positions by 1e-5, and a reversal lies between two samples: 1 ms of a jump by 2 at 6 Hz.
    expected = low_pass(rates * sign[PAIRS[:, 0]])
    np.testing.assert_allclose(rows, expected, atol=0.02)
    assert np.sqrt(np.mean((rows - expected) ** 2)) < 2e-3
    unfiltered = (rates * sign[PAIRS[:, 0]])[:, 2000:4000:20]
    assert abs(rows[:, : unfiltered.shape[1]] - unfiltered[:, : rows.shape[1]]).max() > 0.3
    constant = prepare(PoseDirections(PAIRS, lambda q: np.ones((3, len(q))), SPEEDS, ALL_MOVE))
    assert abs(constant[1:] - expected[1:]).max() > 0.3


def test_constant_ratios_give_the_directions_of_constant_rates() -> None:
    rates = np.array([[1.0, 0.0], [1.0, 1.0]])
    constant = prepare(DriveDirections(rates, SPEEDS[0]))
    rows = prepare(PoseDirections(PAIRS, lambda q: np.ones((3, len(q))), SPEEDS, ALL_MOVE))
    np.testing.assert_allclose(rows, constant[[0, 1, 1]], atol=1e-12)


@pytest.mark.parametrize("held", [0, 1])
def test_the_velocities_of_held_joints_do_not_count(held: int) -> None:
    joints = np.arange(2) == held
    directions = PoseDirections(PAIRS, lambda q: np.ones((3, len(q))), SPEEDS, ALL_MOVE).without_joints(joints)
    expected = DriveDirections(np.array([[1.0, 0.0], [1.0, 1.0]]), SPEEDS[0]).without_joints(joints)
    np.testing.assert_allclose(prepare(directions), prepare(expected)[[0, 1, 1]], atol=1e-12)


def test_alternatives_follow_each_other() -> None:
    speeds = np.array([[0.0, 0.02], [0.1, 0.3]])
    constant = DriveDirections(np.array([[1.0, 0.0], [1.0, 1.0]]), SPEEDS[0])
    varying = PoseDirections(PAIRS, compute_rates, SPEEDS, ALL_MOVE)
    for directions in (constant, varying):
        together = prepare(directions.with_alternatives(speeds))
        rows = len(directions.row_drives)
        assert directions.with_alternatives(speeds).row_count == 2 * rows
        for k, each in enumerate(speeds):
            alone = prepare(directions.with_alternatives(each[np.newaxis]))
            np.testing.assert_array_equal(together[k * rows : (k + 1) * rows], alone)
        assert abs(together[:rows] - together[rows:]).max() > 1e-2

"""Rests: brute force, noise by propagation through the filter, and motion that only looks like rest."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ytheta.logs.log import Log
from ytheta.logs.preparing.drives import (
    MAX_WIDENING,
    RestRule,
    SignalNoise,
    compute_velocity_noise,
    make_rest_rule,
    remake_rest_rule,
)
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import Preparation, PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_span

RATE, CUTOFF = 500.0, 5.0
PERIOD = 1.0 / CUTOFF


def prepare(q: np.ndarray, qd: np.ndarray | None = None) -> Preparation:
    """The preparation of positions, or of positions and recorded velocities."""
    t = np.arange(len(q)) / RATE
    log = Log(tuple(f"q{j}" for j in range(q.shape[1])), t, q, np.ones_like(q), qd)
    return choose_preparation(
        log, PreparationSettings(cutoff=CUTOFF, velocity="position" if qd is None else "recorded")
    )


def apply_rule(preparation: Preparation, rule: RestRule, pieces: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Times, and whether each joint rests; the log is prepared in a number of pieces."""
    segment = preparation.log.segments[0]
    length, margin = len(preparation.log), preparation.direction_margin
    edges = np.linspace(0, length // preparation.decimate, pieces + 1).astype(int) * preparation.decimate
    parts = [
        prepare_span(preparation, segment, Span(a, b, max(0, a - margin), min(length, b + margin)), rest=rule)
        for a, b in pairwise(edges.tolist())
    ]
    resting = [part.resting for part in parts if part.resting is not None]
    return np.concatenate([part.t for part in parts]), np.concatenate(resting)


def find_resting(preparation: Preparation, rates: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Times, and whether each joint rests; by default every joint is a drive."""
    joints = preparation.log.q.shape[1]
    return apply_rule(preparation, make_rest_rule(preparation, np.eye(joints) if rates is None else rates))


def integrate(velocity: np.ndarray) -> np.ndarray:
    """Positions of a velocity."""
    return np.cumsum(velocity, axis=0) / RATE


def test_rests_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    abrupt = 0
    for _ in range(50):
        speed = np.repeat(rng.choice([0.5, 1.5, 3.0], 30), rng.integers(1, 6, 30))  # slow, below twice that, fast
        shortest, shortest_stick, margin = int(rng.integers(4, 9)), int(rng.integers(2, 4)), int(rng.integers(0, 5))
        rule = RestRule(np.eye(1), np.ones(1, dtype=bool), np.ones(1), shortest, shortest_stick, margin)
        rests = np.zeros(len(speed), dtype=bool)
        for k in range(len(speed)):
            if speed[k] > 1.0:
                continue
            run, wide = (count_around(speed <= limit, k) for limit in (1.0, 2.0))
            sticks = run >= shortest_stick and wide <= MAX_WIDENING * run
            rests[k] = run >= shortest or sticks
            abrupt += sticks and run < shortest
        expected = [rests[max(0, k - margin) : k + margin + 1].any() for k in range(len(speed))]
        np.testing.assert_array_equal(rule.find_rests(speed, 1.0), expected)
        if rests.any() and not rests.all():  # the twin: a longer margin marks more
            assert replace(rule, margin=margin + len(speed)).find_rests(speed, 1.0).all()
    assert abrupt > 20


def count_around(condition: np.ndarray, k: int) -> int:
    """Return the length of the run of True that contains the sample k."""
    first, last = k, k
    while first > 0 and condition[first - 1]:
        first -= 1
    while last + 1 < len(condition) and condition[last + 1]:
        last += 1
    return last - first + 1


@pytest.mark.parametrize("recorded", [False, True])
def test_noise_is_that_of_the_low_passed_velocity(recorded: bool) -> None:
    """Noise alone, sent through the filter of the directions, has the standard deviation computed from the log."""
    rng = np.random.default_rng(1)
    t = np.arange(0.0, 60.0, 1.0 / RATE)[:, None]
    noise = 1e-4 * rng.normal(size=t.shape)
    q, qd = np.sin(2.0 * t), 2.0 * np.cos(2.0 * t)
    preparation = prepare(q, qd + noise) if recorded else prepare(q + noise)
    differentiator = preparation.direction_differentiator
    smooth = differentiator.smooth(noise.T)
    filtered = differentiator.differentiate(smooth, 0 if recorded else 1, slice(0, len(t)))
    expected = filtered[:, 500:-500].std()
    # The noise bandwidth of the filter differs from that of an ideal low-pass by 10 %.
    np.testing.assert_allclose(compute_velocity_noise(preparation, SignalNoise.of(preparation)), expected, rtol=0.15)
    louder = prepare(q, qd + 2.0 * noise) if recorded else prepare(q + 2.0 * noise)
    assert compute_velocity_noise(louder, SignalNoise.of(louder))[0] > 1.5 * expected


def test_the_rule_of_another_preparation_is_that_made_anew() -> None:
    """The noise of the recorded signals is known then, unless the signals are others."""
    rng = np.random.default_rng(3)
    t = np.arange(0.0, 20.0, 1.0 / RATE)[:, None]
    preparation = prepare(np.sin(t) + 1e-4 * rng.normal(size=t.shape))
    rule = make_rest_rule(preparation, np.eye(1))
    lower = choose_preparation(preparation.log, replace(preparation.settings, cutoff=CUTOFF / 2.0))
    remade, anew = remake_rest_rule(rule, preparation, lower), make_rest_rule(lower, np.eye(1))
    assert remade.noise is rule.noise
    assert (remade.speeds, remade.min_samples, remade.margin) == (anew.speeds, anew.min_samples, anew.margin)
    assert remade.speeds != rule.speeds
    other = prepare(np.sin(t) + 2e-4 * rng.normal(size=t.shape))
    assert remake_rest_rule(rule, preparation, other).speeds == make_rest_rule(other, np.eye(1)).speeds


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-4])
def test_rests_are_found_and_quick_reversals_are_not(noise: float) -> None:
    """One joint swings, the other moves, rests for 2 s and moves on; the noise of encoders changes nothing."""
    rng = np.random.default_rng(2)
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    swing = np.cos(2.0 * np.pi * 0.5 * t)
    moves = np.where((t < 5.0) | (t > 7.0), np.sin(2.0 * np.pi * 0.5 * t), 0.0)
    q = integrate(np.stack([swing, moves], axis=1))
    times, resting = find_resting(prepare(q + noise * rng.normal(size=q.shape)))
    assert not resting[:, 0].any()
    inside, outside = (times > 5.0) & (times < 7.0), (times < 5.0 - PERIOD) | (times > 7.0 + PERIOD)
    assert resting[inside, 1].all()
    assert not resting[outside, 1].any()
    # Just before a rest, the low-pass mixes rest and motion.
    assert resting[(times > 5.0 - 0.2 * PERIOD) & (times < 5.0), 1].all()


@pytest.mark.parametrize("held", [1.5, 0.0])
def test_a_drive_that_sticks_when_it_reverses_rests(held: float) -> None:
    """Friction holds it for 1.5 periods of the cut-off, of which the low-pass leaves less; the twin is not held."""
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    free = np.cos(np.pi * t)
    dead = np.sin(0.5 * np.pi * held * PERIOD)
    velocity = np.sign(free) * np.maximum(abs(free) - dead, 0.0)
    preparation = prepare(integrate(velocity[:, None]))
    rule = make_rest_rule(preparation, np.eye(1))
    times, resting = apply_rule(preparation, rule)
    stuck = np.interp(times, t, velocity == 0.0) > 0.5
    assert resting[stuck, 0].all()
    assert bool(resting.any()) is (held > 0.0)
    assert resting.mean() < 0.5
    long_rests = replace(rule, min_stick_samples=len(t))  # only rests of a whole period
    assert not apply_rule(preparation, long_rests)[1].any()


def test_slow_motion_is_not_rest_unless_it_drowns_in_noise() -> None:
    """A hundredth of the highest speed is motion; what is below the noise of the encoder is not."""
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    velocity = np.where(t < 6.0, np.cos(2.0 * np.pi * 0.5 * t), 0.01)[:, None]
    rng = np.random.default_rng(3)
    assert not find_resting(prepare(integrate(velocity)))[1].any()
    coarse = integrate(velocity) + 3e-3 * rng.normal(size=velocity.shape)
    times, resting = find_resting(prepare(coarse))
    assert resting[(times > 6.5) & (times < 11.5)].all()
    assert not resting[times < 5.5].any()


def test_sticking_phases_of_a_creeping_joint_are_left_out() -> None:
    """Stick-slip: the joint sticks for 0.6 s and slips for 0.4 s; the slips are used."""
    t = np.arange(0.0, 20.0, 1.0 / RATE)
    phase = np.mod(t, 1.0)
    slip = np.where(phase < 0.4, np.sin(np.pi * phase / 0.4), 0.0)
    times, resting = find_resting(prepare(np.round(integrate(slip[:, None]), 5)))
    middle = np.mod(times, 1.0)
    assert resting[(middle > 0.45) & (middle < 0.95), 0].all()
    assert not resting[(middle > 0.15) & (middle < 0.25), 0].any()


def test_pieces_find_the_same_rests() -> None:
    rng = np.random.default_rng(4)
    t = np.arange(0.0, 20.0, 1.0 / RATE)[:, None]
    velocity = np.clip(np.sin(2.0 * np.pi * np.array([0.2, 0.33]) * t) - 0.4, 0.0, None)
    preparation = prepare(integrate(velocity) + 1e-5 * rng.normal(size=velocity.shape))
    rule = make_rest_rule(preparation, np.eye(2))
    _, whole = apply_rule(preparation, rule)
    _, pieces = apply_rule(preparation, rule, pieces=7)
    assert 0.1 < whole.mean() < 0.9
    np.testing.assert_array_equal(whole, pieces)


def test_a_drive_of_two_joints_rests_if_its_own_velocity_is_zero() -> None:
    """A motor that turns with q0 + q1 rests while they cancel; it acts on both joints."""
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    first = np.sin(2.0 * np.pi * 0.5 * t) + 2.0
    second = np.where((t > 5.0) & (t < 7.0), -first, first)
    preparation = prepare(integrate(np.stack([first, second], axis=1)))
    times, resting = find_resting(preparation, np.array([[1.0, 1.0]]))
    assert resting[(times > 5.2) & (times < 6.8)].all()
    assert not resting[(times < 4.5) | (times > 7.5)].any()
    assert not find_resting(preparation)[1].any()  # the joints themselves never rest


def test_a_joint_that_never_moves_keeps_its_equations() -> None:
    """All of its equations are alike. The drive of a held and a moving joint follows the moving joint."""
    rng = np.random.default_rng(5)
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    moves = np.where(t < 8.0, np.sin(2.0 * t), np.sin(16.0))
    preparation = prepare(np.stack([moves, 0.0 * t], axis=1) + 1e-4 * rng.normal(size=(len(t), 2)))
    held = np.array([False, True])
    times, alone = apply_rule(preparation, make_rest_rule(preparation, np.eye(2), held))
    assert alone[times > 8.2, 0].all()
    assert not alone[times < 7.5].any()
    assert not alone[:, 1].any()
    _, together = apply_rule(preparation, make_rest_rule(preparation, np.array([[1.0, 1.0]]), held))
    np.testing.assert_array_equal(together[:, 1], alone[:, 0])
    _, unaware = apply_rule(preparation, make_rest_rule(preparation, np.eye(2)))
    assert unaware[:, 1].all()

"""Trajectories start and end at rest, and their unknowns map linearly to motion."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.basis_cases import BASES
from ytheta.errors import InputError
from ytheta.excitation.trajectories import RestToRest, Trajectory

CENTER, SCALE = np.array([0.3, -0.5]), np.array([1.0, 2.0])


def make_space(name: str, *, starts_at_center: bool = False) -> RestToRest:
    return RestToRest(("a", "b"), BASES[name], 2, CENTER, SCALE, starts_at_center, 100)


def draw(space: RestToRest) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(space.unknowns, 2))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("starts_at_center", [False, True])
def test_start_and_end_at_rest(name: str, starts_at_center: bool) -> None:
    space = make_space(name, starts_at_center=starts_at_center)
    assert space.unknowns == 9 - starts_at_center
    trajectory = space.build(draw(space))
    ends = trajectory.evaluate(np.array([0.0, 8.0, 16.0]))
    inside = trajectory.evaluate(np.array([1.0, 9.0]))
    for values in (ends.qd, ends.qdd):
        assert abs(values).max() < 1e-9
    assert abs(inside.qd).min() > 1e-3
    assert inside.q[0] == pytest.approx(inside.q[1], abs=1e-9)
    assert (abs(ends.q - CENTER).max() < 1e-9) == starts_at_center
    assert ends.q[0] == pytest.approx(trajectory.start, abs=1e-12)


@pytest.mark.parametrize("name", BASES)
def test_motion_is_that_of_the_trajectory(name: str) -> None:
    space = make_space(name)
    x = draw(space)
    q, qd, qdd, jerk = space.move(x)
    motion = space.build(x).sample_period(100)
    for ours, expected in ((q, motion.q), (qd, motion.qd), (qdd, motion.qdd), (jerk, motion.jerk)):
        assert ours == pytest.approx(expected, abs=1e-9)
    assert q != pytest.approx(space.build(1.01 * x).sample_period(100).q, abs=1e-4)


def test_pull_back_is_the_transposed_map() -> None:
    space = make_space("fourier")
    x, weights = draw(space), np.random.default_rng(6).normal(size=(4, 100, 2))
    still = space.move(np.zeros_like(x))
    assert (space.pull_back(weights) * x).sum() == pytest.approx(((space.move(x) - still) * weights).sum(), rel=1e-12)


def test_motion_stays_at_the_start_outside_its_duration() -> None:
    space = make_space("fourier")
    trajectory = space.build(draw(space))
    outside = trajectory.evaluate(np.array([-1.0, 16.5]))
    assert outside.q == pytest.approx(np.tile(trajectory.start, (2, 1)))
    assert not outside.qd.any()
    assert not outside.qdd.any()
    assert trajectory.seconds == 16.0
    assert trajectory.base_frequency == 0.125


def test_one_time_gives_one_row() -> None:
    space = make_space("fourier")
    trajectory = space.build(draw(space))
    for one, rows in zip(trajectory(0.5), trajectory(np.array([0.5, 0.7])), strict=True):
        assert one == pytest.approx(rows[:1], abs=1e-9)
        assert one != pytest.approx(rows[1:], abs=1e-3)


def test_slowed_motion_follows_the_same_path() -> None:
    space = make_space("b-spline")
    trajectory: Trajectory = space.build(draw(space))
    slow = trajectory.slow_down(4.0)
    t = np.linspace(0.0, 16.0, 50)
    fast_motion, slow_motion = trajectory.evaluate(t), slow.evaluate(4.0 * t)
    assert slow.seconds == 64.0
    assert slow_motion.q == pytest.approx(fast_motion.q, abs=1e-9)
    assert 4.0 * slow_motion.qd == pytest.approx(fast_motion.qd, abs=1e-9)
    assert 16.0 * slow_motion.qdd == pytest.approx(fast_motion.qdd, abs=1e-9)
    assert abs(slow_motion.qd - fast_motion.qd).max() > 0.1
    for factor in (1e308, 1e-300):
        with pytest.raises(InputError, match="give a factor with which it takes"):
            trajectory.slow_down(factor)

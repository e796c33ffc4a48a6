"""Noise of the regressor: against random changes of the motion, and with slow joints left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta
from tests.support.estimation_cases import make_case
from ytheta.identification.equations.differential import Differential
from ytheta.identification.estimators.total_least_squares import (
    MotionNoise,
    estimate_motion_noise,
    propagate_motion_noise,
)


def test_covariances_are_those_of_random_noise() -> None:
    known = make_case(ytheta.load("ha-scara"), 400)
    problem, motion = known.problem(), known.motion
    assert isinstance(problem.form, Differential)
    rng = np.random.default_rng(4)
    noise = MotionNoise(np.full(4, 1e-3), np.array([0.02, 0.01, 0.0, 0.03]), np.array([0.1, 0.2, 0.3, 0.0]))
    covariances = propagate_motion_noise(problem, problem.form, noise)
    Y = problem.form.kernel(motion.q, motion.qd, motion.qdd)
    sums = np.zeros((4, Y.shape[2], Y.shape[2]))
    times = 200
    for _ in range(times):
        shaken = [
            getattr(motion, name) + getattr(noise, name) * rng.normal(size=Y.shape[:2]) for name in ("q", "qd", "qdd")
        ]
        change = problem.form.kernel(*shaken) - Y
        sums += np.einsum("sja,sjb->jab", change, change) / (times * len(Y))
    coulomb = np.array(
        [name.endswith(".fc") for name in known.base.names]
    )  # its sign flips are not linear in the noise
    for j, columns in enumerate(problem.layout.columns):
        kept = ~coulomb[columns]
        drawn = sums[j][np.ix_(columns, columns)][np.ix_(kept, kept)]
        propagated = covariances[j][np.ix_(kept, kept)]
        sizes = np.sqrt(np.maximum(np.diag(drawn), 1e-30))
        np.testing.assert_allclose(propagated / np.outer(sizes, sizes), drawn / np.outer(sizes, sizes), atol=0.05)
        assert abs(propagated * 1.2 - drawn)[sizes > 1e-9].max() > 0.1 * drawn.max()  # the twin: 10 % more noise


def test_slow_joints_and_pieces_are_treated_like_those_of_the_equations() -> None:
    known = make_case(ytheta.load("ha-scara"), 400)
    noise = MotionNoise(*(np.full(4, size) for size in (1e-3, 1e-2, 1e-1)))
    speeds = np.array([np.inf, 0.3, 0.0, 0.0])
    problem, pieces = known.problem(min_speed=speeds), known.problem(min_speed=speeds, piece_length=70, threads=2)
    assert isinstance(problem.form, Differential)
    whole, merged = (propagate_motion_noise(each, problem.form, noise) for each in (problem, pieces))
    unmasked = known.problem()
    assert isinstance(unmasked.form, Differential)
    everything = propagate_motion_noise(unmasked, unmasked.form, noise)
    assert not whole[0].any()
    for a, b in zip(whole, merged, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-15)
    assert everything[0].any()  # the twin: no joint is left out
    assert not np.allclose(everything[1], whole[1], rtol=1e-3)


def test_estimated_noise_is_the_planted_one() -> None:
    known = make_case(ytheta.load("ha-scara"), 2000)
    rng = np.random.default_rng(5)
    sizes = {"q": 2e-3, "qd": 0.05, "qdd": 0.5}
    shaken = {k: getattr(known.motion, k) + size * rng.normal(size=(2000, 4)) for k, size in sizes.items()}
    noise = estimate_motion_noise(replace(known, motion=replace(known.motion, **shaken)).problem())
    for name, size in sizes.items():
        np.testing.assert_allclose(getattr(noise, name), size, rtol=0.15)  # noise within the band is not counted
        assert (getattr(noise, name) < size).all()
    exact = estimate_motion_noise(known.problem())
    assert (exact.qdd < 0.05 * sizes["qdd"]).all()  # the twin

"""Random differences between runs: their standard deviations, and physical consistency."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import numpy as np

import ytheta as yt
from tests.support.simulate_cases import LEARN, PUMA, VARIATION
from ytheta.robot.inertia import Inertia
from ytheta.simulation.variation import Variation, sample_variation


def test_samples_have_the_requested_standard_deviation() -> None:
    names = PUMA.parameter_names
    sampled = sample_variation(
        PUMA, VARIATION, gains=3, unknown_names=LEARN, streams=np.random.default_rng(0).spawn(4000)
    )
    factors = np.log(
        sampled.theta[:, [names.index("link2.m"), names.index("link3.m")]]
        / PUMA.numeric.theta[[names.index("link2.m"), names.index("link3.m")]]
    )
    for values, spread in (
        (factors, 0.2),
        (np.log(sampled.gains), 0.1),
        (sampled.position, 0.05),
        (sampled.velocity, 0.02),
    ):
        np.testing.assert_allclose(values.std(axis=0), spread, rtol=0.05)
        np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=0.07 * spread)
    assert abs(np.corrcoef(factors.T)[0, 1]) < 0.06
    equal = sample_variation(PUMA, Variation(), gains=0, unknown_names=LEARN, streams=np.random.default_rng(0).spawn(2))
    np.testing.assert_array_equal(equal.theta, np.tile(PUMA.numeric.theta, (2, 1)))


def test_a_varied_link_stays_physically_consistent() -> None:
    robot = yt.load("ur10")
    sampled = sample_variation(
        robot,
        Variation(spread=80.0, initial_error=80.0),
        gains=0,
        unknown_names=robot.parameter_names,
        streams=np.random.default_rng(0).spawn(20),
    )
    for theta in (*sampled.theta, *(sampled.estimate * robot.numeric.theta)):
        for k in range(6):
            assert np.linalg.eigvalsh(Inertia(tuple(theta[10 * k : 10 * k + 10].tolist())).pseudo).min() > 0.0
    perturbed = robot.numeric.theta[:10] * np.exp(0.8 * np.random.default_rng(0).normal(size=(20, 10)))
    smallest = [np.linalg.eigvalsh(Inertia(tuple(ten.tolist())).pseudo).min() for ten in perturbed]
    assert min(smallest) < 0.0  # the twin: with one factor per parameter, inertias are not physically consistent


def test_streams_are_used_one_after_the_other() -> None:
    """Generators have 2 kB each, more than the results of a run, so that not all of them exist at once."""
    alive: list[weakref.ref[np.random.Generator]] = []

    class Stream(np.random.Generator):
        """Can be referenced weakly."""

    def make_streams() -> Iterator[np.random.Generator]:
        parent = np.random.default_rng(0)
        for _ in range(50):
            alive[:] = [reference for reference in alive if reference() is not None]
            assert len(alive) <= 2
            stream = Stream(parent.spawn(1)[0].bit_generator)
            alive.append(weakref.ref(stream))
            yield stream

    lazy = sample_variation(PUMA, VARIATION, gains=3, unknown_names=LEARN, streams=make_streams())
    whole = sample_variation(PUMA, VARIATION, gains=3, unknown_names=LEARN, streams=np.random.default_rng(0).spawn(50))
    for name, values in vars(whole).items():
        np.testing.assert_array_equal(getattr(lazy, name), values)

"""The nearest payload that can exist, compared with many others that can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.support.payload_cases import BODY
from ytheta.identification.consistency.nearest import MARGIN
from ytheta.payload.posterior import PayloadPosterior, make_body_prior
from ytheta.payload.result import find_consistent_payload
from ytheta.robot.inertia import Inertia, Ten

STD = np.array([0.02, *[0.004] * 3, *[0.01] * 6])


def _make_posterior(theta: Ten) -> PayloadPosterior:
    prior = make_body_prior(float(theta[0]), theta[1:4] / theta[0], 30.0)
    return PayloadPosterior(theta, np.zeros(0), np.diag(STD**2), prior, None)


def test_a_body_stays_as_it_is() -> None:
    nearest = find_consistent_payload(_make_posterior(BODY.vector))
    assert nearest.distance == 0.0
    np.testing.assert_array_equal(nearest.inertia.vector, BODY.vector)


def _draw_bodies(posterior: PayloadPosterior) -> Iterator[Ten]:
    """Yield bodies of random points near the centre of mass, a little of the reference added to each."""
    rng = np.random.default_rng(0)
    center = posterior.theta[1:4] / posterior.theta[0]
    for _ in range(500):
        points = [
            Inertia.point_mass(float(mass), tuple(place))
            for mass, place in zip(rng.uniform(0.1, 1.0, 6), center + 0.1 * rng.normal(size=(6, 3)), strict=True)
        ]
        pseudo = sum((point.pseudo for point in points), MARGIN * posterior.prior.reference)
        yield Inertia.from_pseudo(pseudo).vector


def _count_nearer(posterior: PayloadPosterior, theta: Ten) -> int:
    """Number of bodies towards which the distance to the estimate decreases: none, if theta is the nearest body."""
    gradient = (theta - posterior.theta) / STD**2
    return sum(bool(gradient @ (body - theta) < -1e-4 * abs(gradient) @ abs(body)) for body in _draw_bodies(posterior))


def test_no_other_body_is_nearer() -> None:
    """The distance grows towards every other body, which in a convex set means that the solution is the nearest."""
    theta = BODY.vector - np.array([0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.05, 0.0, 0.0, 0.02])  # moments far too small
    posterior = _make_posterior(theta)
    nearest = find_consistent_payload(posterior)
    assert not Inertia(tuple(theta.tolist())).consistency()
    assert nearest.inertia.consistency()
    solution = nearest.inertia.vector
    assert np.linalg.norm((solution - theta) / STD) == pytest.approx(nearest.distance, rel=1e-9)
    assert _count_nearer(posterior, solution) == 0
    assert _count_nearer(posterior, BODY.vector) > 0  # the twin: a body that is not the nearest


def test_a_body_is_found_for_a_negative_mass() -> None:
    """Also if the solver finds none: the compact body of the prior takes its place, which is at no distance."""
    posterior = replace(_make_posterior(BODY.vector), theta=-BODY.vector)
    nearest = find_consistent_payload(posterior)
    assert nearest.inertia.consistency()
    assert nearest.inertia.mass > 0.0
    assert nearest.distance > 100.0
    without_freedom = replace(posterior, covariance=np.zeros((10, 10)))
    assert find_consistent_payload(without_freedom).inertia.consistency()
    assert find_consistent_payload(without_freedom).distance == np.inf

"""The prior of a payload: a ball, the same in every frame."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.payload.posterior import DENSITY, MAX_CENTER, RELATIVE_WIDTH, compute_ball_radius, make_body_prior
from ytheta.robot.inertia import Inertia

CENTER = np.array([0.1, -0.2, 0.3])


def _make_ball(mass: float) -> Inertia:
    moment = 0.4 * mass * compute_ball_radius(mass) ** 2
    return Inertia.about_center(mass, tuple(CENTER.tolist()), tuple(map(tuple, moment * np.eye(3))))  # type: ignore[arg-type]


def test_the_ball_has_its_density() -> None:
    assert compute_ball_radius(2.0) ** 3 * 4.0 / 3.0 * np.pi * DENSITY == pytest.approx(2.0, rel=1e-12)


def test_the_prior_prefers_the_ball() -> None:
    """The moments of the ball are its mode, whatever the centre; its pseudo-inertia is the reference."""
    prior, ball = make_body_prior(2.0, CENTER, 30.0), _make_ball(2.0)
    gradient = prior.precision @ ball.vector - prior.pull
    np.testing.assert_allclose(gradient[4:], 0.0, atol=1e-8 * abs(prior.pull).max())
    np.testing.assert_allclose(prior.reference, ball.pseudo, atol=1e-12)
    larger = Inertia(tuple((ball.vector * np.array([1.0, 1.0, 1.0, 1.0, *[1.1] * 6])).tolist()))
    twin = prior.precision @ larger.vector - prior.pull
    assert abs(twin[4:]).max() > 1e-3 * abs(prior.pull).max()


def test_the_width_is_that_of_the_second_moments() -> None:
    """A body with twice the second moments is sqrt(3) / RELATIVE_WIDTH standard deviations away."""
    prior, ball = make_body_prior(2.0, CENTER, 30.0), _make_ball(2.0)
    moment = 0.4 * 2.0 * compute_ball_radius(2.0) ** 2
    change = np.array([0.0, 0.0, 0.0, 0.0, moment, 0.0, moment, 0.0, 0.0, moment])
    assert change @ prior.precision @ change == pytest.approx(3.0 / RELATIVE_WIDTH**2, rel=1e-12)
    assert ball.mass == 2.0


def test_a_centre_far_away_is_not_believed() -> None:
    """The prior stays near the arm, if an estimate of little mass has its centre many metres away."""
    far, limit = (make_body_prior(2.0, np.array([x, 0.0, 0.0]), 30.0) for x in (40.0, MAX_CENTER))
    np.testing.assert_array_equal(far.precision, limit.precision)
    assert abs(far.precision - make_body_prior(2.0, np.array([0.5, 0.0, 0.0]), 30.0).precision).max() > 0.0
    light, zero = (make_body_prior(1e-6, center, 30.0) for center in (CENTER, np.zeros(3)))
    np.testing.assert_array_equal(light.precision, zero.precision)


def test_no_mass_is_replaced_by_a_little() -> None:
    prior = make_body_prior(-1.0, CENTER, 30.0)
    assert np.isfinite(prior.precision).all()
    assert np.linalg.eigvalsh(prior.reference)[0] > 0.0

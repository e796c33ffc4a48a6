"""Leakage: its formula, bounded drift, the cost for tracking, and invalid settings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.adaptation_rates import make_rate_function, two_link_law
from tests.support.lyapunov import INITIAL_ESTIMATE, TRUTH, UNKNOWNS, two_link_arm
from tests.support.wrapped_adaptation import (
    LOWER,
    NOISE,
    UPPER,
    late_tracking_error,
    random_inputs,
    simulate_noise_at_rest,
)
from ytheta.control import Gradient, Leakage, Projection
from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.errors import InputError


def test_rate_is_the_formula() -> None:
    Gamma, prior = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 0.0, 0.1])
    to_description = make_rate_function(Leakage(Gradient(Gamma), 0.3), two_link_arm(), UNKNOWNS)
    to_prior = make_rate_function(Leakage(Gradient(Gamma), 0.3, prior.tolist()), two_link_arm(), UNKNOWNS)
    for seed in range(5):
        x, slope, error = random_inputs(seed)
        np.testing.assert_allclose(to_description(x, slope, error), -Gamma * slope - 0.3 * (x - TRUTH), rtol=1e-12)
        np.testing.assert_allclose(to_prior(x, slope, error), -Gamma * slope - 0.3 * (x - prior), rtol=1e-12)


def test_leakage_bounds_the_drift() -> None:
    """The estimate settles where the leak cancels the drift, at the distance drift rate / leak from the prior."""
    run = simulate_noise_at_rest("leakage")
    half = len(run.t) // 2
    error = run.x[:, 3] - TRUTH[3]
    assert float(error[half:].mean()) == pytest.approx(5.0 * 2.0 * NOISE**2 / 3.0 / 0.5, rel=0.15)
    assert abs(error[half:] - error[half:].mean()).max() < 0.3 * error[half:].mean()


def test_a_small_leak_hardly_affects_tracking() -> None:
    """From a wrong estimate, with a prior that is just as wrong."""
    gradient = Gradient(5.0)
    without_adaptation = late_tracking_error(1e-9)
    assert late_tracking_error(gradient) < 0.05 * without_adaptation
    assert late_tracking_error(Leakage(gradient, 0.02, INITIAL_ESTIMATE)) < 0.1 * without_adaptation
    assert late_tracking_error(Leakage(gradient, 20.0, INITIAL_ESTIMATE)) > 0.2 * without_adaptation  # too large a leak


@pytest.mark.parametrize(
    ("adaptation", "message"),
    [
        (Leakage(Gradient(0.5), 0.0), "leak has the entry 0"),
        (Leakage(Gradient(-0.5), 1.0), "adaptation has the entry -0.5"),
        (
            Leakage(Gradient(0.5), 1.0, [1.0, 2.0]),
            r"towards has shape \(2,\).*or 4 numbers, one per unknown parameter",
        ),
    ],
)
def test_invalid_settings_are_refused(adaptation: Adaptation, message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_link_law(adaptation)


def test_a_prior_outside_the_bounds_is_refused() -> None:
    law = two_link_law(Leakage(Projection(Gradient(0.5), LOWER, UPPER), 1.0, [2.0, 9.0, 0.18, 0.037]))
    with pytest.raises(
        InputError, match=r"prior of the leakage is not a valid estimate: the initial estimate load\.m = 9"
    ):
        law.init(np.zeros(2), np.zeros(2))

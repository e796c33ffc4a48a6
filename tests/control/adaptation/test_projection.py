"""Projection: its formula, bounds that hold, its Lyapunov function, and invalid settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.adaptation_rates import make_rate_function, two_link_law
from tests.support.control_loop import simulate_continuous
from tests.support.lyapunov import REFERENCE, UNKNOWNS, never_grows, two_link_arm
from tests.support.wrapped_adaptation import LOWER, UPPER, late_tracking_error, random_inputs, simulate_noise_at_rest
from ytheta.control import Gradient, Leakage, Natural, Projection
from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.errors import InputError

PROJECTED = make_rate_function(Projection(Gradient(1.0), LOWER, UPPER, step=1e-3), two_link_arm(), UNKNOWNS)


def test_rate_is_the_formula() -> None:
    projection = Projection(Gradient(2.0), LOWER, UPPER, margin=0.1, step=0.0)
    rate = make_rate_function(projection, two_link_arm(), UNKNOWNS)
    layer = 0.1 * (UPPER - LOWER)
    in_layer = 0
    for seed in range(60):
        x, slope, error = random_inputs(seed)
        inner_rate = -2.0 * slope
        distance = np.where(inner_rate > 0.0, UPPER - x, x - LOWER)
        in_layer += int((distance < layer).sum())
        expected = inner_rate * np.minimum(1.0, distance / layer)
        np.testing.assert_allclose(rate(x, slope, error), expected, rtol=1e-12)
    assert in_layer > 10
    for bound, outwards in ((LOWER, 1.0), (UPPER, -1.0)):
        slope = np.full(4, outwards)
        np.testing.assert_array_equal(rate(bound, slope, error), np.zeros(4))
        np.testing.assert_array_equal(rate(bound, -slope, error), 2.0 * slope)  # inwards the rate is unchanged


def test_drift_stays_within_the_bounds() -> None:
    run = simulate_noise_at_rest("projection")
    assert ((run.x >= LOWER) & (run.x <= UPPER)).all()
    assert run.x[-1, 3] > UPPER[3] - 0.06 * (UPPER - LOWER)[3]  # it ends in the layer of the bound


def test_wide_bounds_hardly_affect_tracking() -> None:
    bounds = np.array([0.1, 0.1, -0.3, 0.0]), np.array([5.0, 5.0, 1.0, 0.5])
    without_adaptation = late_tracking_error(1e-9)
    assert late_tracking_error(Projection(Gradient(5.0), *bounds, step=2e-3)) < 0.1 * without_adaptation


@given(st.integers(0, 10_000), st.floats(-3.0, 9.0))
def test_no_step_leaves_the_bounds(seed: int, exponent: float) -> None:
    """For slopes of any size. Steps ten times as long as the setting leave the bounds."""
    x, slope, error = random_inputs(seed)
    slope = slope / abs(slope).max() * 10.0**exponent
    rate = PROJECTED(x, slope, error)
    after = x + 1e-3 * rate
    rounding = 1e-14 * UPPER
    assert ((after >= LOWER - rounding) & (after <= UPPER + rounding)).all()
    if exponent > 6.0:
        beyond = x + 1e-2 * rate
        assert ((beyond < LOWER) | (beyond > UPPER)).any()


def test_projection_does_not_increase_the_rate_of_the_lyapunov_function() -> None:
    """theta_tildeᵀ Gamma^-1 rate is at most that of the gradient; for a truth at a bound, it may exceed it."""
    Gamma, layer = np.array([1.0, 2.0, 3.0, 4.0]), 0.1 * (UPPER - LOWER)
    projection = Projection(Gradient(Gamma), LOWER, UPPER, margin=0.1, step=0.0)
    rate = make_rate_function(projection, two_link_arm(), UNKNOWNS)
    rng, violations = np.random.default_rng(0), 0
    for seed in range(200):
        x, slope, error = random_inputs(seed)
        change = rate(x, slope, error) + Gamma * slope
        inside, at_bound = rng.uniform(LOWER + layer, UPPER - layer), rng.choice([LOWER, UPPER])
        assert ((x - inside) / Gamma * change <= 1e-12).all()
        violations += bool(((x - at_bound) / Gamma * change > 1e-3).any())
    assert violations > 10


def test_lyapunov_function_falls_if_the_truth_is_within_the_bounds() -> None:
    """The estimate starts in a layer and is driven towards its bound. In the twin, the truth is outside the bounds."""
    settings: dict[str, Any] = {"plant": two_link_arm(), "seconds": 1.5, "rtol": 1e-8}
    estimate = np.array([1.0, 0.5, 0.05, 0.07])
    lower, upper = np.array([0.9, 0.45, 0.0, 0.0]), np.array([3.0, 2.0, 0.4, 0.075])
    projected, free, outside = (
        simulate_continuous(two_link_law(adaptation), REFERENCE, estimate=estimate, **settings)
        for adaptation in (
            Projection(Gradient(2.0), lower, upper, step=0.0),
            Gradient(2.0),
            Projection(Gradient(2.0), lower, np.array([1.1, 0.6, 0.1, 0.075]), step=0.0),
        )
    )
    assert never_grows(projected, tolerance=1e-7)
    assert ((projected.x >= lower - 1e-9) & (projected.x <= upper + 1e-9)).all()  # rounding of the integration
    assert not ((free.x >= lower - 0.1) & (free.x <= upper + 0.1)).all()
    assert not never_grows(outside, tolerance=1e-7)


@pytest.mark.parametrize(
    ("adaptation", "message"),
    [
        (Projection(Gradient(0.5), 2.0, 1.0), "bounds of link2.m are 2 and 1; lower must be less than upper"),
        (Projection(Gradient(0.5), [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]), "bounds of load.Izz are 1 and 1"),
        (Projection(Gradient(0.5), [0.0, 1.0], 3.0), r"lower has shape \(2,\)"),
        (Projection(Gradient(0.5), 0.0, np.inf), "upper has the entry inf; give finite numbers"),
        (Projection(Gradient(0.5), 0.0, 1.0, margin=0.0), "margin is 0.0"),
        (Projection(Gradient(0.5), 0.0, 1.0, margin=0.6), "margin is 0.6"),
        (Projection(Gradient(0.5), 0.0, 1.0, step=-1.0), "step is -1.0"),
        (Projection(Gradient(np.eye(4) + 0.1), 0.0, 3.0), "the metric of Gradient inside it couples several"),
        (Projection(Leakage(Gradient(np.eye(4) + 0.1), 1.0), 0.0, 3.0), "the metric of Leakage inside it"),
    ],
)
def test_invalid_settings_are_refused(adaptation: Adaptation, message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_link_law(adaptation)


def test_projection_of_whole_links_is_refused() -> None:
    with pytest.raises(InputError, match="the metric of Natural inside it couples several"):
        two_link_law(Projection(Natural(0.5), -1.0, 5.0), learn=("load.*",))
    two_link_law(Projection(Natural(0.5), 0.1, 5.0), learn=("joint*.fv",))  # single parameters


def test_an_estimate_outside_the_bounds_is_refused() -> None:
    q = np.zeros(2)
    law = two_link_law(Projection(Gradient(0.5), LOWER, UPPER))
    with pytest.raises(
        InputError, match=r"initial estimate load.m = 9 is outside its bounds 0.24 and 3.6; start within"
    ):
        law.init(q, q, estimate=np.array([2.0, 9.0, 0.18, 0.037]))
    law.init(q, q, estimate=LOWER)

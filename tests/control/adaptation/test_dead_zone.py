"""Dead zone: its formula, no drift from noise within the zone, the cost for tracking, and invalid settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.adaptation_rates import make_rate_function, simulate_sampled, two_link_law
from tests.support.lyapunov import TRUTH, UNKNOWNS, two_link_arm
from tests.support.wrapped_adaptation import AT_REST, NOISE, late_tracking_error, random_inputs, simulate_noise_at_rest
from ytheta.control import DeadZone, Gradient, Leakage
from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.errors import InputError


@pytest.mark.parametrize("width", [0.7, [0.4, 1.5]])
def test_rate_is_the_formula(width: Any) -> None:
    """The rate is zero inside, reduced by (|r| - width) / |r| outside, and continuous at the border."""
    rate = make_rate_function(DeadZone(Gradient(2.0), width), two_link_arm(), UNKNOWNS)
    inside = 0
    for seed in range(20):
        x, slope, error = random_inputs(seed)
        norm = float(np.linalg.norm(error / np.asarray(width)))
        inside += norm <= 1.0
        expected = -2.0 * slope * max(0.0, norm - 1.0) / norm
        np.testing.assert_allclose(rate(x, slope, error), expected, rtol=1e-12, atol=1e-15)
        at_border = rate(x, slope, error / norm * (1.0 + 1e-9))
        assert abs(at_border).max() < 1e-8 * abs(slope).max()
        np.testing.assert_array_equal(rate(x, slope, 0.0 * error), np.zeros(4))
    assert 0 < inside < 20


def test_a_dead_zone_stops_the_drift() -> None:
    """The noise of both joints reaches 0.42 rad/s, and the arm reacts to it: a width of 0.7 is enough."""
    run = simulate_noise_at_rest("dead zone")
    np.testing.assert_array_equal(run.x[-1], run.x[0])
    law = two_link_law(DeadZone(Gradient(1.0), 0.2))
    narrow = simulate_sampled(law, AT_REST, plant=two_link_arm(), seconds=4.0, noise=NOISE)
    assert narrow.x[-1, 3] > 2.0 * TRUTH[3]  # the twin: a zone smaller than the noise


def test_a_small_zone_hardly_affects_tracking() -> None:
    without_adaptation = late_tracking_error(1e-9)
    assert late_tracking_error(DeadZone(Gradient(5.0), 0.02)) < 0.1 * without_adaptation


@pytest.mark.parametrize(
    ("adaptation", "message"),
    [
        (DeadZone(Gradient(0.5), -0.1), "width has the entry -0.1"),
        (DeadZone(Gradient(0.5), [0.1, 0.2, 0.3]), r"width has shape \(3,\)"),
        (DeadZone(Leakage(Gradient(0.5), -1.0), 0.1), "leak has the entry -1"),
    ],
)
def test_invalid_settings_are_refused(adaptation: Adaptation, message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_link_law(adaptation)

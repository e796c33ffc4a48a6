"""Gradient adaptation: its drift under measurement noise."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.adaptation_rates import simulate_sampled
from tests.support.lyapunov import TRUTH, two_link_arm
from tests.support.wrapped_adaptation import AT_REST, NOISE, law_with, simulate_noise_at_rest


def test_noise_makes_the_gradient_drift() -> None:
    """At rest the estimated inertia grows without bound: vd = -Lambda ed and r = ed + Lambda e contain the same noise.

    The mean rate is Gamma Lambda times the variance of the noise in both joints; that of uniform noise is a third of
    its limit squared.
    """
    run = simulate_noise_at_rest("gradient")
    half = len(run.t) // 2
    Izz_error = run.x[:, 3] - TRUTH[3]
    expected = 5.0 * 2.0 * NOISE**2 / 3.0
    assert Izz_error[half] == pytest.approx(expected * 5.0, rel=0.15)
    assert Izz_error[-1] == pytest.approx(expected * 10.0, rel=0.15)  # it keeps growing
    without_noise = simulate_sampled(law_with("gradient"), AT_REST, plant=two_link_arm(), seconds=4.0)
    np.testing.assert_allclose(without_noise.x[-1], TRUTH, rtol=1e-12)  # the twin

"""Standard deviations of an identification against repeated draws of noise, and the autocorrelation of residuals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.known_arm import known_arm


def compute_coverage(
    draws: int,
    cutoff: float | None,
    *,
    factor: float = 1.0,
    estimator: str = "weighted",
    form: str = "differential",
) -> float:
    """Return the share of 95 % intervals, scaled by ``factor``, that contain the true value."""
    arm, rng = known_arm(), np.random.default_rng(1)
    inside = []
    for _ in range(draws):
        fit = arm.identify(arm.draw_source(rng, cutoff), estimator, form)
        inside.append(abs(fit.beta - arm.beta) <= 1.959964 * factor * fit.std)
    return float(np.mean(inside))


def test_95_percent_intervals_contain_95_percent_of_the_true_values() -> None:
    assert 0.93 <= compute_coverage(500, None) <= 0.97
    assert compute_coverage(60, None, factor=0.7) < 0.93  # the twin: intervals that are too short


def test_95_percent_intervals_are_right_after_a_low_pass() -> None:
    """Low-passed noise is correlated: the autocorrelation time widens the intervals."""
    assert 0.93 <= compute_coverage(80, 8.0) <= 0.97


@pytest.mark.parametrize(
    ("estimator", "form"),
    [("sequential", "differential"), ("lin", "differential"), ("weighted", "integral"), ("weighted", "momentum")],
)
def test_95_percent_intervals_of_other_estimators_and_forms_are_right(estimator: str, form: str) -> None:
    """With 40 draws of 12 parameters, the share has a standard deviation of about one percent."""
    assert 0.91 <= compute_coverage(40, 8.0, estimator=estimator, form=form) <= 0.99


def test_the_autocorrelation_time_distinguishes_white_from_low_passed_noise() -> None:
    arm, rng = known_arm(), np.random.default_rng(2)
    white = arm.identify(arm.draw_source(rng, None))
    low_passed = arm.identify(arm.draw_source(rng, 8.0))
    assert (white.fit.autocorrelation_time < 1.3).all()
    assert (low_passed.fit.autocorrelation_time > 3.0).all()

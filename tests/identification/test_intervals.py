"""95 % intervals hold, also if the description is wrong: a small calibration with fixed seeds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import simulate_case

QUANTILE = 1.96  # of a 95 % interval, in standard deviations
FRICTION = ("viscous", "coulomb", "offset")
CASES = (  # robot, whether the motion is rich, a link with a load that the description lacks, number of robots
    ("lu-two-link", True, "", 8),
    ("lu-two-link", False, "", 8),
    ("lu-two-link", False, "link1", 8),
    ("ur10", True, "", 3),
    ("ur10", False, "", 3),
    ("ur10", False, "wrist_3_link", 3),
)


@cache
def collect_deviations(name: str, rich: bool, missing_load: str, count: int) -> np.ndarray:
    """(estimate - truth) / std of all base parameters of several robots."""
    deviations = []
    for seed in range(count):
        case = simulate_case(name, seed, rich=rich, missing_load=missing_load)
        fit = yt.identify(case.description, case.fit, rotor_inertia=False, friction=FRICTION)
        assert isinstance(fit.base, yt.BaseParameters)
        deviations.append((fit.beta - case.compute_true_base(fit.base)) / fit.std)
    return np.concatenate(deviations)


@pytest.mark.parametrize("case", CASES)
def test_intervals_of_each_case_hold(case: tuple[str, bool, str, int]) -> None:
    """About 100 to 160 intervals, correlated within each robot: the coverage has a standard deviation of about 4 %."""
    assert np.mean(abs(collect_deviations(*case)) < QUANTILE) >= 0.84


def test_intervals_of_all_cases_together_hold() -> None:
    """About 800 intervals: the coverage has a standard deviation of about 2 %."""
    deviations = np.concatenate([collect_deviations(*case) for case in CASES])
    assert 0.90 <= np.mean(abs(deviations) < QUANTILE) <= 0.985
    # The twins: intervals of half the width do not hold, and those of twice the width always do.
    assert np.mean(abs(deviations) < 0.5 * QUANTILE) < 0.8
    assert np.mean(abs(deviations) < 2.0 * QUANTILE) > 0.985

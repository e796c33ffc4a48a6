"""The default criterion: both condition numbers and the expected standard deviations together, with a guard.

Identity      log plain + SCALED_WEIGHT · log scaled + MEAN_WEIGHT · log (mean std)
              + GUARD_WEIGHT · sum of max(0, log (std / limit))², over the mean and the worst std

The scaled condition number alone is a trap: its optimum slows joints down and identifies worse than random motion. The
plain one alone depends on units. The guard compares the geometric mean and the worst of the expected standard
deviations with those of a D-optimal trajectory; below ``MAX_STD_RATIO`` times these, it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.criteria.condition import (
    log_condition,
    scale_columns,
    smooth_log_condition,
    smooth_log_scaled_condition,
)
from ytheta.excitation.criteria.information import Grams, Information
from ytheta.excitation.criteria.optimality import invert, log_mean_std, log_worst_std

SCALED_WEIGHT = 1.5
MEAN_WEIGHT = 0.3
GUARD_WEIGHT = 1.5
MAX_STD_RATIO = 1.3  # mean and worst standard deviation, relative to those of the D-optimal trajectory


@dataclass(frozen=True, eq=False)
class Balanced:
    """Condition numbers from ``conditioning``, standard deviations from ``noise``.

    ``reference`` has the logarithms of the geometric mean and of the worst standard deviation of a D-optimal
    trajectory, or is None if there is no guard.
    """

    conditioning: Information
    noise: Information
    reference: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return "balanced"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        M = self.conditioning.sum_up(grams)
        plain, slope = smooth_log_condition(M, sharpness)
        scaled, scaled_slope = smooth_log_scaled_condition(M, sharpness)
        covariance = invert(self.noise.sum_up(grams))
        mean, mean_slope = log_mean_std(covariance)
        excess = self._find_excess(0, mean)
        total = plain + SCALED_WEIGHT * scaled + MEAN_WEIGHT * mean + GUARD_WEIGHT * excess**2
        noise_slope = (MEAN_WEIGHT + 2.0 * GUARD_WEIGHT * excess) * mean_slope
        if self.reference is not None:
            worst, worst_slope = log_worst_std(covariance, sharpness)
            excess = self._find_excess(1, worst)
            total += GUARD_WEIGHT * excess**2
            noise_slope = noise_slope + 2.0 * GUARD_WEIGHT * excess * worst_slope
        slopes = self.conditioning.distribute(slope + SCALED_WEIGHT * scaled_slope) + self.noise.distribute(noise_slope)
        return total, slopes

    def measure(self, grams: Grams) -> float:
        M = self.conditioning.sum_up(grams)
        conditions = log_condition(M) + SCALED_WEIGHT * log_condition(scale_columns(M))
        std = self.noise.expect_std(grams)
        values = float(np.log(std).mean()), float(np.log(std).max())
        guard = sum(self._find_excess(k, value) ** 2 for k, value in enumerate(values))
        return conditions + MEAN_WEIGHT * values[0] + GUARD_WEIGHT * guard

    def _find_excess(self, k: int, value: float) -> float:
        return 0.0 if self.reference is None else max(0.0, value - self.reference[k] - float(np.log(MAX_STD_RATIO)))

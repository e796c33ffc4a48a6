"""The default criterion: both condition numbers and the expected standard deviations together, with a guard.

Identity      log plain + log scaled + MEAN_WEIGHT · log (mean std) + GUARD_WEIGHT · sum of max(0, log (std / limit))²

The scaled condition number alone is a trap: its optimum slows joints down and identifies worse than random motion. The
plain one alone depends on units. The guard compares the geometric mean and the worst of the expected standard
deviations with those of a D-optimal trajectory; below ``MAX_STD_RATIO`` times these, it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.criteria.condition import PlainCondition, ScaledCondition
from ytheta.excitation.criteria.information import Grams, Information
from ytheta.excitation.criteria.optimality import ExpectedDeviation

MEAN_WEIGHT = 0.3
GUARD_WEIGHT = 3.0
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
        total, sensitivities = 0.0, np.zeros_like(grams)
        for term in (PlainCondition(self.conditioning), ScaledCondition(self.conditioning)):
            value, slope = term.evaluate(grams, sharpness)
            total, sensitivities = total + value, sensitivities + slope
        for k, term in enumerate(self._deviations):
            if k and self.reference is None:
                continue  # the worst standard deviation serves the guard only
            value, slope = term.evaluate(grams, sharpness)
            excess = self._find_excess(k, value)
            weight = (0.0 if k else MEAN_WEIGHT) + 2.0 * GUARD_WEIGHT * excess
            total += (0.0 if k else MEAN_WEIGHT * value) + GUARD_WEIGHT * excess**2
            sensitivities = sensitivities + weight * slope
        return total, sensitivities

    def measure(self, grams: Grams) -> float:
        conditions = sum(
            term.measure(grams) for term in (PlainCondition(self.conditioning), ScaledCondition(self.conditioning))
        )
        values = [term.measure(grams) for term in self._deviations]
        guard = sum(self._find_excess(k, value) ** 2 for k, value in enumerate(values))
        return float(conditions + MEAN_WEIGHT * values[0] + GUARD_WEIGHT * guard)

    @property
    def _deviations(self) -> tuple[ExpectedDeviation, ExpectedDeviation]:
        return ExpectedDeviation("mean std", self.noise), ExpectedDeviation("worst std", self.noise)

    def _find_excess(self, k: int, value: float) -> float:
        return 0.0 if self.reference is None else max(0.0, value - self.reference[k] - float(np.log(MAX_STD_RATIO)))

"""What physical consistency costs: torque errors of an estimate and of the bodies nearest to it."""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.identification.priors.noise import PREPARATION_ERROR

# Error of the bodies in percent, up to which its ratio to that of the estimate does not matter: twenty times the error
# that the preparation leaves in the torques, and a hundredth of what a good model may have.
MAX_NEGLIGIBLE_ERROR = 2000.0 * PREPARATION_ERROR


@dataclass(frozen=True)
class ConsistencyCost:
    """Torque errors in percent of the estimate and of the bodies nearest to it; None without validation logs."""

    estimate_percent: float
    bodies_percent: float
    validation_estimate_percent: float | None = None
    validation_bodies_percent: float | None = None

    @property
    def ratio(self) -> float:
        """Error of the bodies divided by the error of the estimate, on the logs where it is larger."""
        return _divide(*self.worst)

    @property
    def is_negligible(self) -> bool:
        """Whether the error of the bodies is so small that it does not matter how much smaller the estimate's is."""
        return max(self.bodies_percent, self.validation_bodies_percent or 0.0) <= MAX_NEGLIGIBLE_ERROR

    @property
    def worst(self) -> tuple[float, float]:
        """Errors of the estimate and of the bodies, on the logs of the fit or validation where they differ more."""
        pairs = [(self.estimate_percent, self.bodies_percent)]
        if self.validation_estimate_percent is not None and self.validation_bodies_percent is not None:
            pairs.append((self.validation_estimate_percent, self.validation_bodies_percent))
        return max(pairs, key=lambda pair: _divide(*pair))


def _divide(estimate: float, bodies: float) -> float:
    return bodies / estimate if estimate > 0.0 else 1.0

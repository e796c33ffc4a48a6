"""What a controller and a log see of a motion: scale error, bias, noise, delay, steps of an encoder.

Reading       step * round(((1 + scale) * value(t - delay) + bias + noise * normal) / step)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import Float

Size: TypeAlias = float | Float[np.ndarray, "joints"] | Float[np.ndarray, "runs joints"]


@dataclass(frozen=True, eq=False)
class Sensor:
    """Errors of one reading; numbers for all joints, for each, or for each joint of each run. Zeros: no error."""

    noise: Size = 0.0
    bias: Size = 0.0
    scale: Size = 0.0
    step: Size = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "step", "delay"):
            if np.any(np.asarray(getattr(self, name)) < 0.0):
                raise InputError(f"{name} of a sensor is negative; it is a size, so give 0 or more")

    @cached_property
    def wrong(self) -> frozenset[str]:
        """Names of the errors that are not zero."""
        return frozenset(name for name in ("noise", "bias", "scale", "step") if np.any(getattr(self, name)))

    def periods(self, period: float) -> int:
        """The delay in periods of the controller."""
        count = round(self.delay / period)
        if abs(count * period - self.delay) > 1e-6 * period:
            raise InputError(
                f"a delay of {self.delay:g} s is no multiple of the controller's period of {period:g} s; choose one"
            )
        return count


@dataclass(frozen=True, eq=False)
class Sensors:
    """Sensors of position, velocity, acceleration (few controllers need it) and torque."""

    q: Sensor = Sensor()
    qd: Sensor = Sensor()
    qdd: Sensor = Sensor()
    tau: Sensor = Sensor()

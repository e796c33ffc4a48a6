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

ERRORS = ("noise", "bias", "scale", "step")

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
        for name in (*ERRORS, "delay"):
            given = getattr(self, name)
            try:
                values = np.asarray(given, dtype=float)
            except (TypeError, ValueError):
                values = np.array(np.nan)
            if not np.isfinite(values).all():
                raise InputError(f"{name} of a sensor is {given!r}; give finite numbers, 0 for no error")
            if name not in ("bias", "scale") and np.any(values < 0.0):
                raise InputError(f"{name} of a sensor is negative; it is a size, so give 0 or more")
            if values.ndim > (0 if name == "delay" else 2):
                what = (
                    "one number of seconds" if name == "delay" else "one number, one per joint, or a row for every run"
                )
                raise InputError(f"{name} of a sensor has shape {values.shape}; give {what}")

    @cached_property
    def wrong(self) -> frozenset[str]:
        """Names of the errors that are not zero."""
        return frozenset(name for name in ERRORS if np.any(getattr(self, name)))

    def check(self, what: str, joints: int, runs: int, *, more: bool = False) -> None:
        """Refuse numbers for other joints or runs than there are, or at least are; ``what`` is read, such as "qd"."""
        for name in ERRORS:
            shape = np.shape(getattr(self, name))
            enough = more and len(shape) == 2 and shape[0] >= runs and shape[1] == joints
            if not enough and shape not in ((), (joints,), (runs, joints)):
                raise InputError(
                    f"{name} of the sensor of {what} has shape {shape}; give one number, {joints} (one per joint), or "
                    f"an array of shape {(runs, joints)}, a row for every run"
                )

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

    def check(self, joints: int, runs: int, *, more: bool = False) -> None:
        """Refuse sensors of another robot or for another number of runs; ``more``: for fewer runs than these."""
        for what in ("q", "qd", "qdd", "tau"):
            sensor: Sensor = getattr(self, what)
            sensor.check(what, joints, runs, more=more)

"""Sensor errors: scale error, bias, noise, delay and quantization of measured values.

Reading       step * round(((1 + scale) * value(t - delay) + bias + noise * normal) / step)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ytheta.arguments import check_kind
from ytheta.errors import InputError
from ytheta.shapes import Float

ERRORS_PER_JOINT = ("noise", "bias", "scale", "step")

Size: TypeAlias = float | Float[np.ndarray, "joints"] | Float[np.ndarray, "runs joints"]


@dataclass(frozen=True, eq=False)
class Sensor:
    """The errors of the sensors of one quantity.

    Each error except the delay is one number for all joints, one number per joint, or one number per run and joint.

    Attributes
    ----------
    noise  standard deviation, in the unit of the reading
    bias   constant error, in the unit of the reading
    scale  relative error: 0.01 means readings that are 1 % too large
    step   quantization, in the unit of the reading
    delay  delay in s, a multiple of the control period
    """

    noise: Size = 0.0
    bias: Size = 0.0
    scale: Size = 0.0
    step: Size = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in (*ERRORS_PER_JOINT, "delay"):
            size = getattr(self, name)
            try:
                values = np.asarray(size, dtype=float)
            except (TypeError, ValueError):
                values = np.array(np.nan)
            if not np.isfinite(values).all():
                raise InputError(f"{name} of a sensor is {size!r}; give finite numbers, 0 for no error")
            if name not in ("bias", "scale") and np.any(values < 0.0):
                raise InputError(f"{name} of a sensor is negative; give 0 or more")
            if values.ndim > (0 if name == "delay" else 2):
                allowed = (
                    "one number of seconds"
                    if name == "delay"
                    else "one number, one per joint, or one row for every run"
                )
                raise InputError(f"{name} of a sensor has shape {values.shape}; give {allowed}")

    def __repr__(self) -> str:
        sizes = {name: np.asarray(size) for name, size in vars(self).items() if name in (*ERRORS_PER_JOINT, "delay")}
        shown = [f"{name}={_describe_size(size)}" for name, size in sizes.items() if size.any()]
        return f"Sensor({', '.join(shown)})"

    @cached_property
    def nonzero_errors(self) -> frozenset[str]:
        """The names of the errors that are not zero."""
        return frozenset(name for name in ERRORS_PER_JOINT if np.any(getattr(self, name)))

    def check(self, quantity: str, joints: int, runs: int, *, allow_more_runs: bool = False) -> None:
        """Raise an error if an array of error values does not fit the number of joints and runs.

        ``quantity`` is the measured quantity, such as "qd". With ``allow_more_runs``, an array may have rows for
        further runs.
        """
        for name in ERRORS_PER_JOINT:
            shape = np.shape(getattr(self, name))
            has_more = allow_more_runs and len(shape) == 2 and shape[0] >= runs and shape[1] == joints
            if not has_more and shape not in ((), (joints,), (runs, joints)):
                raise InputError(
                    f"{name} of the sensor of {quantity} has shape {shape}; give one number, {joints} (one per joint), "
                    f"or an array of shape {(runs, joints)}, a row for every run"
                )

    def count_delay_periods(self, period: float) -> int:
        """Return the delay as a number of control periods."""
        count = round(self.delay / period)
        if abs(count * period - self.delay) > 1e-6 * period:
            raise InputError(
                f"a sensor delay of {self.delay:g} s is not a multiple of the control period of {period:g} s; choose a "
                "multiple"
            )
        return count


@dataclass(frozen=True, eq=False)
class Sensors:
    """The sensors of all quantities.

    Attributes
    ----------
    q    sensor of the position
    qd   sensor of the velocity
    qdd  sensor of the acceleration, which few controllers need
    tau  sensor of the torque
    """

    q: Sensor = Sensor()
    qd: Sensor = Sensor()
    qdd: Sensor = Sensor()
    tau: Sensor = Sensor()

    def __post_init__(self) -> None:
        for quantity, sensor in vars(self).items():
            check_kind(f"the sensor of {quantity}", sensor, Sensor, "Sensor(…), such as Sensor(noise=1e-4)")

    def __repr__(self) -> str:
        shown = [f"{quantity}={sensor!r}" for quantity, sensor in vars(self).items() if repr(sensor) != "Sensor()"]
        return f"Sensors({', '.join(shown)})"

    def check(self, joints: int, runs: int, *, allow_more_runs: bool = False) -> None:
        """Raise an error if an array of error values does not fit the number of joints and runs."""
        for quantity in ("q", "qd", "qdd", "tau"):
            sensor: Sensor = getattr(self, quantity)
            sensor.check(quantity, joints, runs, allow_more_runs=allow_more_runs)


def _describe_size(size: np.ndarray) -> str:
    """Return the number of an error, or the shape of its array."""
    return f"{size:g}" if size.ndim == 0 else f"<{' x '.join(map(str, size.shape))} numbers>"

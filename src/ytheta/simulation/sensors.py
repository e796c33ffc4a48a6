"""Sensor errors: scale error, bias, noise, delay and quantization of measured values.

Reading       step * round(((1 + scale) * value(t - delay) + bias + noise * normal) / step)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ytheta.arguments import check_kind
from ytheta.errors import InputError
from ytheta.shapes import Float, Shaped

ERRORS_PER_JOINT = ("noise", "bias", "scale", "step")

Size: TypeAlias = float | Float[np.ndarray, " joints"] | Float[np.ndarray, "runs joints"]


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


# The readings of sensors during a simulation.
#
# Each run has its own random stream, so that its readings do not depend on other runs. Noise is generated for many
# instants at once. No controller uses the measured torque, hence errors of the torque are added at the end of the
# simulation, and only at the recorded instants. The readings of the motion do not depend on which instants are
# recorded.


Values: TypeAlias = Float[np.ndarray, "runs columns"]
# Instants for which noise is generated at once. It fixes the order of random numbers. Chosen on: rule of thumb.
INSTANTS_PER_DRAW = 32


@dataclass(frozen=True, eq=False)
class SensorErrors:
    """The errors of several sensors, such as those of q and qd, in a batch of runs; one column per sensor and joint."""

    sensors: tuple[Sensor, ...]
    joints: int
    runs: slice

    @cached_property
    def noisy_columns(self) -> Shaped[np.ndarray, " noisy"]:
        """The indices of the columns with noise."""
        return np.flatnonzero(np.repeat(["noise" in sensor.nonzero_errors for sensor in self.sensors], self.joints))

    @cached_property
    def noise(self) -> Float[np.ndarray, "runs noisy"]:
        """The standard deviations of the noise in the noisy columns."""
        return self._expand_sizes("noise")[:, self.noisy_columns]

    def add_to(self, values: Float[np.ndarray, "*instants runs columns"], noise: np.ndarray | None) -> None:
        """Add the errors to true values in place. Errors that are 0 are skipped.

        ``noise`` contains the random errors of the noisy columns.
        """
        if "scale" in self._nonzero:
            values *= self._factor
        if "bias" in self._nonzero:
            values += self._bias
        if noise is not None and len(self.noisy_columns) == values.shape[-1]:
            values += noise
        elif noise is not None:
            values[..., self.noisy_columns] += noise
        if "step" in self._nonzero:
            steps = values / self._step
            np.copyto(values, np.multiply(self._step, np.rint(steps, out=steps), out=steps), where=self._quantized)

    @cached_property
    def _nonzero(self) -> frozenset[str]:
        return frozenset.union(*(sensor.nonzero_errors for sensor in self.sensors))

    @cached_property
    def _factor(self) -> Values:
        return 1.0 + self._expand_sizes("scale")

    @cached_property
    def _bias(self) -> Values:
        return self._expand_sizes("bias")

    @cached_property
    def _quantized(self) -> Shaped[np.ndarray, "runs columns"]:
        return self._expand_sizes("step") > 0.0

    @cached_property
    def _step(self) -> Values:
        return np.where(self._quantized, self._expand_sizes("step"), 1.0)

    def _expand_sizes(self, error: str) -> Values:
        """Return the value of an error for every run and column."""
        columns = []
        for sensor in self.sensors:
            size = np.asarray(getattr(sensor, error), dtype=float)
            per_run = size[self.runs] if size.ndim == 2 else size
            columns.append(np.broadcast_to(per_run, (self.runs.stop - self.runs.start, self.joints)))
        return np.concatenate(columns, axis=1)


class DelayLine:
    """Delays values by a whole number of periods. Until the delay has passed, ``push`` returns the first values."""

    def __init__(self, sensors: tuple[Sensor, ...], joints: int, period: float) -> None:
        self._periods, self._joints = [sensor.count_delay_periods(period) for sensor in sensors], joints
        self._past: deque[Values] = deque(maxlen=1 + max(self._periods))

    def push(self, values: Values) -> Values:
        """Store the values of the next instant; return the delayed values as a new array."""
        past, n, delayed = self._past, self._joints, values.copy()
        if past.maxlen == 1:
            return delayed
        past.append(values.copy())
        for k, periods in enumerate(self._periods):
            delayed[:, n * k : n * (k + 1)] = past[max(0, len(past) - 1 - periods)][:, n * k : n * (k + 1)]
        return delayed


class SensorReader:
    """Reads q and qd at every instant, and qdd if the controller uses qdd. Errors of tau are added at the end."""

    def __init__(
        self,
        sensors: Sensors,
        joints: int,
        period: float,
        runs: slice,
        streams: Sequence[np.random.Generator],
        *,
        uses_accelerations: bool,
    ) -> None:
        sensors.check(joints, runs.stop, allow_more_runs=True)
        motion = (sensors.q, sensors.qd, sensors.qdd) if uses_accelerations else (sensors.q, sensors.qd)
        self._errors, self._delay = SensorErrors(motion, joints, runs), DelayLine(motion, joints, period)
        torque = (sensors.tau,)
        self._torque_errors = SensorErrors(torque, joints, runs)
        self._torque_delay = DelayLine(torque, joints, period)
        self._streams, self._instant = streams, 0
        self._noise = np.empty((len(streams), INSTANTS_PER_DRAW, len(self._errors.noisy_columns)))

    def read_motion(self, values: Values) -> Values:
        """Return the readings of the motion at the next instant."""
        readings = self._delay.push(values)
        self._errors.add_to(readings, self._get_next_noise() if len(self._errors.noisy_columns) else None)
        return readings

    def delay_torque(self, tau: Values) -> Values:
        """Return the torque with the delay of the torque sensor, but without the sensor's other errors."""
        return self._torque_delay.push(tau)

    def add_torque_errors(self, tau: Float[np.ndarray, "runs instants joints"]) -> None:
        """Add the errors to the recorded torques in place; call this once, after all motion has been read."""
        errors, noise = self._torque_errors, None
        if len(errors.noisy_columns):
            normal = np.stack([stream.standard_normal(tau.shape[1:]) for stream in self._streams])
            noise = (normal * errors.noise[:, None]).swapaxes(0, 1)
        errors.add_to(tau.swapaxes(0, 1), noise)

    def _get_next_noise(self) -> Float[np.ndarray, "runs noisy"]:
        k = self._instant % INSTANTS_PER_DRAW
        if k == 0:
            for row, stream in zip(self._noise, self._streams, strict=True):
                stream.standard_normal(out=row)
            self._noise *= self._errors.noise[:, None]
        self._instant += 1
        return self._noise[:, k]

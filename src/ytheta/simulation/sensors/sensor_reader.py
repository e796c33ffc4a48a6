"""The readings of sensors during a simulation.

Each run has its own random stream, so that its readings do not depend on other runs. Noise is generated for many
instants at once. No controller uses the measured torque, hence errors of the torque are added at the end of the
simulation, and only at the recorded instants. The readings of the motion do not depend on which instants are recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ytheta.shapes import Float, Shaped
from ytheta.simulation.sensors.sensors import Sensor, Sensors

Values: TypeAlias = Float[np.ndarray, "runs columns"]
INSTANTS_PER_DRAW = 32  # number of instants for which noise is generated at once


@dataclass(frozen=True, eq=False)
class SensorErrors:
    """The errors of several sensors, such as those of q and qd, in a batch of runs; one column per sensor and joint."""

    sensors: tuple[Sensor, ...]
    joints: int
    runs: slice

    @cached_property
    def noisy_columns(self) -> Shaped[np.ndarray, "noisy"]:
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

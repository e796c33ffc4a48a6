"""Sensors in motion: what they say of some runs.

Each run draws from a stream of its own, for many instants at once: its neighbours do not matter. Drawing is what noise
costs, some 20 ns for each number. No controller sees the torque, so its errors are added at the end, and only where it
is kept: what a controller sees is the same whatever is kept.
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
AHEAD = 32  # instants for which noise is drawn at once


@dataclass(frozen=True, eq=False)
class Errors:
    """Of sensors side by side, such as those of q and of qd, for some runs: a column for each joint of each."""

    sensors: tuple[Sensor, ...]
    joints: int
    runs: slice

    @cached_property
    def noisy(self) -> Shaped[np.ndarray, "noisy"]:
        """Columns of sensors with noise."""
        return np.flatnonzero(np.repeat(["noise" in sensor.wrong for sensor in self.sensors], self.joints))

    @cached_property
    def noise(self) -> Float[np.ndarray, "runs noisy"]:
        return self._sizes("noise")[:, self.noisy]

    def add(self, values: Float[np.ndarray, "*instants runs columns"], noise: np.ndarray | None) -> None:
        """Turn true values into what is read, in their place; errors of size 0 are free.

        ``noise`` are draws times ``self.noise``, for the noisy columns.
        """
        if "scale" in self._wrong:
            values *= self._factor
        if "bias" in self._wrong:
            values += self._bias
        if noise is not None and len(self.noisy) == values.shape[-1]:
            values += noise
        elif noise is not None:
            values[..., self.noisy] += noise
        if "step" in self._wrong:
            steps = values / self._step
            np.copyto(values, np.multiply(self._step, np.rint(steps, out=steps), out=steps), where=self._coarse)

    @cached_property
    def _wrong(self) -> frozenset[str]:
        return frozenset.union(*(sensor.wrong for sensor in self.sensors))

    @cached_property
    def _factor(self) -> Values:
        return 1.0 + self._sizes("scale")

    @cached_property
    def _bias(self) -> Values:
        return self._sizes("bias")

    @cached_property
    def _coarse(self) -> Shaped[np.ndarray, "runs columns"]:
        return self._sizes("step") > 0.0

    @cached_property
    def _step(self) -> Values:
        return np.where(self._coarse, self._sizes("step"), 1.0)

    def _sizes(self, name: str) -> Values:
        """Of an error, for every run and column."""
        found = []
        for sensor in self.sensors:
            size = np.asarray(getattr(sensor, name), dtype=float)
            own = size[self.runs] if size.ndim == 2 else size
            found.append(np.broadcast_to(own, (self.runs.stop - self.runs.start, self.joints)))
        return np.concatenate(found, axis=1)


class Delay:
    """Values of a while ago; before there are such, the first ones."""

    def __init__(self, sensors: tuple[Sensor, ...], joints: int, period: float) -> None:
        self._periods, self._joints = [sensor.periods(period) for sensor in sensors], joints
        self._past: deque[Values] = deque(maxlen=1 + max(self._periods))

    def passed(self, values: Values) -> Values:
        """What comes out at the instant at which these go in; a new array."""
        past, n, late = self._past, self._joints, values.copy()
        if past.maxlen == 1:
            return late
        past.append(values.copy())
        for k, periods in enumerate(self._periods):
            late[:, n * k : n * (k + 1)] = past[max(0, len(past) - 1 - periods)][:, n * k : n * (k + 1)]
        return late


class SensorReader:
    """Of q and qd, and of qdd where a controller needs it, instant by instant; of tau at the end."""

    def __init__(
        self,
        sensors: Sensors,
        joints: int,
        period: float,
        runs: slice,
        streams: Sequence[np.random.Generator],
        *,
        accelerations: bool,
    ) -> None:
        sensors.check(joints, runs.stop, more=True)
        kinds = (sensors.q, sensors.qd, sensors.qdd) if accelerations else (sensors.q, sensors.qd)
        self._errors, self._delay = Errors(kinds, joints, runs), Delay(kinds, joints, period)
        self._torque, self._torque_delay = Errors((sensors.tau,), joints, runs), Delay((sensors.tau,), joints, period)
        self._streams, self._reads = streams, 0
        self._drawn = np.empty((len(streams), AHEAD, len(self._errors.noisy)))

    def motion(self, values: Values) -> Values:
        """What is read of the motion at the next instant."""
        read = self._delay.passed(values)
        self._errors.add(read, self._noise() if len(self._errors.noisy) else None)
        return read

    def torque(self, tau: Values) -> Values:
        """The torque, as late as its sensor sees it, without the sensor's errors."""
        return self._torque_delay.passed(tau)

    def end(self, tau: Float[np.ndarray, "runs instants joints"]) -> None:
        """Add the errors to the torques that were kept, in their place; once, when all motion has been read."""
        errors, noise = self._torque, None
        if len(errors.noisy):
            drawn = np.stack([stream.standard_normal(tau.shape[1:]) for stream in self._streams])
            noise = (drawn * errors.noise[:, None]).swapaxes(0, 1)
        errors.add(tau.swapaxes(0, 1), noise)

    def _noise(self) -> Float[np.ndarray, "runs noisy"]:
        k = self._reads % AHEAD
        if k == 0:
            for row, stream in zip(self._drawn, self._streams, strict=True):
                stream.standard_normal(out=row)
            self._drawn *= self._errors.noise[:, None]
        self._reads += 1
        return self._drawn[:, k]

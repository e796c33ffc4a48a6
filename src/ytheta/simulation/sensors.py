"""What a controller and a log see of a motion: scale error, bias, noise, delay, steps of an encoder.

Reading       step * round(((1 + scale) * value(t - delay) + bias + noise * normal) / step)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import Float

Size: TypeAlias = float | Float[np.ndarray, "joints"] | Float[np.ndarray, "runs joints"]
Values: TypeAlias = Float[np.ndarray, "runs joints"]
AHEAD = 64  # instants for which noise is drawn at once


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

    def reading(self, values: Values, normal: Values | None, runs: slice) -> Values:
        """What is read of values, ``normal`` being draws of a standard normal distribution; errors of size 0 are free.

        Every run-step of a batch comes through here: what need not be computed is not.
        """
        read, wrong = values, self.wrong
        if "scale" in wrong:
            read = (1.0 + _of(self.scale, runs)) * read
        if "bias" in wrong:
            read = read + _of(self.bias, runs)
        if normal is not None:
            read = read + _of(self.noise, runs) * normal
        if "step" not in wrong:
            return read
        step = _of(self.step, runs)
        coarse = np.broadcast_to(step, read.shape) > 0.0
        steps = np.where(coarse, step, 1.0)
        return np.where(coarse, steps * np.round(read / steps), read)

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


@dataclass(eq=False)
class Readings:
    """The sensors of some runs in motion: each run has its own stream of noise, whatever its neighbours are."""

    sensors: Sensors
    period: float
    runs: slice
    streams: Sequence[np.random.Generator]
    _past: tuple[deque[Values], ...] = field(init=False)
    _noisy: dict[int, int] = field(init=False)
    _drawn: Float[np.ndarray, "kinds instants runs joints"] | None = field(init=False, default=None)
    _drawn_at: int = field(init=False, default=-1)
    _k: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        kinds = (self.sensors.q, self.sensors.qd, self.sensors.qdd, self.sensors.tau)
        self._noisy = {kind: row for row, kind in enumerate(k for k, s in enumerate(kinds) if "noise" in s.wrong)}
        self._past = tuple(deque(maxlen=1 + sensor.periods(self.period)) for sensor in kinds)

    def next(self) -> None:
        """Go on to the next instant."""
        self._k += 1

    def q(self, values: Values) -> Values:
        """Positions as they are read at this instant; likewise for the others."""
        return self._read(0, self.sensors.q, values)

    def qd(self, values: Values) -> Values:
        return self._read(1, self.sensors.qd, values)

    def qdd(self, values: Values) -> Values:
        return self._read(2, self.sensors.qdd, values)

    def tau(self, values: Values) -> Values:
        return self._read(3, self.sensors.tau, values)

    def _read(self, kind: int, sensor: Sensor, values: Values) -> Values:
        past = self._past[kind]
        past.append(values.copy() if past.maxlen != 1 else values)
        normal = self._normal(self._noisy[kind], values.shape[1]) if kind in self._noisy else None
        return sensor.reading(past[0], normal, self.runs)

    def _normal(self, row: int, joints: int) -> Values:
        """Draws for this instant; every run draws from its own stream, for many instants at once."""
        begin = self._k - self._k % AHEAD
        if self._drawn is None or self._drawn_at != begin:
            shape = (len(self._noisy), AHEAD, joints)
            self._drawn = np.stack([stream.standard_normal(shape) for stream in self.streams], axis=2)
            self._drawn_at = begin
        return self._drawn[row, self._k - begin]


def _of(size: Size, runs: slice) -> float | np.ndarray:
    return size[runs] if isinstance(size, np.ndarray) and size.ndim == 2 else size

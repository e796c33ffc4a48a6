"""A block of runs through all of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.engine.description import Description
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.record import Record
from ytheta.simulation.closed_loop.control_period import ControlPeriod
from ytheta.simulation.parameter_changes import apply
from ytheta.simulation.sensors.sensor_reader import SensorReader
from ytheta.simulation.sensors.sensors import Sensors


@dataclass(frozen=True, eq=False)
class Block:
    """Some runs side by side, few enough for the cache: how they begin, and what each has of its own."""

    rows: slice
    state: Float[np.ndarray, "runs slots"]
    theta: Float[np.ndarray, "runs varied"]
    factors: Float[np.ndarray, "runs gains"]
    streams: Sequence[np.random.Generator]


@dataclass(frozen=True, eq=False)
class Schedule(Description):
    """What all blocks share."""

    step: ControlPeriod
    sensors: Sensors | None
    reference: Float[np.ndarray, "steps numbers"]
    changes: Mapping[int, Sequence[tuple[int, float]]]
    every: int

    @property
    def kept(self) -> int:
        """How many instants are kept."""
        return len(range(0, len(self.reference), self.every))

    def run(self, block: Block) -> tuple[slice, Record]:
        """All periods of a block: its rows, and what is kept of them."""
        step, tau = self.step, self.step.slots.tau
        record = Record.empty(step, len(block.state), self.kept)
        theta, seen = block.theta.copy(), step.seen
        state, after, spare = block.state.copy(), np.empty_like(block.state), np.empty_like(block.state)
        varied = [own for own in (theta, block.factors) if own.shape[1]]
        readings, read = self._readings(block), list[np.ndarray]()
        for k in range(len(self.reference)):
            if k in self.changes:
                apply(theta, self.changes[k])
            if readings is not None:
                read = [readings.motion(state.take(seen, axis=1))]
            step.take(state, self.reference[k], *read, *varied, theta=theta, out=after, spare=spare)
            keep = k % self.every == 0
            if keep or readings is not None:
                felt = after[:, tau] if k == 0 or not step.held else 0.5 * (state[:, tau] + after[:, tau])
                late = felt if readings is None else readings.torque(felt)
                if keep:
                    self._keep(record, k // self.every, state, after, read, late)
            state, after = after, state
        if readings is not None:
            readings.end(record.read[2])
        record.final[:] = state
        return block.rows, record

    def _readings(self, block: Block) -> SensorReader | None:
        """Where the controller does not see the truth."""
        if self.sensors is None:
            return None
        step = self.step
        given = (self.sensors, step.slots.joints, step.period, block.rows, block.streams)
        return SensorReader(*given, accelerations=step.accelerations)

    def _keep(
        self, record: Record, place: int, state: np.ndarray, after: np.ndarray, read: list[np.ndarray], felt: np.ndarray
    ) -> None:
        slots, n = self.step.slots, self.step.slots.joints
        record.q[:, place] = state[:, self.step.actuated]
        record.qd[:, place] = state[:, slots.qd]
        record.memory[:, place] = state[:, slots.controller_state]
        record.tau[:, place] = after[:, slots.tau]
        record.read[2][:, place] = felt
        for motion in read:
            record.read[0][:, place], record.read[1][:, place] = motion[:, :n], motion[:, n : 2 * n]

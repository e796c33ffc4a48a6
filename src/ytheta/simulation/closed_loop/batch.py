"""The simulation of a batch of runs, from the first control period to the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.engine.engine import PickledByFields
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.control_period import ControlPeriod
from ytheta.simulation.closed_loop.record import Record
from ytheta.simulation.parameter_changes import apply_changes
from ytheta.simulation.sensors.sensor_reader import SensorReader
from ytheta.simulation.sensors.sensors import Sensors


@dataclass(frozen=True, eq=False)
class RunBatch:
    """The initial states and varied values of runs that are simulated together.

    Their number is chosen such that a batch fits into the cache of the processor.
    """

    rows: slice
    state: Float[np.ndarray, "runs slots"]
    theta: Float[np.ndarray, "runs varied"]
    factors: Float[np.ndarray, "runs gains"]
    streams: Sequence[np.random.Generator]


@dataclass(frozen=True, eq=False)
class BatchSimulator(PickledByFields):
    """Simulates batches of runs with the same reference, sensors and parameter changes.

    ``changes`` contains the parameter changes of each control instant, see ``group_by_instant``.
    """

    control_period: ControlPeriod
    sensors: Sensors | None
    reference: Float[np.ndarray, "steps numbers"]
    changes: Mapping[int, Sequence[tuple[int, float]]]
    every: int

    @property
    def recorded_count(self) -> int:
        """The number of instants that are recorded."""
        return len(range(0, len(self.reference), self.every))

    def run(self, batch: RunBatch) -> tuple[slice, Record]:
        """Simulate all periods of a batch. Return ``batch.rows`` and the record of the runs."""
        control_period, tau = self.control_period, self.control_period.slots.tau
        record = Record.allocate(control_period, len(batch.state), self.recorded_count)
        theta, measured_slots = batch.theta.copy(), control_period.measured_slots
        state, next_state, scratch = batch.state.copy(), np.empty_like(batch.state), np.empty_like(batch.state)
        varied = [values for values in (theta, batch.factors) if values.shape[1]]
        reader, readings = self._make_reader(batch), list[np.ndarray]()
        for k in range(len(self.reference)):
            if k in self.changes:
                apply_changes(theta, self.changes[k])
            if reader is not None:
                readings = [reader.read_motion(state.take(measured_slots, axis=1))]
            control_period.advance(
                state, self.reference[k], *readings, *varied, theta=theta, out=next_state, scratch=scratch
            )
            is_recorded = k % self.every == 0
            if is_recorded or reader is not None:
                mean_torque = (
                    next_state[:, tau]
                    if k == 0 or not control_period.holds_torque
                    else 0.5 * (state[:, tau] + next_state[:, tau])
                )
                read_torque = mean_torque if reader is None else reader.delay_torque(mean_torque)
                if is_recorded:
                    self._record_instant(record, k // self.every, state, next_state, readings, read_torque)
            state, next_state = next_state, state
        if reader is not None:
            reader.add_torque_errors(record.read[2])
        record.final[:] = state
        return batch.rows, record

    def _make_reader(self, batch: RunBatch) -> SensorReader | None:
        """Return the sensor reader of a batch, or None if the controller receives the true motion."""
        if self.sensors is None:
            return None
        period, joints = self.control_period, self.control_period.slots.joints
        return SensorReader(
            self.sensors, joints, period.period, batch.rows, batch.streams, uses_accelerations=period.uses_accelerations
        )

    def _record_instant(
        self,
        record: Record,
        instant: int,
        state: np.ndarray,
        next_state: np.ndarray,
        readings: list[np.ndarray],
        read_torque: np.ndarray,
    ) -> None:
        slots, n = self.control_period.slots, self.control_period.slots.joints
        record.q[:, instant] = state[:, self.control_period.actuated]
        record.qd[:, instant] = state[:, slots.qd]
        record.controller_state[:, instant] = state[:, slots.controller_state]
        record.tau[:, instant] = next_state[:, slots.tau]
        record.read[2][:, instant] = read_torque
        for motion in readings:
            record.read[0][:, instant], record.read[1][:, instant] = motion[:, :n], motion[:, n : 2 * n]

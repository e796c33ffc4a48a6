"""Arrays in which runs are recorded during a simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.shapes import Float, Int, RunsByInstantByJoint
from ytheta.simulation.closed_loop.control_period import ControlPeriod
from ytheta.simulation.runs import Runs


@dataclass(frozen=True, eq=False)
class Record:
    """The recorded instants and final states of all runs, or of the runs of a batch.

    ``read`` contains the sensor readings of q, qd and tau. Without sensors, the first two arrays of ``read`` are ``q``
    and ``qd``.
    """

    q: RunsByInstantByJoint
    qd: RunsByInstantByJoint
    tau: RunsByInstantByJoint
    controller_state: Float[np.ndarray, "runs instants states"]
    read: tuple[RunsByInstantByJoint, RunsByInstantByJoint, RunsByInstantByJoint]
    final: Float[np.ndarray, "runs slots"]

    @staticmethod
    def allocate(control_period: ControlPeriod, runs: int, instants: int) -> Record:
        slots = control_period.slots

        def make_array(width: int) -> np.ndarray:
            return np.empty((runs, instants, width))

        motion = (make_array(slots.joints), make_array(slots.joints), make_array(slots.joints))
        read_motion = (make_array(slots.joints), make_array(slots.joints)) if control_period.has_sensors else motion[:2]
        read = (*read_motion, make_array(slots.joints))
        return Record(*motion, make_array(slots.controller_states), read, np.empty((runs, slots.size)))

    def insert(self, rows: slice, part: Record) -> None:
        """Copy the record of a batch into these rows."""
        for destination, source in zip(self._arrays, part._arrays, strict=True):
            destination[rows] = source

    def to_runs(
        self,
        control_period: ControlPeriod,
        instants: Int[np.ndarray, "instants"],
        *,
        joints: tuple[str, ...],
        unknown_names: tuple[str, ...],
        steps: int,
    ) -> Runs:
        slots, final, period = control_period.slots, self.final, control_period.period
        count = final[:, slots.period_count]
        completed = np.where(count < 0.0, -count - 1.0, count)
        read_q, read_qd, read_tau = self.read
        return Runs(
            joints=joints,
            unknown_names=unknown_names,
            seconds=period * steps,
            t=period * instants,
            q=self.q,
            qd=self.qd,
            tau=self.tau,
            controller_state=self.controller_state,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final[:, list(control_period.actuated)],
            final_qd=final[:, slots.qd].copy(),
            final_controller_state=final[:, slots.controller_state].copy(),
            rms=np.sqrt(final[:, slots.squared_errors] / np.maximum(1.0, completed)[:, None]),
            diverged_at=np.where(count < 0.0, -period * count, np.inf),
        )

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        read = self.read[2:] if self.read[0] is self.q else self.read
        return (self.q, self.qd, self.tau, self.controller_state, self.final, *read)

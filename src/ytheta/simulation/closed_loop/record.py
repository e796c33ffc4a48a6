"""What is kept of runs while they go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.shapes import Float, Int, RunsByInstantByJoint
from ytheta.simulation.closed_loop.control_period import ControlPeriod
from ytheta.simulation.runs import Runs


@dataclass(frozen=True, eq=False)
class Record:
    """Of all runs, or of those of a block; ``read`` has the same arrays of motion where there are no sensors."""

    q: RunsByInstantByJoint
    qd: RunsByInstantByJoint
    tau: RunsByInstantByJoint
    memory: Float[np.ndarray, "runs instants states"]
    read: tuple[RunsByInstantByJoint, RunsByInstantByJoint, RunsByInstantByJoint]
    final: Float[np.ndarray, "runs slots"]

    @staticmethod
    def empty(step: ControlPeriod, runs: int, instants: int) -> Record:
        slots = step.slots

        def kept(width: int) -> np.ndarray:
            return np.empty((runs, instants, width))

        motion = (kept(slots.joints), kept(slots.joints), kept(slots.joints))
        seen = (kept(slots.joints), kept(slots.joints)) if step.measured else motion[:2]
        read = (*seen, kept(slots.joints))
        return Record(*motion, kept(slots.memory), read, np.empty((runs, slots.size)))

    def put(self, rows: slice, part: Record) -> None:
        """Rows of others in their place here."""
        for mine, theirs in zip(self._arrays, part._arrays, strict=True):
            mine[rows] = theirs

    def runs(
        self,
        step: ControlPeriod,
        instants: Int[np.ndarray, "instants"],
        *,
        joints: tuple[str, ...],
        unknown_names: tuple[str, ...],
        steps: int,
    ) -> Runs:
        slots, final, period = step.slots, self.final, step.period
        age = final[:, slots.period_count]
        lived = np.where(age < 0.0, -age - 1.0, age)
        read_q, read_qd, read_tau = self.read
        return Runs(
            joints=joints,
            unknown_names=unknown_names,
            seconds=period * steps,
            t=period * instants,
            q=self.q,
            qd=self.qd,
            tau=self.tau,
            memory=self.memory,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final[:, list(step.actuated)],
            final_qd=final[:, slots.qd].copy(),
            final_controller_state=final[:, slots.controller_state].copy(),
            rms=np.sqrt(final[:, slots.squares] / np.maximum(1.0, lived)[:, None]),
            lost=np.where(age < 0.0, -period * age, np.inf),
        )

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        read = self.read[2:] if self.read[0] is self.q else self.read
        return (self.q, self.qd, self.tau, self.memory, self.final, *read)

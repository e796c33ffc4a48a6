"""A block of runs through all of time, and where it is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.native import Kernel
from ytheta.shapes import Float, Int
from ytheta.simulation.events import apply
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import Readings, Sensors
from ytheta.simulation.step_graph import Slots, StepMaker

Kept = Float[np.ndarray, "runs instants joints"]


def keep_instants(steps: int, every: int) -> Int[np.ndarray, "instants"]:
    """Numbers of the control instants that are kept."""
    return np.arange(0, steps, every)


@dataclass(frozen=True, eq=False)
class Record:
    """Room for what is kept of all runs; blocks write to rows of their own."""

    slots: Slots
    actuated: tuple[int, ...]
    instants: Int[np.ndarray, "instants"]
    q: Kept
    qd: Kept
    tau: Kept
    memory: Float[np.ndarray, "runs instants states"]
    read: tuple[Kept, Kept, Kept]
    final: Float[np.ndarray, "runs slots"]

    @staticmethod
    def empty(maker: StepMaker, runs: int, instants: Int[np.ndarray, "instants"]) -> Record:
        slots = maker.slots

        def kept(width: int) -> np.ndarray:
            return np.empty((runs, len(instants), width))

        motion = (kept(slots.joints), kept(slots.joints), kept(slots.joints))
        read = (kept(slots.joints), kept(slots.joints), kept(slots.joints)) if maker.measured else motion
        final = np.empty((runs, slots.size))
        return Record(slots, maker.plant.loops.actuated, instants, *motion, kept(slots.memory), read, final)

    def runs(self, joints: tuple[str, ...], unknown: tuple[str, ...], period: float, steps: int) -> Runs:
        slots, final = self.slots, self.final
        age = final[:, slots.age]
        lived = np.where(age < 0.0, -age - 1.0, age)
        read_q, read_qd, read_tau = self.read
        return Runs(
            joints=joints,
            unknown=unknown,
            seconds=period * steps,
            t=period * self.instants,
            q=self.q,
            qd=self.qd,
            tau=self.tau,
            memory=self.memory,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final[:, list(self.actuated)],
            final_qd=final[:, slots.qd].copy(),
            final_memory=final[:, slots.remembered].copy(),
            rms=np.sqrt(final[:, slots.squares] / np.maximum(1.0, lived)[:, None]),
            lost=np.where(age < 0.0, -period * age, np.inf),
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Some runs side by side, few enough for the cache."""

    kernel: Kernel
    maker: StepMaker
    sensors: Sensors | None
    rows: slice
    state: Float[np.ndarray, "runs slots"]
    theta: Float[np.ndarray, "runs varied"]
    streams: Sequence[np.random.Generator]

    def run(
        self,
        reference: Float[np.ndarray, "steps numbers"],
        changes: Mapping[int, Sequence[tuple[int, float]]],
        every: int,
        record: Record,
    ) -> slice:
        """All periods; the rows it wrote."""
        slots, theta = self.maker.slots, self.theta.copy()
        state, after = self.state.copy(), np.empty_like(self.state)
        varied = [theta] if self.maker.plant.varied else []
        readings = None
        if self.sensors is not None:
            readings = Readings(self.sensors, self.maker.period, self.rows, self.streams)
        for k in range(len(reference)):
            if k in changes:
                apply(theta, changes[k])
            read = self._read(readings, state)
            self.kernel(state, reference[k], *read, *varied, out=after, threads=1)
            if readings is not None:
                torque = readings.tau(after[:, slots.tau])
                readings.next()
            if k % every == 0:
                self._keep(record, k // every, state, after)
                if readings is not None:
                    n = slots.joints
                    for kept, values in zip(record.read, (read[0][:, :n], read[0][:, n : 2 * n], torque), strict=True):
                        kept[self.rows, k // every] = values
            state, after = after, state
        record.final[self.rows] = state
        return self.rows

    def _read(self, readings: Readings | None, state: Float[np.ndarray, "runs slots"]) -> list[np.ndarray]:
        """What the controller is told of the motion where it does not see the truth."""
        if readings is None:
            return []
        slots, actuated = self.maker.slots, list(self.maker.plant.loops.actuated)
        read = [readings.q(state[:, actuated]), readings.qd(state[:, slots.qd])]
        if self.maker.accelerations:
            read.append(readings.qdd(state[:, slots.qdd]))
        return [np.concatenate(read, axis=1)]

    def _keep(self, record: Record, place: int, state: np.ndarray, after: np.ndarray) -> None:
        slots, rows = self.maker.slots, self.rows
        record.q[rows, place] = state[:, record.actuated]
        record.qd[rows, place] = state[:, slots.qd]
        record.memory[rows, place] = state[:, slots.remembered]
        record.tau[rows, place] = after[:, slots.tau]

"""One control period of a closed loop. Its graphs are sent to the workers, and each worker compiles them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.engine.engine import PickledByFields
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph
from ytheta.shapes import RunsBySlot
from ytheta.simulation.closed_loop.period_graph import PeriodGraphBuilder, Slots


@dataclass(frozen=True, eq=False)
class ControlPeriod(PickledByFields):
    """The graphs of a control period and the layout of their inputs; the robot and the controller are not included."""

    graph: Graph
    slots: Slots
    actuated: tuple[int, ...]
    period: float
    has_sensors: bool
    uses_accelerations: bool  # whether the controller uses measured accelerations
    holds_torque: bool  # whether the torque is constant during a period
    substeps: int = 1
    substep_graph: Graph | None = None  # None if there is one substep

    @staticmethod
    def build(builder: PeriodGraphBuilder) -> ControlPeriod:
        return ControlPeriod(
            builder.build_graph(),
            builder.slots,
            builder.plant.loops.actuated,
            builder.period,
            builder.has_sensors,
            builder.uses_accelerations,
            not builder.continuous,
            builder.substeps,
            builder.build_substep_graph() if builder.substeps > 1 else None,
        )

    def advance(
        self, state: RunsBySlot, *inputs: np.ndarray, theta: np.ndarray, out: RunsBySlot, scratch: RunsBySlot
    ) -> None:
        """Write the state after one period to ``out``.

        ``inputs`` are the inputs of ``kernel`` after the state. ``scratch`` receives intermediate states of substeps.
        """
        substep = self._substep
        self.kernel(state, *inputs, out=scratch if self.substeps % 2 and substep is not None else out, threads=1)
        if substep is None:
            return
        varied = [theta] if theta.shape[1] else []
        target, source = (out, scratch) if self.substeps % 2 else (scratch, out)
        for _ in range(self.substeps):
            substep(source, *varied, out=target, threads=1)
            target, source = source, target
        count = self.slots.period_count
        diverged = np.flatnonzero((out[:, count] < 0.0) & (state[:, count] >= 0.0))
        out[diverged, :count] = state[diverged, :count]  # diverged runs keep the state before this period

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of one period; with several substeps, the kernel of the controller's part of the period.

        Machine code is reused if it is in the memory of this process or in the cache on disk.
        """
        return compile_graph(self.graph)

    @cached_property
    def _substep(self) -> Kernel | None:
        return None if self.substep_graph is None else compile_graph(self.substep_graph)

    @property
    def measured_slots(self) -> list[int]:
        """The slots that sensors measure: q, qd, and qdd if the controller uses it."""
        slots = self.slots
        indices = [*self.actuated, *range(slots.qd.start, slots.qd.stop)]
        return indices + list(range(slots.qdd.start, slots.qdd.stop)) if self.uses_accelerations else indices

"""One control period of a closed loop, ready to be sent and to be compiled where it is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.engine.description import Description
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph
from ytheta.shapes import RunsBySlot
from ytheta.simulation.closed_loop.period_graph import Slots, PeriodGraphBuilder


@dataclass(frozen=True, eq=False)
class ControlPeriod(Description):
    """The graphs of a step, and what must be known of it to feed it: nothing of robots and controllers."""

    graph: Graph
    slots: Slots
    actuated: tuple[int, ...]
    period: float
    measured: bool
    accelerations: bool
    held: bool  # the torque, all through the period
    substeps: int = 1
    substep_graph: Graph | None = None  # where there are several

    @staticmethod
    def of(maker: PeriodGraphBuilder) -> ControlPeriod:
        return ControlPeriod(
            maker.graph(),
            maker.slots,
            maker.plant.loops.actuated,
            maker.period,
            maker.measured,
            maker.accelerations,
            not maker.continuous,
            maker.substeps,
            maker.substep_graph() if maker.substeps > 1 else None,
        )

    def take(
        self, state: RunsBySlot, *given: np.ndarray, theta: np.ndarray, out: RunsBySlot, spare: RunsBySlot
    ) -> None:
        """A period: ``state`` and what else the kernel is given → ``out``; ``spare`` is room for substeps."""
        substep = self._substep
        self.kernel(state, *given, out=spare if self.substeps % 2 and substep is not None else out, threads=1)
        if substep is None:
            return
        own = [theta] if theta.shape[1] else []
        ahead, behind = (out, spare) if self.substeps % 2 else (spare, out)
        for _ in range(self.substeps):
            substep(behind, *own, out=ahead, threads=1)
            ahead, behind = behind, ahead
        age = self.slots.period_count
        lost = np.flatnonzero((out[:, age] < 0.0) & (state[:, age] >= 0.0))
        out[lost, :age] = state[lost, :age]  # nothing of the period in which a run was lost is kept

    @cached_property
    def kernel(self) -> Kernel:
        """One period for a batch of runs; machine code that this process or the cache on disk has already is taken.

        With substeps, the controller's part of it.
        """
        return compile_graph(self.graph)

    @cached_property
    def _substep(self) -> Kernel | None:
        return None if self.substep_graph is None else compile_graph(self.substep_graph)

    @property
    def seen(self) -> list[int]:
        """Places in the state of a run of what sensors see: q, qd, and qdd where the controller needs it."""
        slots = self.slots
        places = [*self.actuated, *range(slots.qd.start, slots.qd.stop)]
        return places + list(range(slots.qdd.start, slots.qdd.stop)) if self.accelerations else places

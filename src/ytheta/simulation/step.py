"""One control period of a closed loop, ready to be sent and to be compiled where it is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ytheta.engine.description import Description
from ytheta.formulation.graph import Graph
from ytheta.native import Kernel, compile_graph
from ytheta.simulation.step_graph import Slots, StepMaker


@dataclass(frozen=True, eq=False)
class Step(Description):
    """The graph of a step, and what must be known of it to feed it: nothing of robots and controllers."""

    graph: Graph
    slots: Slots
    actuated: tuple[int, ...]
    period: float
    measured: bool
    accelerations: bool
    held: bool  # the torque, all through the period

    @staticmethod
    def of(maker: StepMaker) -> Step:
        return Step(
            maker.graph(),
            maker.slots,
            maker.plant.loops.actuated,
            maker.period,
            maker.measured,
            maker.accelerations,
            not maker.continuous,
        )

    @cached_property
    def kernel(self) -> Kernel:
        """One period for a batch of runs; machine code that this process or the cache on disk has already is taken."""
        return compile_graph(self.graph)

    @property
    def seen(self) -> list[int]:
        """Places in the state of a run of what sensors see: q, qd, and qdd where the controller needs it."""
        slots = self.slots
        places = [*self.actuated, *range(slots.qd.start, slots.qd.stop)]
        return places + list(range(slots.qdd.start, slots.qdd.stop)) if self.accelerations else places

"""A law for robots with loops, step by step: loops are closed from where they were a step before.

Closing them from home, as kernels of single poses do, takes milliseconds of Python. Three Newton steps from the pose of
the step before are a part of the law's machine code. Where they do not arrive, or lead far away from that pose, and at
the start, loops are closed from home.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.loops.solver import solve
from ytheta.dynamics.motion import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.shapes import Float, PerCoordinate, PerJoint

OPEN = 1e-11  # m or rad: loops that are farther apart are not closed
FAR = 0.3  # rad or m: what no robot moves within a step of its controller


@dataclass(frozen=True, eq=False)
class WarmStartKernel:
    """The graph of a law whose first input are all coordinates, closed."""

    loops: Constraint
    graph: Graph

    def __call__(
        self, near: PerCoordinate | None, q: PerJoint, *others: np.ndarray
    ) -> tuple[Float[np.ndarray, "out"], PerCoordinate]:
        """What the law gives for actuated coordinates, and all coordinates, closed."""
        size = self.graph.size
        found = self._kernel.one(q, self._from_home(q) if near is None else near, *others)
        if near is not None and not found[-1] <= 1.0:
            found = self._kernel.one(q, self._from_home(q), *others)
        return found[:size], found[size:-1]

    def _from_home(self, q: PerJoint) -> PerCoordinate:
        if not np.isfinite(q).all():
            return self.loops.home  # the kernel refuses q, and says why
        return solve(self.loops, q[None]).or_raise().x[0]

    @cached_property
    def _kernel(self) -> Kernel:
        import casadi

        loops, rest = self.loops, self.graph.inputs[1:]
        entries = [Input("q", len(loops.actuated)), Input("near", len(loops.home)), *rest]
        q, near, *others = symbols = [casadi.SX.sym(entry.name, entry.size) for entry in entries]
        x = loops.close_near(q, near)
        apart, _ = loops.residual_and_step(x)
        misfit = casadi.fmax(casadi.sumsqr(apart) / OPEN**2, casadi.sumsqr(x - near) / FAR**2)
        output = casadi.vertcat(self.graph.apply(x, *others), x, misfit)
        inputs = list(zip(entries, symbols, strict=True))
        return compile_graph(trace(self.graph.name, inputs, scalars(output), made_from=self.graph.made_from))

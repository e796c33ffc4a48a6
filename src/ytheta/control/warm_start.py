"""Control laws for robots with loops: the loops are closed from the coordinates of the step before (warm start).

Closing them from home, as the kernels of single poses do, takes milliseconds of Python. Newton steps from the
coordinates of the step before are part of the law's machine code. The loops are closed from home only at the first
step, and if these Newton steps do not converge or end far from where they started.
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

MAX_RESIDUAL = 1e-11  # m or rad: loops with a larger residual are not closed
MAX_CHANGE = 0.3  # rad or m: no robot moves farther within a step of its controller


@dataclass(frozen=True, eq=False)
class WarmStartKernel:
    """The compiled graph of a law whose first input is the vector of all coordinates, closed."""

    loops: Constraint
    graph: Graph

    def __call__(
        self, near: PerCoordinate | None, q: PerJoint, *others: np.ndarray
    ) -> tuple[Float[np.ndarray, "out"], PerCoordinate]:
        """Evaluate the law at actuated coordinates q. Return its output, and all coordinates, closed.

        ``near`` is the warm start, the coordinates of the step before; None if there was none.
        """
        size = self.graph.size
        result = self._kernel.one(q, self._close_from_home(q) if near is None else near, *others)
        if near is not None and not result[-1] <= 1.0:
            result = self._kernel.one(q, self._close_from_home(q), *others)
        return result[:size], result[size:-1]

    def _close_from_home(self, q: PerJoint) -> PerCoordinate:
        if not np.isfinite(q).all():
            return self.loops.home  # the kernel refuses q with an error that says why
        return solve(self.loops, q[None]).or_raise().x[0]

    @cached_property
    def _kernel(self) -> Kernel:
        """(q, near, others) → output of the law, x, and a number that is above 1 if x is not to be trusted."""
        import casadi

        loops, rest = self.loops, self.graph.inputs[1:]
        inputs = [Input("q", len(loops.actuated)), Input("near", len(loops.home)), *rest]
        q, near, *others = symbols = [casadi.SX.sym(entry.name, entry.size) for entry in inputs]
        x = loops.close_near(q, near)
        residual, _ = loops.residual_and_step(x)
        excess = casadi.fmax(casadi.sumsqr(residual) / MAX_RESIDUAL**2, casadi.sumsqr(x - near) / MAX_CHANGE**2)
        output = casadi.vertcat(self.graph.apply(x, *others), x, excess)
        pairs = list(zip(inputs, symbols, strict=True))
        return compile_graph(trace(self.graph.name, pairs, scalars(output), made_from=self.graph.made_from))

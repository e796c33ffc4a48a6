"""Control laws for robots with loops: Newton steps from the previous coordinates close the loops (warm start).

The Newton steps are part of the law's machine code. Closing the loops from home, as the kernels of single poses do,
takes milliseconds in Python. The loops are closed from home only at the first step of the controller, and if the Newton
steps do not converge or change the coordinates by more than ``MAX_CHANGE``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.constraint import Constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.shapes import Float, PerCoordinate, PerJoint

MAX_RESIDUAL = 1e-11  # m or rad, norm of the residual of all loops; above it, the loops are not closed
MAX_CHANGE = 0.3  # rad or m, norm of the change of all coordinates; robots move less in one controller step


@dataclass(frozen=True, eq=False)
class WarmStartKernel:
    """The compiled graph of a control law whose first input is the vector of all coordinates, with closed loops."""

    loops: Constraint
    graph: Graph

    def __call__(
        self, near: PerCoordinate | None, q: PerJoint, *others: np.ndarray
    ) -> tuple[Float[np.ndarray, "out"], PerCoordinate]:
        """Evaluate the law at actuated coordinates q. Return its output, and all coordinates with closed loops.

        ``near`` is the warm start: all coordinates at the previous step, or None at the first step.
        """
        size = self.graph.size
        result = self._kernel.one(q, self._close_from_home(q) if near is None else near, *others)
        if near is not None and not result[-1] <= 1.0:
            result = self._kernel.one(q, self._close_from_home(q), *others)
        return result[:size], result[size:-1]

    def _close_from_home(self, q: PerJoint) -> PerCoordinate:
        if not np.isfinite(q).all():
            return self.loops.home  # only a placeholder: the kernel raises an error about q
        return solve(self.loops, q[None]).or_raise().x[0]

    @cached_property
    def _kernel(self) -> Kernel:
        """(q, near, others) → output of the law, x, and excess.

        The excess is above 1 if the loops are not closed at x, or if x is too far from ``near``.
        """
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

"""The door to machine code: what is asked of a robot's dynamics, as a kernel.

Arrays have shape (samples, actuated coordinates) and the order of ``robot.actuated``, for q, qd, qdd and tau alike. A
robot with closed loops gets a ClosedKernel, which closes the loops first; else it is a plain Kernel.
``backend="interpreter"`` is the slow reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.formulation import graphs
from ytheta.formulation.closing import constraint
from ytheta.formulation.constraint import Constraint
from ytheta.formulation.graph import Graph
from ytheta.formulation.loops import solve
from ytheta.native import About, Block, Kernel, compile_graph
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class ClosedKernel:
    """A kernel of a robot with loops: it takes actuated coordinates Q, closes the loops and goes on with all of them.

    ClosureError says which sample cannot close, and why.
    """

    loops: Constraint
    kernel: Kernel

    @property
    def graph(self) -> Graph:
        return self.kernel.graph

    @property
    def about(self) -> About:
        return self.kernel.about

    def __call__(
        self, q: Any, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, "samples *shape"]:
        return self.kernel(self.closed(q), *arrays, out=out, threads=threads)

    def one(self, q: Any, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        return self.kernel.one(self.closed(np.asarray(q)[None])[0], *vectors)

    def blocks(self, q: Any, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        return self.kernel.blocks(self.closed(q), *arrays, size=size)

    def closed(self, q: Any) -> Float[np.ndarray, "samples coordinates"]:
        """All coordinates for actuated ones."""
        taken = np.asarray(q, dtype=float)
        if taken.ndim != 2:
            raise InputError(
                f"q has shape {taken.shape}; give (samples, {len(self.loops.actuated)}), one row per sample"
            )
        if not np.isfinite(taken).all():
            sample = int(np.flatnonzero(~np.isfinite(taken).all(axis=1))[0])
            raise InputError(f"q is not finite in sample {sample}; remove the sample or correct it")
        return solve(self.loops, taken).or_raise().x


AnyKernel = Kernel | ClosedKernel


def regressor(
    robot: Robot,
    *,
    parameters: Sequence[str] | None = None,
    formulation: str = "",
    reference: bool = False,
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd, qdd) → Y of the parameters named, or of all standard ones in the order of ``robot.parameter_names``.

    ``reference``: (q, qd, v, vd) → the regressor of two velocities that controllers of the Slotine-Li kind need.
    """
    graph = graphs.regressor_graph(robot, formulation=formulation, parameters=parameters, reference=reference)
    return _compiled(robot, graph, backend)


def inverse_dynamics(robot: Robot, *, theta_input: bool = False, backend: str = "llvm") -> AnyKernel:
    """(q, qd, qdd) → tau; with ``theta_input`` the standard parameters are a fourth argument, shared by all samples."""
    return _compiled(robot, graphs.inverse_dynamics_graph(robot, theta_input=theta_input), backend)


def forward_dynamics(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd, tau) → qdd."""
    return _compiled(robot, graphs.forward_dynamics_graph(robot), backend)


def mass_matrix(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """q → M, rotor inertia included."""
    return _compiled(robot, graphs.mass_matrix_graph(robot), backend)


def gravity(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """q → the torque that holds the arm at rest."""
    return _compiled(robot, graphs.gravity_graph(robot), backend)


def bias(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → the torque without acceleration, friction included."""
    return _compiled(robot, graphs.bias_graph(robot), backend)


def coriolis_matrix(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → C with tau = M qdd + C qd + g and Mdot - 2 C skew."""
    return _compiled(robot, graphs.coriolis_graph(robot), backend)


def momentum(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → M qd."""
    return _compiled(robot, graphs.momentum_graph(robot), backend)


def energy(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → kinetic and potential energy."""
    return _compiled(robot, graphs.energy_graph(robot), backend)


def _compiled(robot: Robot, graph: Graph, backend: str) -> AnyKernel:
    kernel = compile_graph(graph, backend=backend)
    return ClosedKernel(constraint(robot), kernel) if robot.loops else kernel

"""The symbolic inputs of the graphs of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.dynamics.drive_motion import DriveMotion, compute_drive_motion
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import zeros
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The symbolic inputs of a graph, and the model of the robot."""

    model: SymbolicModel
    symbols: tuple[tuple[Input, casadi.SX], ...]

    @property
    def loops(self) -> Constraint:
        return self.model.loops

    def vector(self, name: str) -> AnyPerActuated:
        """The scalars of the input with this name; zeros if there is none."""
        for entry, vector in self.symbols:
            if entry.name == name:
                return scalars(vector)
        return zeros(len(self.loops.actuated))

    @cached_property
    def motion(self) -> DriveMotion:
        """The motion of joints and drives for the inputs qd and qdd."""
        return compute_drive_motion(self.loops, self.vector("qd"), self.vector("qdd"))

    def trace_output(self, name: str, output: np.ndarray) -> Graph:
        return trace(name, self.symbols, output, made_from=f"{name} of {self.loops.robot.name}")


def declare_inputs(robot: Robot, *names: str, theta_input: bool = False, theta_shared: bool = True) -> GraphInputs:
    """Create symbols for the coordinates and for the named vectors.

    By default, theta consists of the robot's parameter values. If ``theta_input`` is true, theta is an additional
    input. It is shared by all samples if ``theta_shared`` is true, and has a new value in every sample otherwise.
    """
    import casadi

    loops = build_constraint(robot)
    size = len(loops.actuated)
    symbols = [(Input("x" if loops.cuts else "q", len(loops.home)), loops.x)]
    symbols += [(Input(name, size), casadi.SX.sym(name, size)) for name in names]
    theta = exact_array(loops.robot.theta.tolist()) if len(loops.robot.theta) else zeros(0)
    if theta_input:
        symbols.append((Input("theta", len(theta), shared=theta_shared), casadi.SX.sym("theta", len(theta))))
        theta = scalars(symbols[-1][1])
    return GraphInputs(SymbolicModel(loops, theta), tuple(symbols))

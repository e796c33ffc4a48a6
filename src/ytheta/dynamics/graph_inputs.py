"""The symbolic inputs of the graphs of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.arguments import check_words
from ytheta.dynamics.drive_motion import DriveMotion, compute_drive_motion
from ytheta.dynamics.links.frame_jacobian import WRENCH_SIZE, Axes, NamedFrame, compute_wrench_torque, find_frame
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import dot, zeros
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The symbolic inputs of a graph, and the model of the robot.

    ``wrenches`` are the frames on which external wrenches act, each with its symbols and their axes.
    """

    model: SymbolicModel
    symbols: tuple[tuple[Input, casadi.SX], ...]
    wrenches: tuple[tuple[NamedFrame, casadi.SX, Axes], ...] = ()

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

    @property
    def wrench_torque(self) -> AnyPerActuated:
        """The torques of the actuated coordinates that have the same effect as all external wrenches."""
        total = zeros(len(self.loops.actuated))
        for frame, wrench, axes in self.wrenches:
            joints = compute_wrench_torque(self.loops.mechanism, self.motion.joints, frame, scalars(wrench), axes)
            total = total + dot(self.motion.joint_jacobian.T, joints)
        return total

    def trace_output(self, name: str, output: np.ndarray) -> Graph:
        return trace(name, self.symbols, output, made_from=f"{name} of {self.loops.robot.name}")


def declare_inputs(
    robot: Robot,
    *names: str,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    theta_input: bool = False,
    theta_shared: bool = True,
) -> GraphInputs:
    """Create symbols for the coordinates, for the named vectors and for the wrenches on the frames ``wrench_at``.

    By default, theta consists of the robot's parameter values. If ``theta_input`` is true, theta is an additional
    input. It is shared by all samples if ``theta_shared`` is true, and has a new value in every sample otherwise.
    """
    import casadi

    loops = build_constraint(robot)
    size = len(loops.actuated)
    symbols = [(Input("x" if loops.cuts else "q", len(loops.home)), loops.x)]
    symbols += [(Input(name, size), casadi.SX.sym(name, size)) for name in names]
    wrenches, axes = [], check_axes("wrench_axes", wrench_axes)
    frames = _list_frame_names(wrench_at)
    if axes is not Axes.FRAME and not frames:
        raise InputError(f"wrench_axes is {wrench_axes!r}, but no wrench acts; give wrench_at, the name of a frame")
    for name in frames:
        wrench = casadi.SX.sym("wrench", WRENCH_SIZE)
        wrenches.append((find_frame(loops.mechanism, name), wrench, axes))
        symbols.append((Input(f"wrench at {name}", WRENCH_SIZE), wrench))
    theta = exact_array(loops.robot.theta.tolist()) if len(loops.robot.theta) else zeros(0)
    if theta_input:
        symbols.append((Input("theta", len(theta), shared=theta_shared), casadi.SX.sym("theta", len(theta))))
        theta = scalars(symbols[-1][1])
    return GraphInputs(SymbolicModel(loops, theta), tuple(symbols), tuple(wrenches))


def check_axes(name: str, value: str) -> Axes:
    """Return the axes with this name. ``name`` is that of the argument."""
    known = [axes.value for axes in Axes]
    if value not in known:
        raise UnknownNameError(f"{name} is {value!r}{suggest_names(value, known)}")
    return Axes(value)


def _list_frame_names(wrench_at: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the frames on which wrenches act; a single name may be given without a list."""
    names = (wrench_at,) if isinstance(wrench_at, str) else wrench_at
    names = check_words("wrench_at", names, "names of links or markers", ("tool", "elbow"))
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"wrench_at names {name!r} more than once; add up the wrenches on a frame")
    return names

"""Graphs of a whole robot, with its drives, forces, couplings and loops: what kernels are compiled from.

The first input is the vector of the robot's coordinates (``q``; with loops ``x``, which must be closed, see ``loops``);
velocities, accelerations and torques belong to the actuated coordinates. Without loops the two are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics import composite_body, rigid_body
from ytheta.dynamics.declared_forces import force_shapes
from ytheta.dynamics.formulations import lagrange, minimal_newton_euler
from ytheta.dynamics.formulations.newton_euler import PER_LINK, inverse_dynamics
from ytheta.dynamics.formulations.registry import formulation_of
from ytheta.dynamics.full_regressor import Moved, full_inverse_dynamics, full_regressor, moved
from ytheta.dynamics.loops.closing import constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import exact
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.errors import InputError, RobotError, UnknownNameError, suggest_names
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

if TYPE_CHECKING:
    import casadi

PER_JOINT = len(JOINT_PARAMETERS)


@dataclass(frozen=True, eq=False)
class Traced:
    """A robot with symbols for its motion and numbers (or symbols) for its parameters."""

    loops: Constraint
    inputs: tuple[tuple[Input, casadi.SX], ...]
    theta: Shaped[np.ndarray, "params"]

    def vector(self, name: str) -> Shaped[np.ndarray, "actuated"]:
        """The scalars of an input; zeros where it is none."""
        found = [scalars(symbols) for entry, symbols in self.inputs if entry.name == name]
        return found[0] if found else zeros(len(self.loops.actuated))

    @cached_property
    def moved(self) -> Moved:
        """Joints and drives for the inputs qd and qdd."""
        return moved(self.loops, self.vector("qd"), self.vector("qdd"))

    @property
    def link_theta(self) -> Shaped[np.ndarray, "link_params"]:
        return self.theta[: PER_LINK * len(self.loops.mechanism.bodies)]

    @property
    def rotor_inertias(self) -> Shaped[np.ndarray, "drives"]:
        return self.theta[len(self.link_theta) : self._before_forces : PER_JOINT]

    @property
    def force_theta(self) -> Shaped[np.ndarray, "forces"]:
        return self.theta[self._before_forces :]

    @property
    def force_columns(self) -> Shaped[np.ndarray, "actuated forces"]:
        """The columns of the declared forces in Y."""
        return dot(self.moved.drives.T, force_shapes(self.loops, self.moved.motion.q))

    @property
    def _before_forces(self) -> int:
        return len(self.theta) - len(self.loops.robot.forces)

    def graph(self, name: str, output: np.ndarray) -> Graph:
        return trace(name, self.inputs, output, made_from=f"{name} of {self.loops.robot.name}")


def traced(robot: Robot, *names: str, theta_input: bool = False, theta_shared: bool = True) -> Traced:
    """Symbols for the coordinates and the vectors named. theta is baked in unless it is an input, which all samples
    share or each has its own."""
    import casadi

    loops = constraint(robot)
    size = len(loops.actuated)
    inputs = [(Input("x" if loops.cuts else "q", len(loops.home)), loops.x)]
    inputs += [(Input(name, size), casadi.SX.sym(name, size)) for name in names]
    theta = exact(loops.robot.theta.tolist()) if len(loops.robot.theta) else zeros(0)
    if theta_input:
        inputs.append((Input("theta", len(theta), shared=theta_shared), casadi.SX.sym("theta", len(theta))))
        theta = scalars(inputs[-1][1])
    return Traced(loops, tuple(inputs), theta)


def regressor_graph(
    robot: Robot, *, formulation: str = "", parameters: Sequence[str] | None = None, reference: bool = False
) -> Graph:
    """(q, qd, qdd) → Y of the parameters named, or of all in the order of ``robot.parameter_names``.

    ``reference``: (q, qd, v, vd) → the regressor of two velocities. ``formulation``: any that accepts the robot gives
    the same numbers by its own road; the first that does where none is named.
    """
    t = traced(robot, *(("qd", "v", "vd") if reference else ("qd", "qdd")))
    links = formulation_of(robot, formulation).regressor
    columns = _columns(robot, parameters)
    last, v = (t.vector("vd"), t.vector("v")) if reference else (t.vector("qdd"), None)
    Y = full_regressor(t.loops, links, t.vector("qd"), last, v)
    return t.graph("regressor", Y[:, columns])


def momentum_regressor_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → W with W theta = M qd, the momentum, and Y = dW/dt + Yhat: lu1993 (30), (47). No accelerations."""
    t = _without_loops(traced(robot, "qd"))
    W = _wide(t, lagrange.momentum(t.loops.mechanism, t.moved.motion))
    for start, row, rate, _ in _drives(t):
        W[:, start : start + 1] = dot(row[:, None], array([[rate]]))
    return t.graph("momentum regressor", W[:, _columns(robot, parameters)])


def remainder_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → Yhat = Y - dW/dt, the rest of lu1993 (47), with friction and declared forces. No accelerations."""
    t = _without_loops(traced(robot, "qd"))
    Yhat = _wide(t, lagrange.remainder(t.loops.mechanism, t.moved.motion))
    for start, row, _, values in _drives(t):
        Yhat[:, start + 1 : start + PER_JOINT] = dot(row[:, None], values[None, 1:])
    Yhat[:, len(t.theta) - len(t.force_theta) :] = t.force_columns
    return t.graph("remainder", Yhat[:, _columns(robot, parameters)])


def split(robot: Robot, unknown: Sequence[str]) -> tuple[list[str], list[str]]:
    """Known and unknown parameters, each in the order of theta: the columns of Y_k and Y_u, lu1993 (15)-(18)."""
    _columns(robot, unknown)
    wanted = set(unknown)
    return (
        [name for name in robot.parameter_names if name not in wanted],
        [name for name in robot.parameter_names if name in wanted],
    )


def inverse_dynamics_graph(robot: Robot, *, theta_input: bool = False, formulation: str = "") -> Graph:
    """(q, qd, qdd) → tau, friction, rotor inertia and declared forces included.

    ``formulation``: newton_euler, which takes everything, or minimal_newton_euler, which is leaner and is taken where
    none is named, unless there are loops or theta is an input.
    """
    minimal = _minimal(robot, formulation, theta_input=theta_input)
    t = traced(robot, "qd", "qdd", theta_input=theta_input)
    tau = full_inverse_dynamics(t.loops, t.theta, t.vector("qd"), t.vector("qdd"), minimal=minimal)
    return t.graph("inverse dynamics", tau)


def _minimal(robot: Robot, formulation: str, *, theta_input: bool) -> bool:
    """Whether inverse dynamics is traced in minimal parameters."""
    known = ("newton_euler", "minimal_newton_euler")
    if formulation and formulation not in known:
        raise UnknownNameError(f"inverse dynamics has no formulation {formulation!r}{suggest_names(formulation, known)}")
    reason = minimal_newton_euler.accepts(robot)
    if reason is None and theta_input:
        reason = "its numbers are made before tracing, so theta cannot be an input; use newton_euler"
    if formulation == known[1] and reason is not None:
        raise InputError(f"minimal_newton_euler does not take this: {reason}")
    return formulation != known[0] and reason is None


def bias_graph(robot: Robot) -> Graph:
    """(q, qd) → the torque without acceleration, friction and declared forces included."""
    t = traced(robot, "qd")
    return t.graph("bias", _bias(t))


def gravity_graph(robot: Robot) -> Graph:
    """q → the torque that holds the arm at rest: weight and declared forces, friction and offsets left out."""
    t = traced(robot)
    held = rigid_body.gravity(t.loops.mechanism, t.moved.motion, t.link_theta)
    return t.graph("gravity", dot(t.moved.joints.T, held) + dot(t.force_columns, t.force_theta))


def mass_matrix_graph(robot: Robot) -> Graph:
    """q → the mass matrix, rotor inertia included."""
    t = traced(robot)
    return t.graph("mass matrix", _mass_matrix(t))


def coriolis_graph(robot: Robot) -> Graph:
    """(q, qd) → C with tau = M qdd + C qd + g and Mdot - 2 C skew, rotor inertia included."""
    t = traced(robot, "qd")
    weightless = replace(t.loops.mechanism, gravity=zeros(3))
    size = len(t.loops.actuated)
    C = zeros(size, size)
    for k in range(size):
        unit = zeros(size)
        unit[k] = 1
        m = moved(t.loops, t.vector("qd"), zeros(size), unit)
        rotors = m.acceleration * t.rotor_inertias
        C[:, k] = dot(m.joints.T, inverse_dynamics(weightless, m.motion, t.link_theta)) + dot(m.drives.T, rotors)
    return t.graph("Coriolis matrix", C)


def momentum_graph(robot: Robot) -> Graph:
    """(q, qd) → M qd."""
    t = traced(robot, "qd")
    return t.graph("momentum", dot(_mass_matrix(t), t.vector("qd")))


def energy_graph(robot: Robot) -> Graph:
    """(q, qd) → kinetic and potential energy of the links; declared forces have no part in it.

    A force says what torque it gives, not what energy it keeps, and not every one keeps any.
    """
    t = traced(robot, "qd")
    Qd = t.vector("qd")
    kinetic = dot(Qd[None], dot(_mass_matrix(t), Qd))[0] * 0.5
    potential = rigid_body.potential_energy(t.loops.mechanism, t.moved.motion, t.link_theta)
    return t.graph("energy", array([kinetic, potential]))


def forward_dynamics_graph(robot: Robot, *, theta_input: bool = False) -> Graph:
    """(q, qd, tau) → qdd; with ``theta_input`` the standard parameters are a fourth input, new in every sample.

    The factorisation follows the tree where coordinates are the joints in their order and no motor joins branches.
    """
    from casadi import SX

    t = traced(robot, "qd", "tau", theta_input=theta_input, theta_shared=False)
    M, right = _mass_matrix(t), t.vector("tau") - _bias(t)
    for name, entry in zip(t.loops.robot.actuated, M.diagonal(), strict=True):
        if SX(entry).is_zero():
            raise RobotError(
                f"robot {robot.name!r}: nothing that {name!r} moves has inertia, so no torque tells its acceleration; "
                "give a link behind it a mass, or its joint a rotor inertia"
            )
    alone = not robot.loops and not robot.motors
    if not alone or t.loops.robot.coordinates != tuple(joint.name for joint in t.loops.robot.movable):
        return t.graph("forward dynamics", composite_body.solve_dense(M, right))
    return t.graph("forward dynamics", composite_body.solve(t.loops.mechanism, M, right))


def cut_motion_graph(robot: Robot) -> Graph:
    """(x, qd, qdd) → position, rate and acceleration of every moving cut joint, in the order of the loops."""
    t = traced(robot, "qd", "qdd")
    m = t.moved
    own = slice(len(m.joints), len(m.joints) + len(t.loops.cut_rates))
    return t.graph("cut joints", np.stack([t.loops.cut_positions, m.rate[own], m.acceleration[own]], axis=1))


def _without_loops(t: Traced) -> Traced:
    reason = lagrange.accepts(t.loops.robot)
    if reason is not None:
        raise InputError(f"Y = dW/dt + Yhat comes from the Lagrangian of a tree: {reason} for Y itself")
    return t


def _wide(t: Traced, links: np.ndarray) -> np.ndarray:
    """Columns of the links in actuated rows, and zeros for those of drives and forces."""
    rows = dot(t.moved.joints.T, links)
    return np.concatenate([rows, zeros(len(rows), len(t.theta) - rows.shape[1])], axis=1)


def _drives(t: Traced) -> Iterator[tuple[int, np.ndarray, Any, np.ndarray]]:
    """For every drive its first column, its rates per Qd, its rate, and what its four parameters are multiplied by."""
    start = len(t.link_theta)
    for k, values in enumerate(t.moved.values):
        yield start + PER_JOINT * k, t.moved.drives[k], t.moved.rate[k], values


def _bias(t: Traced) -> np.ndarray:
    """Inverse dynamics without acceleration; with the robot's own numbers in minimal parameters."""
    still = zeros(len(t.loops.actuated))
    numbers = all(entry.name != "theta" for entry, _ in t.inputs)
    lean = numbers and minimal_newton_euler.accepts(t.loops.robot) is None
    return full_inverse_dynamics(t.loops, t.theta, t.vector("qd"), still, minimal=lean)


def _mass_matrix(t: Traced) -> np.ndarray:
    """Eᵀ M E of the links, and rotors by their rates per Qd."""
    links = composite_body.mass_matrix(t.loops.mechanism, t.moved.motion, t.link_theta)
    M = dot(dot(t.moved.joints.T, links), t.moved.joints)
    return M + dot(t.moved.drives.T * t.rotor_inertias, t.moved.drives)


def _columns(robot: Robot, parameters: Sequence[str] | None) -> list[int]:
    names = robot.parameter_names
    place = {name: k for k, name in enumerate(names)}
    if isinstance(parameters, str):
        raise InputError(f"parameters = {parameters!r} is one name; give a list of names")
    for name in () if parameters is None else parameters:
        if name not in place:
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, names)}")
    return list(range(len(names))) if parameters is None else [place[name] for name in parameters]

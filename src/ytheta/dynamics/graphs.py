"""Graphs of a whole robot, with its drives, forces, couplings and loops, ready to be compiled to kernels.

The first input is the vector of the robot's coordinates: ``q``, or with loops ``x``, which must be closed (see
``loops``). Velocities, accelerations and torques belong to the actuated coordinates, which without loops are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics import composite_body, rigid_body
from ytheta.dynamics.drive_motion import DriveMotion, compute_drive_motion
from ytheta.dynamics.formulations import lagrange, minimal_newton_euler
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.formulations.registry import choose_formulation
from ytheta.dynamics.full_regressor import full_regressor
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import PER_DRIVE, exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.errors import InputError, RobotError, UnknownNameError, suggest_names
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The symbolic inputs of a graph, and the model of the robot that they belong to."""

    model: SymbolicModel
    symbols: tuple[tuple[Input, casadi.SX], ...]

    @property
    def loops(self) -> Constraint:
        return self.model.loops

    def vector(self, name: str) -> AnyPerActuated:
        """The scalars of an input; zeros if there is no such input."""
        for entry, vector in self.symbols:
            if entry.name == name:
                return scalars(vector)
        return zeros(len(self.loops.actuated))

    @cached_property
    def motion(self) -> DriveMotion:
        """The motion of joints and drives for the inputs qd and qdd."""
        return compute_drive_motion(self.loops, self.vector("qd"), self.vector("qdd"))

    def graph(self, name: str, output: np.ndarray) -> Graph:
        return trace(name, self.symbols, output, made_from=f"{name} of {self.loops.robot.name}")


def declare_inputs(robot: Robot, *names: str, theta_input: bool = False, theta_shared: bool = True) -> GraphInputs:
    """Make symbols for the coordinates and for the named vectors.

    theta consists of the robot's numbers, or it is one more input: shared by all samples, or new in every sample.
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


def regressor_graph(
    robot: Robot, *, formulation: str = "", parameters: Sequence[str] | None = None, reference: bool = False
) -> Graph:
    """(q, qd, qdd) → Y of the named parameters, or of all in the order of ``robot.parameter_names``.

    ``reference``: (q, qd, v, vd) → the regressor of two velocities. ``formulation``: all that accept the robot give the
    same numbers; the default is the first of them in the order of the registry.
    """
    inputs = declare_inputs(robot, *(("qd", "v", "vd") if reference else ("qd", "qdd")))
    link_regressor = choose_formulation(robot, formulation).regressor
    columns = _columns(robot, parameters)
    vd, v = (inputs.vector("vd"), inputs.vector("v")) if reference else (inputs.vector("qdd"), None)
    Y = full_regressor(inputs.loops, link_regressor, inputs.vector("qd"), vd, v)
    return inputs.graph("regressor", Y[:, columns])


def momentum_regressor_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → W with W theta = M qd, the momentum, and Y = dW/dt + Yhat: lu1993 (30), (47). No accelerations."""
    inputs = declare_inputs(robot, "qd")
    _check_lagrangian(robot)
    W = _extend_columns(inputs, lagrange.momentum(inputs.loops.mechanism, inputs.motion.joints))
    for start, row, velocity, _ in _drive_columns(inputs):
        W[:, start : start + 1] = dot(row[:, None], array([[velocity]]))
    return inputs.graph("momentum regressor", W[:, _columns(robot, parameters)])


def remainder_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → Yhat = Y - dW/dt, the rest of lu1993 (47), with friction and declared forces. No accelerations."""
    inputs = declare_inputs(robot, "qd")
    _check_lagrangian(robot)
    Yhat = _extend_columns(inputs, lagrange.remainder(inputs.loops.mechanism, inputs.motion.joints))
    for start, row, _, factors in _drive_columns(inputs):
        Yhat[:, start + 1 : start + PER_DRIVE] = dot(row[:, None], factors[None, 1:])
    Yhat[:, len(inputs.model.theta) - len(inputs.model.force_theta) :] = inputs.model.force_columns
    return inputs.graph("remainder", Yhat[:, _columns(robot, parameters)])


def split_parameters(robot: Robot, unknown: Sequence[str]) -> tuple[list[str], list[str]]:
    """Known and unknown parameters, each in the order of theta: the columns of Y_k and Y_u, lu1993 (15)-(18)."""
    _columns(robot, unknown)
    names = set(unknown)
    return (
        [name for name in robot.parameter_names if name not in names],
        [name for name in robot.parameter_names if name in names],
    )


def inverse_dynamics_graph(robot: Robot, *, theta_input: bool = False, formulation: str = "") -> Graph:
    """(q, qd, qdd) → tau, friction, rotor inertia and declared forces included.

    ``formulation``: newton_euler, which accepts every robot, or minimal_newton_euler, which needs fewer operations and
    is the default unless there are loops or theta is an input.
    """
    minimal = _uses_minimal_parameters(robot, formulation, theta_input=theta_input)
    inputs = declare_inputs(robot, "qd", "qdd", theta_input=theta_input)
    tau = inputs.model.torque(inputs.vector("qd"), inputs.vector("qdd"), minimal=minimal)
    return inputs.graph("inverse dynamics", tau)


def _uses_minimal_parameters(robot: Robot, formulation: str, *, theta_input: bool) -> bool:
    """Whether inverse dynamics is traced in minimal parameters."""
    known = ("newton_euler", "minimal_newton_euler")
    if formulation and formulation not in known:
        hint = suggest_names(formulation, known)
        raise UnknownNameError(f"inverse dynamics has no formulation {formulation!r}{hint}")
    reason = minimal_newton_euler.explain_refusal(robot)
    if reason is None and theta_input:
        reason = "its numbers are computed before tracing, so theta cannot be an input; use newton_euler"
    if formulation == known[1] and reason is not None:
        raise InputError(f"minimal_newton_euler cannot be used: {reason}")
    return formulation != known[0] and reason is None


def bias_graph(robot: Robot) -> Graph:
    """(q, qd) → the torque without acceleration, friction and declared forces included."""
    inputs = declare_inputs(robot, "qd")
    return inputs.graph("bias", _bias(inputs))


def gravity_graph(robot: Robot) -> Graph:
    """q → the torque that holds the arm at rest: weight and declared forces, without friction and offsets."""
    inputs = declare_inputs(robot)
    return inputs.graph("gravity", inputs.model.holding_torque)


def mass_matrix_graph(robot: Robot) -> Graph:
    """q → the mass matrix, rotor inertia included."""
    inputs = declare_inputs(robot)
    return inputs.graph("mass matrix", inputs.model.mass_matrix)


def coriolis_graph(robot: Robot) -> Graph:
    """(q, qd) → C with tau = M qdd + C qd + g and Mdot - 2 C skew, rotor inertia included."""
    inputs = declare_inputs(robot, "qd")
    weightless = replace(inputs.loops.mechanism, gravity=zeros(3))
    size = len(inputs.loops.actuated)
    C = zeros(size, size)
    for k in range(size):
        unit = zeros(size)
        unit[k] = 1
        m = compute_drive_motion(inputs.loops, inputs.vector("qd"), zeros(size), unit)
        links = inverse_dynamics(weightless, m.joints, inputs.model.link_theta)
        rotors = m.acceleration * inputs.model.drive_theta[:, 0]
        C[:, k] = dot(m.joint_jacobian.T, links) + dot(m.drive_jacobian.T, rotors)
    return inputs.graph("Coriolis matrix", C)


def momentum_graph(robot: Robot) -> Graph:
    """(q, qd) → M qd."""
    inputs = declare_inputs(robot, "qd")
    return inputs.graph("momentum", dot(inputs.model.mass_matrix, inputs.vector("qd")))


def energy_graph(robot: Robot) -> Graph:
    """(q, qd) → kinetic energy of links and rotors, and potential energy of the links.

    Declared forces are left out: they are declared by their torque, and not every one of them has a potential.
    """
    inputs = declare_inputs(robot, "qd")
    qd = inputs.vector("qd")
    kinetic = dot(qd[None], dot(inputs.model.mass_matrix, qd))[0] * 0.5
    potential = rigid_body.potential_energy(inputs.loops.mechanism, inputs.motion.joints, inputs.model.link_theta)
    return inputs.graph("energy", array([kinetic, potential]))


def forward_dynamics_graph(robot: Robot, *, theta_input: bool = False) -> Graph:
    """(q, qd, tau) → qdd; with ``theta_input`` the standard parameters are a fourth input, new in every sample.

    The factorisation follows the tree if the coordinates are the joints in their order and no motor couples branches.
    """
    from casadi import SX

    inputs = declare_inputs(robot, "qd", "tau", theta_input=theta_input, theta_shared=False)
    M, right = inputs.model.mass_matrix, inputs.vector("tau") - _bias(inputs)
    for name, entry in zip(inputs.loops.robot.actuated, M.diagonal(), strict=True):
        if SX(entry).is_zero():
            raise RobotError(
                f"robot {robot.name!r}: nothing that {name!r} moves has inertia, so its acceleration is undetermined; "
                "give a link behind it a mass, or its joint a rotor inertia"
            )
    uncoupled = not robot.loops and not robot.motors
    if uncoupled and inputs.loops.robot.coordinates == tuple(joint.name for joint in inputs.loops.robot.movable):
        return inputs.graph("forward dynamics", composite_body.solve(inputs.loops.mechanism, M, right))
    return inputs.graph("forward dynamics", composite_body.solve_dense(M, right))


def cut_motion_graph(robot: Robot) -> Graph:
    """(x, qd, qdd) → position, velocity and acceleration of every moving cut joint, in the order of the loops."""
    inputs = declare_inputs(robot, "qd", "qdd")
    first = len(inputs.motion.joint_jacobian)
    cuts = slice(first, first + len(inputs.loops.cut_rates))
    motion = [inputs.loops.cut_positions, inputs.motion.velocity[cuts], inputs.motion.acceleration[cuts]]
    return inputs.graph("cut joints", np.stack(motion, axis=1))


def _check_lagrangian(robot: Robot) -> None:
    reason = lagrange.explain_refusal(robot)
    if reason is not None:
        raise InputError(f"Y = dW/dt + Yhat comes from the Lagrangian of a tree: {reason} for Y itself")


def _extend_columns(inputs: GraphInputs, links: np.ndarray) -> np.ndarray:
    """Columns of the links in actuated rows, and zeros for those of drives and forces."""
    rows = dot(inputs.motion.joint_jacobian.T, links)
    return np.concatenate([rows, zeros(len(rows), len(inputs.model.theta) - rows.shape[1])], axis=1)


def _drive_columns(inputs: GraphInputs) -> Iterator[tuple[int, np.ndarray, Any, np.ndarray]]:
    """For every drive its first column, its row of the Jacobian, its velocity, and the factors of its parameters."""
    start = len(inputs.model.link_theta)
    for k, factors in enumerate(inputs.motion.parameter_factors):
        yield start + PER_DRIVE * k, inputs.motion.drive_jacobian[k], inputs.motion.velocity[k], factors


def _bias(inputs: GraphInputs) -> np.ndarray:
    """Inverse dynamics without acceleration; in minimal parameters unless theta is an input."""
    theta_input = any(entry.name == "theta" for entry, _ in inputs.symbols)
    minimal = _uses_minimal_parameters(inputs.loops.robot, "", theta_input=theta_input)
    return inputs.model.torque(inputs.vector("qd"), zeros(len(inputs.loops.actuated)), minimal=minimal)


def _columns(robot: Robot, parameters: Sequence[str] | None) -> list[int]:
    """The columns of the named parameters in Y; all columns without names."""
    names = robot.parameter_names
    place = {name: k for k, name in enumerate(names)}
    if isinstance(parameters, str):
        raise InputError(f"parameters = {parameters!r} is a single string; give a list of names")
    for name in () if parameters is None else parameters:
        if name not in place:
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, names)}")
    return list(range(len(names))) if parameters is None else [place[name] for name in parameters]

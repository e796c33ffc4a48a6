"""Graphs of a whole robot, with its drives, forces, couplings and loops, ready to be compiled to kernels.

The first input is the vector of the robot's coordinates. This input is called ``q``, or ``x`` if the robot has loops.
The loops must be closed at x (see ``loops``). Velocities, accelerations and torques belong to the actuated coordinates.
Without loops, all coordinates are actuated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ytheta.dynamics.drive_motion import compute_drive_motion
from ytheta.dynamics.formulations import lagrange
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.formulations.registry import choose_formulation, choose_recursion
from ytheta.dynamics.forward_dynamics import (
    check_inertia,
    check_load_friction,
    compute_from_regressor,
    remove_load_friction,
    solve_accelerations,
)
from ytheta.dynamics.full_regressor import full_regressor
from ytheta.dynamics.graph_inputs import GraphInputs, check_axes, declare_inputs
from ytheta.dynamics.graph_reuse import reuse_traced_graph
from ytheta.dynamics.links import rigid_body
from ytheta.dynamics.links.frame_jacobian import compute_frame_jacobian, find_frame
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated


@reuse_traced_graph
def regressor_graph(
    robot: Robot, *, formulation: str = "", parameters: Sequence[str] | None = None, reference: bool = False
) -> Graph:
    """(q, qd, qdd) → Y of the named parameters, or of all parameters in the order of ``robot.parameter_names``.

    If ``reference`` is true, the graph is (q, qd, v, vd) → Y(q, qd, v, vd) with a reference velocity v. All
    formulations give the same numbers; the default is the first one in the registry that accepts the robot.
    """
    inputs = declare_inputs(robot, *(("qd", "v", "vd") if reference else ("qd", "qdd")))
    link_regressor = choose_formulation(robot, formulation).regressor
    columns = _find_columns(robot, parameters)
    vd, v = (inputs.vector("vd"), inputs.vector("v")) if reference else (inputs.vector("qdd"), None)
    Y = full_regressor(inputs.loops, link_regressor, inputs.vector("qd"), vd, v)
    return inputs.trace_output("regressor", Y[:, columns])


@reuse_traced_graph
def momentum_regressor_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → W such that W theta is the momentum M qd, and Y = dW/dt + Yhat: lu1993 (30), (47)."""
    inputs = declare_inputs(robot, "qd")
    _check_lagrangian(robot, parameters)
    W = _extend_columns(inputs, lagrange.momentum(inputs.loops.mechanism, inputs.motion.joints))
    motion = inputs.motion
    for place, row, velocity in zip(inputs.model.drive_slices, motion.drive_jacobian, motion.velocity, strict=True):
        W[:, place.start : place.start + 1] = dot(row[:, None], array([[velocity]]))
    return inputs.trace_output("momentum regressor", W[:, _find_columns(robot, parameters)])


@reuse_traced_graph
def remainder_graph(robot: Robot, *, parameters: Sequence[str] | None = None) -> Graph:
    """(q, qd) → Yhat = Y - dW/dt, the remainder of lu1993 (47), with friction and declared forces."""
    inputs = declare_inputs(robot, "qd")
    _check_lagrangian(robot, parameters)
    Yhat = _extend_columns(inputs, lagrange.remainder(inputs.loops.mechanism, inputs.motion.joints))
    m = inputs.motion
    columns = zip(
        inputs.model.drive_slices, m.drive_jacobian, m.parameter_factors, m.root_factors, m.drives, strict=True
    )
    for place, row, factors, root, drive in columns:
        friction = array([*factors[1:], root] if drive.root is not None else [*factors[1:]])
        start = place.start + 1
        Yhat[:, start : start + len(friction)] = dot(row[:, None], friction[None])
    Yhat[:, len(inputs.model.theta) - len(inputs.model.force_theta) :] = inputs.model.force_columns
    return inputs.trace_output("remainder", Yhat[:, _find_columns(robot, parameters)])


def split_parameters(robot: Robot, unknown: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the known and of the unknown parameters, each in the order of theta.

    Their columns form Y_k and Y_u of lu1993 (15)-(18).
    """
    _find_columns(robot, unknown)  # raises if a name is wrong
    names = set(unknown)
    return (
        [name for name in robot.parameter_names if name not in names],
        [name for name in robot.parameter_names if name in names],
    )


@reuse_traced_graph
def inverse_dynamics_graph(
    robot: Robot,
    *,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    theta_input: bool = False,
    formulation: str = "",
) -> Graph:
    """(q, qd, qdd) → tau, with friction, rotor inertia and declared forces.

    ``formulation`` is newton_euler, which accepts every robot, minimal_newton_euler, which needs fewer operations, or
    composite_newton_euler. The default is minimal_newton_euler unless there are loops or theta is an input. For every
    frame in ``wrench_at``, the wrench that the surroundings exert there is an additional input.
    """
    recursion = choose_recursion(robot, formulation, theta_input=theta_input)
    inputs = declare_inputs(robot, "qd", "qdd", wrench_at=wrench_at, wrench_axes=wrench_axes, theta_input=theta_input)
    qd, qdd, wrench_torque = inputs.vector("qd"), inputs.vector("qdd"), inputs.wrench_torque
    tau = inputs.model.torque(qd, qdd, recursion=recursion, wrench_torque=wrench_torque)
    return inputs.trace_output("inverse dynamics", tau - wrench_torque)


@reuse_traced_graph
def bias_graph(robot: Robot, *, wrench_at: str | Sequence[str] = (), wrench_axes: str = "frame") -> Graph:
    """(q, qd) → the torque at zero acceleration, with friction and declared forces; wrenches as in inverse dynamics."""
    inputs = declare_inputs(robot, "qd", wrench_at=wrench_at, wrench_axes=wrench_axes)
    return inputs.trace_output("bias", _compute_bias(inputs, inputs.model))


@reuse_traced_graph
def gravity_graph(robot: Robot) -> Graph:
    """q → the torque that holds the arm at rest: weight and declared forces, without friction and offsets."""
    inputs = declare_inputs(robot)
    return inputs.trace_output("gravity", inputs.model.holding_torque)


@reuse_traced_graph
def mass_matrix_graph(robot: Robot) -> Graph:
    """q → the mass matrix, with rotor inertia."""
    inputs = declare_inputs(robot)
    return inputs.trace_output("mass matrix", inputs.model.mass_matrix)


@reuse_traced_graph
def coriolis_graph(robot: Robot) -> Graph:
    """(q, qd) → C, with rotor inertia, such that tau = M qdd + C qd + g and Mdot - 2 C is skew-symmetric."""
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
    return inputs.trace_output("Coriolis matrix", C)


@reuse_traced_graph
def momentum_graph(robot: Robot) -> Graph:
    """(q, qd) → M qd."""
    inputs = declare_inputs(robot, "qd")
    return inputs.trace_output("momentum", dot(inputs.model.mass_matrix, inputs.vector("qd")))


@reuse_traced_graph
def energy_graph(robot: Robot) -> Graph:
    """(q, qd) → kinetic energy of links and rotors, and potential energy of the links.

    Declared forces are left out, because they are declared by their torque, and not every torque has a potential.
    """
    inputs = declare_inputs(robot, "qd")
    qd = inputs.vector("qd")
    kinetic = dot(qd[None], dot(inputs.model.mass_matrix, qd))[0] * 0.5
    potential = rigid_body.potential_energy(inputs.loops.mechanism, inputs.motion.joints, inputs.model.link_theta)
    return inputs.trace_output("energy", array([kinetic, potential]))


@reuse_traced_graph
def jacobian_graph(robot: Robot, *, frame: str, axes: str = "frame") -> Graph:
    """q → J of a named frame: velocity of its origin and angular velocity per unit of each actuated velocity."""
    inputs = declare_inputs(robot)
    mechanism, joints = inputs.loops.mechanism, inputs.motion.joints
    J = compute_frame_jacobian(mechanism, joints, find_frame(mechanism, frame), check_axes("axes", axes))
    return inputs.trace_output("Jacobian", dot(J, inputs.motion.joint_jacobian))


@reuse_traced_graph
def forward_dynamics_graph(
    robot: Robot,
    *,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    theta_input: bool = False,
    method: str = "composite-body",
    formulation: str = "",
) -> Graph:
    """(q, qd, tau) → qdd; wrenches as in inverse dynamics.

    If ``theta_input`` is true, the standard parameters are the last input, with a new value in every sample. The
    method "composite-body" computes M from composite bodies, "regressor" computes M and bias from Y theta, by the four
    steps of lu1993 sec. V, with the Y of ``formulation``.
    """
    inputs = declare_inputs(
        robot,
        "qd",
        "tau",
        wrench_at=wrench_at,
        wrench_axes=wrench_axes,
        theta_input=theta_input,
        theta_shared=False,
    )
    check_inertia(inputs)
    check_load_friction(robot.parameter_names, robot.numeric.theta)
    if _uses_regressor(method, formulation):
        M, bias = compute_from_regressor(inputs, regressor_graph(robot, formulation=formulation))
        bias = bias - inputs.wrench_torque
    else:
        M, bias = inputs.model.mass_matrix, _compute_bias(inputs, inputs.model.without_load_friction)
    tau = remove_load_friction(inputs, inputs.vector("tau"))
    return inputs.trace_output("forward dynamics", solve_accelerations(inputs, M, tau - bias))


def _uses_regressor(method: str, formulation: str) -> bool:
    """Return whether forward dynamics forms Y. Raise an error if the method is unknown or has no formulation."""
    known = ("composite-body", "regressor")
    if method not in known:
        raise UnknownNameError(f"forward dynamics has no method {method!r}{suggest_names(method, known)}")
    if formulation and method != known[1]:
        raise InputError(f"formulation = {formulation!r} is only used by method {known[1]!r}; give this method too")
    return method == known[1]


@reuse_traced_graph
def cut_motion_graph(robot: Robot) -> Graph:
    """(x, qd, qdd) → position, velocity and acceleration of every moving cut joint, in the order of the loops."""
    inputs = declare_inputs(robot, "qd", "qdd")
    first = len(inputs.loops.robot.movable)
    cuts = slice(first, first + len(inputs.loops.cut_rates))
    motion = [inputs.loops.cut_positions, inputs.motion.velocity[cuts], inputs.motion.acceleration[cuts]]
    return inputs.trace_output("cut joints", np.stack(motion, axis=1))


def _check_lagrangian(robot: Robot, parameters: Sequence[str] | None) -> None:
    """Raise InputError if the Lagrangian formulation does not accept the robot or one of the parameters."""
    reason = lagrange.explain_refusal(robot)
    if reason is not None:
        raise InputError(f"Y = dW/dt + Yhat comes from the Lagrangian of a tree: {reason} for Y itself")
    for name in robot.parameter_names if parameters is None else parameters:
        if name.endswith(".fl"):
            raise InputError(
                f"{name!r} is load-dependent friction, which depends on accelerations and therefore has no column in "
                "Yhat; use the differential form, or leave this parameter out"
            )


def _extend_columns(inputs: GraphInputs, links: np.ndarray) -> np.ndarray:
    """Map the rows of the link columns to actuated coordinates, and append zero columns for drives and forces."""
    rows = dot(inputs.motion.joint_jacobian.T, links)
    return np.concatenate([rows, zeros(len(rows), len(inputs.model.theta) - rows.shape[1])], axis=1)


def _compute_bias(inputs: GraphInputs, model: SymbolicModel) -> AnyPerActuated:
    """The torque at zero acceleration, in minimal parameters if possible."""
    theta_input = any(entry.name == "theta" for entry, _ in inputs.symbols)
    recursion = choose_recursion(inputs.loops.robot, theta_input=theta_input)
    qd, qdd, wrench_torque = inputs.vector("qd"), zeros(len(inputs.loops.actuated)), inputs.wrench_torque
    return model.torque(qd, qdd, recursion=recursion, wrench_torque=wrench_torque) - wrench_torque


def _find_columns(robot: Robot, parameters: Sequence[str] | None) -> list[int]:
    """Return the columns of the named parameters in Y, or all columns if ``parameters`` is None."""
    names = robot.parameter_names
    place = {name: k for k, name in enumerate(names)}
    if isinstance(parameters, str):
        raise InputError(f"parameters = {parameters!r} is a single string; give a list of names")
    for name in () if parameters is None else parameters:
        if name not in place:
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, names)}")
    return list(range(len(names))) if parameters is None else [place[name] for name in parameters]

"""Graphs of a whole robot, with its drives, forces, couplings and loops, ready to be compiled to kernels.

The first input is the vector of the robot's coordinates. This input is called ``q``, or ``x`` if the robot has loops.
The loops must be closed at x (see ``constraint``). Velocities, accelerations and torques belong to the actuated
coordinates. Without loops, all coordinates are actuated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.arguments import check_words
from ytheta.dynamics import rigid_body
from ytheta.dynamics.constraint import DriveMotion, LoopConstraint, build_constraint, column, compute_drive_motion
from ytheta.dynamics.formulations import composite_newton_euler, lagrange
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.formulations.registry import choose_formulation, choose_recursion
from ytheta.dynamics.jacobians import (
    WRENCH_SIZE,
    Axes,
    NamedFrame,
    compute_frame_jacobian,
    compute_wrench_torque,
    find_frame,
)
from ytheta.dynamics.kernels import reuse_traced_graph
from ytheta.dynamics.mechanism import exact_array, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel, full_regressor
from ytheta.dynamics.vectors import array, dot, multiply_entries, zeros
from ytheta.errors import InputError, RobotError, UnknownNameError, suggest_names
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyActuatedByActuated, AnyPerActuated, Float

if TYPE_CHECKING:
    import casadi


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
    method "composite-body" computes M from composite bodies, "inertia-constants" likewise, but from the inertia
    constants of lin1995, and "regressor" computes M and bias from Y theta, by the four steps of lu1993 sec. V, with the
    Y of ``formulation``.
    """
    _check_method(robot, method, formulation, theta_input=theta_input)
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
    if method == "regressor":
        M, bias = compute_from_regressor(inputs, regressor_graph(robot, formulation=formulation))
        bias = bias - inputs.wrench_torque
    elif method == "inertia-constants":
        M = inputs.model.mass_matrix_from_constants
        bias = _compute_bias(inputs, inputs.model.without_load_friction, "composite_newton_euler")
    else:
        M, bias = inputs.model.mass_matrix, _compute_bias(inputs, inputs.model.without_load_friction)
    tau = remove_load_friction(inputs, inputs.vector("tau"))
    return inputs.trace_output("forward dynamics", solve_accelerations(inputs, M, tau - bias))


def _check_method(robot: Robot, method: str, formulation: str, *, theta_input: bool) -> None:
    """Raise an error if the method is unknown, has no formulation, or does not accept the robot."""
    known = ("composite-body", "inertia-constants", "regressor")
    if method not in known:
        raise UnknownNameError(f"forward dynamics has no method {method!r}{suggest_names(method, known)}")
    if formulation and method != "regressor":
        raise InputError(f"formulation = {formulation!r} is only used by method 'regressor'; give this method too")
    if method == "inertia-constants" and (theta_input or composite_newton_euler.explain_refusal(robot) is not None):
        raise InputError(
            f"method {method!r} of forward dynamics accepts trees on a fixed base, without sensor joints and with "
            "given parameter values; use 'composite-body'"
        )


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


def _compute_bias(inputs: GraphInputs, model: SymbolicModel, recursion: str = "") -> AnyPerActuated:
    """The torque at zero acceleration, by the named recursion or in minimal parameters if possible."""
    theta_input = any(entry.name == "theta" for entry, _ in inputs.symbols)
    recursion = choose_recursion(inputs.loops.robot, recursion, theta_input=theta_input)
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


# Forward dynamics of a whole robot: accelerations of the actuated coordinates, by composite bodies or from regressors.
#
# Identity      M qdd = tau - bias
# Reference     [lu1993] sec. V, "Evaluation of qdd in simulations", steps 1-4, for ``compute_from_regressor``
# Accepts       every robot in which each actuated coordinate moves some inertia
# Notation      code    paper         meaning                                                     shape
#               M       H(q)          mass matrix of the actuated coordinates                     actuated x actuated
#               bias    C qd + G      torque at zero acceleration, friction and forces included   actuated
#               Y       Y(q, qd, qdd) graph of the regressor of all standard parameters           actuated x params
#               f       -             friction and offset of the drives, without fl               drives
#               d       -             sign of the velocity of the drives, smoothed or not         drives
#               r       -             torque that the drives transmit                             drives
# Differs from  the paper in: friction, couplings and loops, which the regressor contains; M is factorized, not
#               inverted.
#
# Load-dependent friction fl d |r| depends on the accelerations through the transmitted torque r, but it can be
# eliminated drive by drive: tau - f = r + fl d |r| has the solution r = (tau - f) / (1 + fl d sign(tau - f)), unique if
# |fl| < 1. M and bias are those of fl = 0, and tau is replaced by r + f, which is the torque without load-dependent
# friction that has the same effect.


def compute_from_regressor(inputs: GraphInputs, Y: Graph) -> tuple[AnyActuatedByActuated, AnyPerActuated]:
    """M and bias from n + 1 regressors, in the paper's steps."""
    x, qd, size = inputs.symbols[0][1], column(inputs.vector("qd")), len(inputs.loops.actuated)

    def compute_torque(qdd: AnyPerActuated) -> AnyPerActuated:
        entries = zeros(Y.size)  # integer zeros, which cost no operations
        entries[list(Y.places)] = scalars(Y.function(x, qd, column(qdd)))
        return dot(entries.reshape(Y.shape), inputs.model.without_load_friction.theta)

    bias = compute_torque(zeros(size))  # step 1: Y_0 theta
    M = zeros(size, size)
    for i in range(size):
        e = zeros(size)
        e[i] = 1
        M[:, i] = compute_torque(e) - bias  # steps 2 and 3: (Y_i - Y_0) theta
    return M, bias


def solve_accelerations(inputs: GraphInputs, M: AnyActuatedByActuated, right: AnyPerActuated) -> AnyPerActuated:
    """Solve M qdd = right (step 4).

    The factorization of M follows the tree if the coordinates are the joints in their order and there are no motors.
    Sensors, whose coordinates come last, do not move: their accelerations are zero, and their wrenches have no effect.
    """
    robot = inputs.loops.robot
    moving = slice(0, len(robot.actuated) - len(robot.sensor_coordinates))
    uncoupled = not robot.loops and not robot.motors
    qdd = zeros(len(right))
    if uncoupled and robot.coordinates == robot.position_names:
        qdd[moving] = rigid_body.solve(inputs.loops.mechanism, M[moving, moving], right[moving])
    else:
        qdd[moving] = rigid_body.solve_dense(M[moving, moving], right[moving])
    return qdd


def remove_load_friction(inputs: GraphInputs, tau: AnyPerActuated) -> AnyPerActuated:
    """The torque r + f that has the same effect as tau if fl = 0; tau itself if no drive has such friction."""
    from casadi import sign

    if not inputs.model.has_load_friction:
        return tau
    m = inputs.motion
    f = inputs.model.compute_friction(m)
    s = dot(m.drive_jacobian, tau) - f  # the Jacobian is a permutation, since there are no loops, couplings and motors
    factors = multiply_entries(inputs.model.load_theta, m.directions)
    r = array([entry if type(k) is int else entry / (1 + k * sign(entry)) for entry, k in zip(s, factors, strict=True)])
    return dot(m.drive_jacobian.T, r + f)


def check_load_friction(names: Sequence[str], theta: Float[np.ndarray, " params"]) -> None:
    """Raise RobotError if load-dependent friction drives a joint, or is so large that it blocks the joint."""
    for name, value in zip(names, theta, strict=True):
        if name.endswith(".fl") and not 0.0 <= value < 1.0:
            raise RobotError(
                f"the load-dependent friction {name} is {value:g} times the torque that the drive transmits, with "
                "which no motion can be computed; give a 'load' of at least 0 and less than 1"
            )


def check_inertia(inputs: GraphInputs) -> None:
    """Raise RobotError if nothing that a coordinate moves has inertia, since its acceleration is then undetermined."""
    from casadi import SX

    robot = inputs.loops.robot
    for name, entry in zip(robot.actuated, inputs.model.mass_matrix.diagonal(), strict=True):
        if SX(entry).is_zero() and name not in robot.sensor_coordinates:
            raise RobotError(
                f"robot {robot.name!r}: nothing that {name!r} moves has inertia, so its acceleration is undetermined; "
                "give a link behind it a mass, or its joint a rotor inertia"
            )


# The symbolic inputs of the graphs of a robot.


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The symbolic inputs of a graph, and the model of the robot.

    ``wrenches`` are the frames on which external wrenches act, each with its symbols and their axes.
    """

    model: SymbolicModel
    symbols: tuple[tuple[Input, casadi.SX], ...]
    wrenches: tuple[tuple[NamedFrame, casadi.SX, Axes], ...] = ()

    @property
    def loops(self) -> LoopConstraint:
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

"""The functions of a robot that are exported, as graphs.

Identity      tau = Y_b beta: inverse dynamics, gravity and the mass matrix are computed from base parameters
Notation      code    meaning                                                       shape
              beta    base parameters of links, drives and forces                   base
              theta   standard parameters; beta at the independent places, else 0   params
              p       momentum M qd                                                 actuated
              n       d/dt p = tau + external - n: bias - (dM/dt) qd                actuated

If the parameters are passed, theta has the symbols of beta at the places of the independent parameters, and zeros
elsewhere. This theta has the same torques as the standard parameters of the robot, since the torque depends on beta
only, and the zeros save operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.dynamics import graphs
from ytheta.dynamics.constraint import column
from ytheta.dynamics.formulations.registry import choose_formulation, choose_recursion
from ytheta.dynamics.graphs import (
    GraphInputs,
    check_inertia,
    check_load_friction,
    declare_inputs,
    remove_load_friction,
    solve_accelerations,
)
from ytheta.dynamics.mechanism import exact_array, scalars
from ytheta.dynamics.symbolic_model import SymbolicModel, full_regressor
from ytheta.dynamics.vectors import array, cross, dot, inner, zeros
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.native.graph import Graph, Input
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyVector3

if TYPE_CHECKING:
    import casadi

BETA = "beta"
OBSERVER = "momentum_observer"
FUNCTIONS = (
    "inverse_dynamics",
    "gravity",
    "friction",
    "regressor",
    "mass_matrix",
    "forward_dynamics",
    OBSERVER,
)
PARAMETER_MODES = ("baked", "passed")


@dataclass(frozen=True, eq=False)
class RobotFunction:
    """One exported function: its graph, the name of its result, and what it computes."""

    name: str
    graph: Graph
    output: str
    about: str

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs that have entries; C has no arrays of size 0."""
        return tuple(entry for entry in self.graph.inputs if entry.size)

    @property
    def is_parametric(self) -> bool:
        return any(entry.name == BETA for entry in self.graph.inputs)


# How exported functions receive the orientation of a floating base.
#
# rotation-vector  q begins with position and rotation vector, as everywhere in ytheta
# quaternion       q begins with position and quaternion x, y, z, w, as in Pinocchio; the quaternion may have any length
# gravity          q has only the joints; a first input g is the gravitational acceleration in base axes
#
# Neither the position nor the heading of the base changes the dynamics: all they need is gravity in base axes. An
# inertial measurement unit estimates it directly, and a quaternion gives it without sines.


ROTATION_VECTOR, QUATERNION, GRAVITY = "rotation-vector", "quaternion", "gravity"


@dataclass(frozen=True, eq=False)
class RobotFunctions:
    """The functions of a robot.

    ``parameters``: "baked" for functions that contain the values, "passed" for functions with the additional input
    beta. ``chosen``: names of the functions, or None for all that the robot has. ``base_orientation``: how functions
    receive the orientation of a floating base, see ``base_orientation``.

    Coordinates of sensors, which are always zero, are not inputs. The wrenches of sensors follow the torques in the
    results of inverse dynamics and gravity, and in the rows of the regressor.
    """

    robot: Robot
    parameters: str = "baked"
    chosen: tuple[str, ...] | None = None
    base_orientation: str = ROTATION_VECTOR

    def __post_init__(self) -> None:
        if not self.size:
            raise InputError(f"{self.robot.name!r} has no joint that moves; there is nothing to export")
        if self.base_orientation != ROTATION_VECTOR and not self.robot.floating:
            raise InputError(
                f"base_orientation is {self.base_orientation!r}, but the base of {self.robot.name!r} does not float; "
                "leave it out"
            )
        if self.has_load_friction and self.is_passed:
            raise InputError(
                f"{self.robot.name!r} has load-dependent friction, which is not linear in the parameters, so that they "
                'cannot be passed; use parameters="baked"'
            )
        if self.has_load_friction and OBSERVER in (self.chosen or ()):
            raise InputError(self._explain_missing_observer())

    @property
    def size(self) -> int:
        """The number of velocities, accelerations and torques of the functions, without the wrenches of sensors."""
        return len(self.robot.actuated) - len(self.robot.sensor_coordinates)

    @property
    def has_load_friction(self) -> bool:
        return any(drive.load is not None for _, drive in self.robot.drives)

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters of links, rotors, friction and forces."""
        return base_parameters(self.robot, rotor_inertia=True, friction=tuple(FRICTION_PARAMETERS))

    @property
    def is_passed(self) -> bool:
        return self.parameters == "passed"

    @cached_property
    def functions(self) -> tuple[RobotFunction, ...]:
        """The functions, in the order of FUNCTIONS."""
        chosen = FUNCTIONS if self.chosen is None else self.chosen
        makers: dict[str, Callable[[], RobotFunction]] = {
            "inverse_dynamics": self._make_inverse_dynamics,
            "gravity": self._make_gravity,
            "friction": self._make_friction,
            "regressor": self._make_regressor,
            "mass_matrix": self._make_mass_matrix,
            "forward_dynamics": self._make_forward_dynamics,
            OBSERVER: self._make_observer,
        }
        left_out = {OBSERVER} if self.has_load_friction else set()
        return tuple(makers[name]() for name in FUNCTIONS if name in chosen and name not in left_out)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not exported and why, for the header."""
        return (self._explain_missing_observer(),) if self.has_load_friction else ()

    def _explain_missing_observer(self) -> str:
        return (
            f"there is no momentum observer for {self.robot.name!r}: its load-dependent friction depends on "
            "accelerations, which the observer does not know"
        )

    @property
    def _is_traced_before(self) -> bool:
        """Whether the functions have the inputs of kernels, whose graphs can be reused."""
        return not (self.is_passed or self.robot.sensor_coordinates) and self.base_orientation == ROTATION_VECTOR

    def _declare(self, *names: str) -> GraphInputs:
        inputs = orient_base(declare_inputs(self.robot, *names), self.base_orientation)
        if not self.is_passed:
            return inputs
        import casadi

        beta = casadi.SX.sym(BETA, len(self.base))
        theta = zeros(len(self.robot.parameter_names))
        theta[self.base.places] = scalars(beta)
        symbols = (*inputs.symbols, (Input(BETA, len(self.base), shared=True), beta))
        return replace(inputs, model=SymbolicModel(inputs.loops, theta), symbols=symbols)

    def _trace(self, inputs: GraphInputs, name: str, output: np.ndarray) -> Graph:
        """Return the graph of an output that does not depend on the coordinates of sensors, which come last."""
        sensors = len(self.robot.sensor_coordinates)

        def shorten(entry: Input, symbols: casadi.SX) -> tuple[Input, casadi.SX]:
            if not sensors or entry.name in (BETA, "g"):
                return entry, symbols
            size = entry.size - sensors
            return replace(entry, size=size), symbols[:size]

        return replace(inputs, symbols=tuple(shorten(*pair) for pair in inputs.symbols)).trace_output(name, output)

    def _make_inverse_dynamics(self) -> RobotFunction:
        if self._is_traced_before:
            graph = graphs.inverse_dynamics_graph(self.robot)
        else:
            inputs = self._declare("qd", "qdd")
            tau = inputs.model.torque(inputs.vector("qd"), inputs.vector("qdd"))
            graph = self._trace(inputs, "inverse dynamics", tau)
        about = "torques of a motion, with friction, rotor inertia and declared forces"
        return RobotFunction("inverse_dynamics", graph, "tau", about)

    def _make_gravity(self) -> RobotFunction:
        inputs = self._declare()
        graph = self._trace(inputs, "gravity", inputs.model.holding_torque)
        return RobotFunction(
            "gravity", graph, "tau", "torques that hold the robot at rest, without friction and offsets"
        )

    def _make_friction(self) -> RobotFunction:
        inputs = self._declare("qd")
        friction = dot(inputs.motion.drive_jacobian.T, inputs.model.compute_friction(inputs.motion))
        # It depends on positions only with loops.
        kept = tuple(pair for pair in inputs.symbols if pair[0].name not in ("q", "g"))
        graph = self._trace(replace(inputs, symbols=kept), "friction", friction[: self.size])
        load = ", without load-dependent friction" if self.has_load_friction else ""
        return RobotFunction("friction", graph, "tau", f"torques of friction and offsets{load}")

    def _make_regressor(self) -> RobotFunction:
        if self.robot.sensor_coordinates or self.base_orientation != ROTATION_VECTOR:
            inputs = orient_base(declare_inputs(self.robot, "qd", "qdd"), self.base_orientation)
            link_regressor = choose_formulation(self.robot).regressor
            columns = full_regressor(inputs.loops, link_regressor, inputs.vector("qd"), inputs.vector("qdd"))
            graph = self._trace(inputs, "regressor", columns[:, self.base.places])
        else:
            graph = graphs.regressor_graph(self.robot, parameters=self.base.independent)
        return RobotFunction("regressor", graph, "Y", "Y_b of tau = Y_b beta, row by row; beta: base parameters")

    def _make_mass_matrix(self) -> RobotFunction:
        inputs = self._declare()
        graph = self._trace(inputs, "mass matrix", inputs.model.mass_matrix[: self.size, : self.size])
        return RobotFunction("mass_matrix", graph, "M", "mass matrix with rotor inertia, row by row")

    def _make_forward_dynamics(self) -> RobotFunction:
        if self._is_traced_before:
            graph = graphs.forward_dynamics_graph(self.robot)
        else:
            inputs = self._declare("qd", "tau")
            check_inertia(inputs)
            check_load_friction(self.robot.parameter_names, self.robot.theta)
            bias = inputs.model.without_load_friction.torque(inputs.vector("qd"), zeros(len(self.robot.actuated)))
            right = remove_load_friction(inputs, inputs.vector("tau")) - bias
            qdd = solve_accelerations(inputs, inputs.model.mass_matrix, right)
            graph = self._trace(inputs, "forward dynamics", qdd[: self.size])
        return RobotFunction("forward_dynamics", graph, "qdd", "accelerations that torques cause")

    def _make_observer(self) -> RobotFunction:
        import casadi

        inputs = self._declare("qd")
        qd, x = inputs.vector("qd"), inputs.loops.x
        p = dot(inputs.model.mass_matrix, qd)
        recursion = "newton_euler" if self.is_passed else choose_recursion(self.robot, "", theta_input=False)
        bias = inputs.model.torque(qd, zeros(len(qd)), recursion=recursion)
        # The mass matrix does not depend on a floating base, so that its rate follows from the joints.
        change = scalars(casadi.densify(casadi.jtimes(column(p), x, column(qd))))  # (dM/dt) qd
        momentum = np.concatenate([p[: self.size], (bias - change)[: self.size]])
        graph = self._trace(inputs, "momentum", momentum)
        return RobotFunction(OBSERVER, graph, "momentum", "momentum p, then n of dp/dt = tau + external - n")


def check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise UnknownNameError if the value of an option is not one of the known words."""
    if value not in known:
        raise UnknownNameError(f"{name} has the value {value!r}{suggest_names(value, known)}")


BASE_ORIENTATIONS = (ROTATION_VECTOR, QUATERNION, GRAVITY)
POSITION, BASE = slice(0, 3), len(BASE_COORDINATES)  # Places of the base's coordinates. Fixed by: their order.


def orient_base(inputs: GraphInputs, base_orientation: str) -> GraphInputs:
    """Return the inputs of a graph of a floating robot with another orientation of the base than a rotation vector."""
    import casadi

    if base_orientation == ROTATION_VECTOR:
        return inputs
    (entry, x), *others = inputs.symbols
    joints = x[BASE:]
    if base_orientation == QUATERNION:
        quaternion = casadi.SX.sym("quaternion", 4)
        gravity = _turn_back(quaternion, inputs.loops.mechanism.gravity)
        position = casadi.vertcat(x[POSITION], quaternion, joints)
        first = [(Input(entry.name, position.numel()), position)]
    else:
        g = casadi.SX.sym("g", 3)
        gravity = scalars(g)
        first = [(Input("g", 3), g), (Input(entry.name, joints.numel()), joints)]
    mechanism = replace(inputs.loops.mechanism, gravity=gravity)
    # Gravity is in base axes already, so that the base need not be turned.
    loops = replace(inputs.loops, mechanism=mechanism, base_rotation=exact_array(np.eye(3).tolist()))
    return replace(inputs, model=SymbolicModel(loops, inputs.model.theta), symbols=(*first, *others))


def _turn_back(quaternion: casadi.SX, vector: AnyVector3) -> AnyVector3:
    """Return a vector in base axes, given in world axes: v - (2/s) (w u × v - u × (u × v)), s = |quaternion|^2."""
    *u, w = scalars(quaternion)
    axis = array(u)
    product = cross(axis, vector)
    factor = 2 / (inner(axis, axis) + w * w)
    return vector - (product * array([w]) - cross(axis, product)) * array([factor])

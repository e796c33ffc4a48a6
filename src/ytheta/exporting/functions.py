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

import numpy as np

from ytheta.dynamics import graphs
from ytheta.dynamics.formulations.registry import choose_recursion
from ytheta.dynamics.forward_dynamics import check_inertia, solve_accelerations
from ytheta.dynamics.graph_inputs import GraphInputs, declare_inputs
from ytheta.dynamics.loops.constraint import column
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import dot, zeros
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.native.graph import Graph, Input
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot

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


@dataclass(frozen=True, eq=False)
class RobotFunctions:
    """The functions of a robot.

    ``parameters``: "baked" for functions that contain the values, "passed" for functions with the additional input
    beta. ``chosen``: names of the functions, or None for all that the robot has.
    """

    robot: Robot
    parameters: str = "baked"
    chosen: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.robot.actuated:
            raise InputError(f"{self.robot.name!r} has no joint that moves; there is nothing to export")
        if self.has_load_friction and self.is_passed:
            raise InputError(
                f"{self.robot.name!r} has load-dependent friction, which is not linear in the parameters, so that they "
                'cannot be passed; use parameters="baked"'
            )
        if self.has_load_friction and OBSERVER in (self.chosen or ()):
            raise InputError(self._explain_missing_observer())

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

    def _declare(self, *names: str) -> GraphInputs:
        inputs = declare_inputs(self.robot, *names)
        if not self.is_passed:
            return inputs
        import casadi

        beta = casadi.SX.sym(BETA, len(self.base))
        theta = zeros(len(self.robot.parameter_names))
        theta[self.base.places] = scalars(beta)
        symbols = (*inputs.symbols, (Input(BETA, len(self.base), shared=True), beta))
        return replace(inputs, model=SymbolicModel(inputs.loops, theta), symbols=symbols)

    def _make_inverse_dynamics(self) -> RobotFunction:
        if self.is_passed:
            inputs = self._declare("qd", "qdd")
            graph = inputs.trace_output(
                "inverse dynamics", inputs.model.torque(inputs.vector("qd"), inputs.vector("qdd"))
            )
        else:
            graph = graphs.inverse_dynamics_graph(self.robot)
        about = "torques of a motion, with friction, rotor inertia and declared forces"
        return RobotFunction("inverse_dynamics", graph, "tau", about)

    def _make_gravity(self) -> RobotFunction:
        inputs = self._declare()
        graph = inputs.trace_output("gravity", inputs.model.holding_torque)
        return RobotFunction(
            "gravity", graph, "tau", "torques that hold the robot at rest, without friction and offsets"
        )

    def _make_friction(self) -> RobotFunction:
        inputs = self._declare("qd")
        friction = dot(inputs.motion.drive_jacobian.T, inputs.model.compute_friction(inputs.motion))
        kept = tuple(pair for pair in inputs.symbols if pair[0].name != "q")  # it depends on positions only with loops
        graph = replace(inputs, symbols=kept).trace_output("friction", friction)
        load = ", without load-dependent friction" if self.has_load_friction else ""
        return RobotFunction("friction", graph, "tau", f"torques of friction and offsets{load}")

    def _make_regressor(self) -> RobotFunction:
        graph = graphs.regressor_graph(self.robot, parameters=self.base.independent)
        return RobotFunction("regressor", graph, "Y", "Y_b of tau = Y_b beta, row by row; beta: base parameters")

    def _make_mass_matrix(self) -> RobotFunction:
        inputs = self._declare()
        graph = inputs.trace_output("mass matrix", inputs.model.mass_matrix)
        return RobotFunction("mass_matrix", graph, "M", "mass matrix with rotor inertia, row by row")

    def _make_forward_dynamics(self) -> RobotFunction:
        if self.is_passed:
            inputs = self._declare("qd", "tau")
            check_inertia(inputs)
            bias = inputs.model.torque(inputs.vector("qd"), zeros(len(self.robot.actuated)))
            qdd = solve_accelerations(inputs, inputs.model.mass_matrix, inputs.vector("tau") - bias)
            graph = inputs.trace_output("forward dynamics", qdd)
        else:
            graph = graphs.forward_dynamics_graph(self.robot)
        return RobotFunction("forward_dynamics", graph, "qdd", "accelerations that torques cause")

    def _make_observer(self) -> RobotFunction:
        import casadi

        inputs = self._declare("qd")
        qd, x = inputs.vector("qd"), inputs.symbols[0][1]
        p = dot(inputs.model.mass_matrix, qd)
        recursion = "newton_euler" if self.is_passed else choose_recursion(self.robot, "", theta_input=False)
        bias = inputs.model.torque(qd, zeros(len(qd)), recursion=recursion)
        change = scalars(casadi.densify(casadi.jtimes(column(p), x, column(qd))))  # (dM/dt) qd
        graph = inputs.trace_output("momentum", np.concatenate([p, bias - change]))
        return RobotFunction(OBSERVER, graph, "momentum", "momentum p, then n of dp/dt = tau + external - n")


def check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise UnknownNameError if the value of an option is not one of the known words."""
    if value not in known:
        raise UnknownNameError(f"{name} has the value {value!r}{suggest_names(value, known)}")

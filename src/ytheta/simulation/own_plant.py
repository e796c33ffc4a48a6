"""The forward dynamics of ytheta as a plant, with loops, couplings, friction, rotor inertia and declared forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.graphs import check_load_friction, forward_dynamics_graph
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.parameters import check_parameter_names
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerState

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class OwnPlant:
    """A plant with ytheta's forward dynamics.

    The state contains all coordinates, with loops closed, and then the actuated velocities. All parameters are inputs
    of the compiled kernels, so that a change of values needs no new compilation.
    """

    equations: EquationsOfMotion
    theta: Float[np.ndarray, " params"]

    @staticmethod
    def of(robot: Robot) -> OwnPlant:
        """Return a plant with the parameters of the description."""
        return OwnPlant(EquationsOfMotion(robot, robot.parameter_names), robot.numeric.theta)

    @property
    def robot(self) -> Robot:
        return self.equations.robot

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        x = solve(self.equations.loops, q[None]).or_raise().x[0] if self.robot.loops else q
        return np.concatenate([x, qd])

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        return self.equations.rates_kernel.one(state, tau, self.theta)

    def close_loops(self, state: PerState) -> PerState:
        return self.equations.closing_kernel.one(state) if self.robot.loops else state

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        return state[list(self.equations.loops.actuated)], state[self.equations.coordinates :]

    def with_parameters(self, values: Mapping[str, float]) -> OwnPlant:
        check_parameter_names(self.robot, values)
        pairs = zip(self.robot.parameter_names, self.theta.tolist(), strict=True)
        theta = np.array([float(values.get(name, value)) for name, value in pairs])
        check_load_friction(self.robot.parameter_names, theta)
        return replace(self, theta=theta)


# The symbolic equations of motion, from which the kernels of ytheta's own plant are compiled.
#
# Identity      d/dt (x, Qd) = (E(x) Qd, FD(x, Qd, tau, theta)); without loops x is Q and E is 1
# Reference     [walker1988] sec. 2.3 for E; [lu1993] sec. V for qdd
# Notation      code    meaning                                                      shape
#               x       all coordinates, passive and actuated, with loops closed     coordinates
#               Qd      actuated velocities                                          actuated
#               theta   the parameters named in ``varied``; the others are constants varied
#
# With loops, an integration step leaves an error of fourth order in the closure of x. One Newton step after each
# integration step squares this error.


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """The equations of motion of a robot; ``varied`` names the parameters that are inputs of the kernels."""

    robot: Robot
    varied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_parameter_names(self.robot, dict.fromkeys(self.varied))

    @cached_property
    def loops(self) -> LoopConstraint:
        return build_constraint(self.robot)

    @property
    def coordinates(self) -> int:
        return len(self.loops.home)

    @property
    def actuated(self) -> int:
        return len(self.loops.actuated)

    def compute_rates(
        self, x: casadi.SX, Qd: casadi.SX, tau: casadi.SX, theta: casadi.SX
    ) -> tuple[casadi.SX, casadi.SX]:
        """Return (xd, Qdd)."""
        inputs = (x, Qd, tau, self._make_parameter_vector(theta)) if self.varied else (x, Qd, tau)
        xd = self.loops.tangent(x) @ Qd if self.loops.cuts else Qd
        return xd, self._dynamics.apply(*inputs)

    def select_actuated(self, x: casadi.SX) -> casadi.SX:
        """Return the actuated coordinates of x."""
        return x[list(self.loops.actuated)] if self.loops.cuts else x

    @cached_property
    def rates_kernel(self) -> Kernel:
        """((x, Qd), tau, theta) → d/dt (x, Qd)."""
        import casadi

        state, tau, theta = (casadi.SX.sym(entry.name, entry.size) for entry in self._inputs)
        rates = casadi.vertcat(*self.compute_rates(state[: self.coordinates], state[self.coordinates :], tau, theta))
        return self._compile("rates", [state, tau, theta], rates)

    @cached_property
    def closing_kernel(self) -> Kernel:
        """(x, Qd) → (x, Qd) with loops closed."""
        import casadi

        state = casadi.SX.sym("state", self.coordinates + self.actuated)
        closed = casadi.vertcat(self.loops.take_newton_step(state[: self.coordinates]), state[self.coordinates :])
        return self._compile("close loops", [state], closed)

    @property
    def _inputs(self) -> tuple[Input, Input, Input]:
        states = self.coordinates + self.actuated
        return Input("state", states), Input("tau", self.actuated), Input("theta", len(self.varied))

    def _compile(self, name: str, symbols: list[casadi.SX], output: casadi.SX) -> Kernel:
        inputs = list(zip(self._inputs, symbols, strict=False))
        return compile_graph(trace(name, inputs, scalars(output), made_from=f"{name} of {self.robot.name}"))

    @cached_property
    def _dynamics(self) -> Graph:
        return forward_dynamics_graph(self.robot, theta_input=bool(self.varied))

    def _make_parameter_vector(self, theta: casadi.SX) -> casadi.SX:
        """Return all standard parameters: symbols for the varied parameters, constants for the others."""
        import casadi

        symbols = {name: theta[k] for k, name in enumerate(self.varied)}
        pairs = zip(self.robot.parameter_names, self.robot.numeric.theta.tolist(), strict=True)
        return casadi.vertcat(*(symbols.get(name, casadi.SX(value)) for name, value in pairs))

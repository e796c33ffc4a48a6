"""The interface of controllers.

A controller consists of settings and one graph, (q, qd, qr, qrd, qrdd, x) → (tau, dx/dt). Its inputs are the measured
motion, the reference and the controller's state x; its outputs are the torque and the rate of x. x starts with the
estimate of the unknown parameters, followed by the states of the adaptation law and of the control law. ``step``
evaluates the graph once. The torque is held until the next step, as on a real robot. Simulations compile the same
graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference at one instant.

    Attributes
    ----------
    q    position of each actuated coordinate, rad or m
    qd   velocity
    qdd  acceleration
    """

    q: PerJoint
    qd: PerJoint
    qdd: PerJoint


@dataclass(frozen=True, eq=False)
class State:
    """The state of a controller.

    Attributes
    ----------
    t           time of the last step, or of the start before the first step, in s
    x           estimate of the unknown parameters, followed by the states of the adaptation law and of the law itself
    warm_start  all coordinates of a robot with loops at the last step, from which the next step closes the loops; None
                before the first step, and for a robot without loops
    stepped     whether a step has been made
    """

    t: float
    x: PerState
    warm_start: PerCoordinate | None = None
    stepped: bool = False


@runtime_checkable
class SteppedController(Protocol):
    """A controller that is stepped in Python: the part of a ``Controller`` that ``PlainLoop`` needs."""

    @property
    def robot(self) -> Robot:
        """The robot description; known parameters have the values of this description."""

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """Names of the adapted parameters: standard ones, or the independent parameter of each base parameter."""

    @property
    def max_step(self) -> float:
        """The longest time between two steps, in s, for which the controller keeps its guarantees."""

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        """Return the initial state; the estimate defaults to the values of the robot description."""

    def step(
        self, state: State, t: float, q: PerJoint, qd: PerJoint, reference: Reference, qdd: PerJoint | None = None
    ) -> tuple[PerJoint, State]:
        """Return the torque to apply from time t on, and the state at time t; t is the time, not a time step."""


@runtime_checkable
class Controller(SteppedController, Protocol):
    """A controller that can be compiled. Its settings are the fields of the class that implements it."""

    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt) as one vector; if the law needs accelerations, qdd follows qd."""

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The gains for which ``graph_with`` accepts factors."""

    def graph_with(self, factors: Sequence[str]) -> Graph:
        """Return the graph with an additional last input: the factors by which these gains are multiplied."""

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, " runs"]]) -> None:
        """Raise if the factors, one per run, lead to gains that the law refuses."""

    def lyapunov(self, state: State, q: PerJoint, qd: PerJoint, reference: Reference, truth: PerUnknown) -> float:
        """Return the Lyapunov function of the law's stability proof, for known true parameters."""

"""What a controller is.

A controller is settings and one graph, (q, qd, qr, qrd, qrdd, x) → (tau, dx/dt): the torque for a measured motion and a
reference, and how what the controller remembers changes. x holds the estimate of the unknown parameters first, then
whatever else the law needs. ``step`` evaluates it once and holds tau until the next step, as a robot's own controller
does; closed loops are compiled from the same graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerUnknown


@dataclass(frozen=True, eq=False)
class Reference:
    """Where the robot should be, and how it should move there."""

    q: PerJoint
    qd: PerJoint
    qdd: PerJoint


@dataclass(frozen=True, eq=False)
class State:
    """What a controller remembers at time t; the first entries of x are the estimate of its unknown parameters.

    ``closed`` are all coordinates of a robot with loops at the last step, from which the next are found.
    """

    t: float
    x: Float[np.ndarray, "states"]
    warm_start: Float[np.ndarray, "coordinates"] | None = None


@runtime_checkable
class Controller(Protocol):
    """Settings are the fields of the class that implements it. All that is unknown is named in ``unknown``."""

    @property
    def name(self) -> str: ...
    @property
    def robot(self) -> Robot:
        """The description; parameters that are not unknown have its values."""

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """Standard parameters, or the heads of base parameters, that are learnt; columns of the regressor."""

    @property
    def graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt), one after the other in one vector; with qdd after qd where the law
        needs measured accelerations."""

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The gains that ``graph_with`` can take factors of."""

    @property
    def max_step(self) -> float:
        """The longest time between two steps, in s, with which all holds that the controller promises."""

    def graph_with(self, factors: Sequence[str]) -> Graph:
        """The graph with one more input behind the others: what these gains are multiplied with."""

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, "runs"]]) -> None:
        """Refuse factors, one for every run, that make gains which the law would refuse."""

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        """The state to begin with; the estimate is the description's unless given."""

    def step(
        self, state: State, t: float, q: PerJoint, qd: PerJoint, reference: Reference, qdd: PerJoint | None = None
    ) -> tuple[PerJoint, State]:
        """The torque from t on, and what is remembered then: x moved on by t - state.t."""

    def lyapunov(self, state: State, q: PerJoint, qd: PerJoint, reference: Reference, truth: PerUnknown) -> float:
        """The function that proves the law, where the true parameters are known; it never grows where the paper says
        so."""

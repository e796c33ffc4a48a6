"""What a plant is: something that moves when torques act on it.

Its state is one vector, positions first, then velocities, of whatever the plant integrates: with loops our own plant
holds all closed coordinates and the actuated velocities, MuJoCo all joints. Torques and what is seen from outside
belong to the actuated coordinates, in the order of ``robot.actuated``. ``integrate`` moves any plant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerState


@runtime_checkable
class Plant(Protocol):
    """qdd = FD(q, qd, tau), in the coordinates of the plant."""

    @property
    def robot(self) -> Robot: ...

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        """The state in which the actuated coordinates are and move like this; ClosureError where loops cannot close."""

    def rates(self, state: PerState, tau: PerJoint) -> PerState:
        """d state / dt."""

    def settled(self, state: PerState) -> PerState:
        """The state after a step of integration, put back on what it must fulfil: loops that have drifted open."""

    def motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        """q and qd of the actuated coordinates."""

    def with_parameters(self, values: Mapping[str, float]) -> Plant:
        """The same plant with other values of standard parameters, as when a load is grasped."""

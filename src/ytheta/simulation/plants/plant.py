"""The interface of a plant: a simulated robot that torques act on.

Its state is one vector, positions first, then velocities. The plant decides which: with loops, ytheta's own plant uses
all coordinates and the actuated velocities, MuJoCo all joints. Torques and measured motion belong to the actuated
coordinates, in the order of ``robot.actuated``. ``integration`` moves any plant.
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
        """Return the state for these actuated positions and velocities; ClosureError if loops cannot close."""

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        """Return d state / dt."""

    def close_loops(self, state: PerState) -> PerState:
        """Return the state after an integration step with its loops, which have drifted open, closed again."""

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        """Return q and qd of the actuated coordinates."""

    def with_parameters(self, values: Mapping[str, float]) -> Plant:
        """Return the plant with other values of standard parameters, such as those of a grasped load."""

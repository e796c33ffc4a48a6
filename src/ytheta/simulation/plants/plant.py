"""The interface of a plant: a simulated robot that torques act on.

The state of a plant is one vector of positions and velocities. Each plant chooses its own coordinates. For a robot with
loops, the state of ytheta's own plant contains all coordinates and the actuated velocities. The state of the
MuJoCo plant contains positions and velocities of all joints. Torques and measured motion belong to the actuated
coordinates, in the order of ``robot.actuated``. The functions of ``integration`` work with every plant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerState


@runtime_checkable
class Plant(Protocol):
    """A simulated robot: qdd = FD(q, qd, tau), in the coordinates of the plant."""

    @property
    def robot(self) -> Robot: ...

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        """Return the state for these actuated positions and velocities. Raise ClosureError if loops cannot close."""

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        """Return d state / dt."""

    def close_loops(self, state: PerState) -> PerState:
        """Return the state with loops closed; an integration step opens loops slightly."""

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        """Return q and qd of the actuated coordinates."""

    def with_parameters(self, values: Mapping[str, float]) -> Plant:
        """Return the plant with other values of standard parameters, such as those of a grasped load."""

"""Scene: what is drawn of a robot, and where it is at given joint positions.

The links are those of ``robot.merged``. Everything is seen from the world, whose z axis points upwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.constraint import Constraint, build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, PerJoint, SamplesByJoint, Vector3
from ytheta.viewing.ellipsoid import InertiaEllipsoid, make_ellipsoid

SamplesByActuated = Float[np.ndarray, "samples actuated"]
Pose = Float[np.ndarray, "4 4"]
MIN_LENGTH = 1e-6  # m; shorter lines are not drawn


@dataclass(frozen=True, eq=False)
class Bone:
    """A straight line in the frame of a link, from its own joint to the joint of another link or to its end."""

    link: str
    start: Vector3
    end: Vector3


@dataclass(frozen=True, eq=False)
class Scene:
    """The links of a robot for a drawing.

    Attributes
    ----------
    robot       the robot with numbers, and with links on fixed joints merged into those that carry them
    ellipsoids  inertia ellipsoids of the links that have mass
    bones       lines between the joints
    """

    robot: Robot
    ellipsoids: dict[str, InertiaEllipsoid]
    bones: tuple[Bone, ...]

    def compute_joint_positions(self, Q: SamplesByActuated) -> SamplesByJoint:
        """Return the positions of all movable joints for actuated coordinates; NaN if loops cannot close there."""
        if self.robot.loops:
            outcome = solve(self._constraint, Q)
            return np.where(np.reshape(outcome.determined, (-1, 1)), outcome.q, np.nan)
        order = [self.robot.actuated.index(name) for name in self.robot.coordinates]
        factors, offset = self.robot.coupling_map
        return np.asarray(Q[:, order] @ factors.T + offset)

    def compute_poses(self, q: PerJoint) -> dict[str, Pose]:
        """Return the pose of each link in the world at positions of the movable joints."""
        mounting = self.robot.mounting.matrix
        poses = link_poses(self.robot, q)
        return {link.name: mounting @ poses[link.name] for link in self.robot.links}

    def iterate_sliding_lines(self, poses: dict[str, Pose]) -> Iterator[tuple[Vector3, Vector3]]:
        """Yield the ends of the line that each prismatic joint draws in the world."""
        for joint in self.robot.joints:
            if joint.kind is JointKind.PRISMATIC:
                start = (poses[joint.parent] @ joint.placement.matrix)[:3, 3]
                yield start, (poses[joint.child] @ joint.seat.inverse().matrix)[:3, 3]

    @property
    def base(self) -> str:
        """The link that carries all others: the floating base, or the one that is fixed to the ground."""
        free = [joint.child for joint in self.robot.joints if joint.kind is JointKind.FREE]
        return free[0] if free else self.robot.base.name

    @cached_property
    def _constraint(self) -> Constraint:
        return build_constraint(self.robot)


def make_scene(robot: Robot) -> Scene:
    """Return the scene of a robot; UnsetLengthError or UnsetAngleError if its geometry has an unknown value."""
    check_is_robot(robot)
    merged = robot.numeric.merged
    ellipsoids = {link.name: ellipsoid for link in merged.links if (ellipsoid := make_ellipsoid(link.inertia))}
    return Scene(merged, ellipsoids, tuple(_make_bones(merged)))


def _make_bones(robot: Robot) -> Iterator[Bone]:
    starts = {robot.base.name: np.zeros(3)}
    starts |= {joint.child: joint.seat.inverse().matrix[:3, 3] for joint in robot.joints}
    for name, start in starts.items():
        ends = [joint.placement.matrix[:3, 3] for joint in robot.joints if joint.parent == name]
        if not ends:
            ends = [marker.frame.matrix[:3, 3] for marker in robot.markers if marker.link == name] or [np.zeros(3)]
        for end in ends:
            if np.linalg.norm(end - start) > MIN_LENGTH:
                yield Bone(name, start, end)

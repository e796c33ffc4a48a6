"""Scene: what is drawn of a robot, and where it is at given joint positions.

The links are those of ``robot.merged``. Everything is seen from the world, whose z axis points upwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, PerJoint, SamplesByJoint, Vector3, freeze

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
    def _constraint(self) -> LoopConstraint:
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


# Inertia ellipsoid: the solid ellipsoid of uniform density with the mass, centre and inertia of a body.
#
# Identity      second moments about the centre of an ellipsoid with semi-axes a_k: m a_k^2 / 5 along its axes
#               a_k^2 = 5 s_k / m with the eigenvalues s_k of S - m c c^T, S of the pseudo-inertia
# A body that is not physically consistent has a negative eigenvalue; its semi-axis is drawn as zero.


DENSITY_FACTOR = 5.0  # square of a semi-axis / variance of the mass along it


@dataclass(frozen=True, eq=False)
class InertiaEllipsoid:
    """An ellipsoid in the frame of a link.

    Attributes
    ----------
    mass        mass in kg
    center      centre of mass, in metres
    semi_axes   lengths of the semi-axes in metres, the shortest first
    axes        their directions, one per column: a rotation matrix
    consistent  whether a rigid body can have this inertia
    """

    mass: float
    center: Vector3
    semi_axes: Vector3
    axes: Float[np.ndarray, "3 3"]
    consistent: bool

    def __post_init__(self) -> None:
        for values in (self.center, self.semi_axes, self.axes):
            freeze(values)

    @cached_property
    def matrix(self) -> Float[np.ndarray, "3 3"]:
        """The matrix M = A A^T of the ellipsoid {center + A u, |u| <= 1}; its projections follow from it."""
        return freeze((self.axes * self.semi_axes**2) @ self.axes.T)


def make_ellipsoid(inertia: Inertia) -> InertiaEllipsoid | None:
    """Return the ellipsoid of a body; None if its mass is not positive."""
    if not inertia.mass > 0.0:
        return None
    center = np.array(inertia.center)
    moments = inertia.pseudo[:3, :3] - inertia.mass * np.outer(center, center)
    values, axes = np.linalg.eigh(DENSITY_FACTOR / inertia.mass * moments)
    if np.linalg.det(axes) < 0.0:  # a rotation, not a reflection
        axes[:, 0] = -axes[:, 0]
    semi_axes = np.sqrt(np.maximum(values, 0.0))
    return InertiaEllipsoid(inertia.mass, center, semi_axes, axes, bool(inertia.consistency()))


# Drawing: lines and inertia ellipsoids of a robot in the world at one pose, before and after an identification.


@dataclass(frozen=True, eq=False)
class DrawnEllipsoid:
    """An ellipsoid {center + A u, |u| <= 1} in the world; ``matrix`` is A A^T, of which every projection follows."""

    link: str
    mass: float
    center: Vector3
    matrix: Float[np.ndarray, "3 3"]
    consistent: bool


@dataclass(frozen=True, eq=False)
class Drawing:
    """Lines between the joints, and the ellipsoids of the described and of the identified links, in metres."""

    lines: Float[np.ndarray, "lines 2 3"]
    before: tuple[DrawnEllipsoid, ...]
    after: tuple[DrawnEllipsoid, ...]


def make_drawing(described: Robot, identified: Robot, samples: SamplesByActuated) -> Drawing | None:
    """Return the drawing at the middle one of the samples at which loops close; None if they close at none.

    ``samples``: actuated coordinates, such as recorded ones; rows that are not finite are ignored.
    """
    scene = make_scene(identified)
    q = scene.compute_joint_positions(samples[np.isfinite(samples).all(axis=1)])
    q = q[np.isfinite(q).all(axis=1)]
    if not len(q):
        return None
    poses = scene.compute_poses(q[len(q) // 2])
    bones = [[_place(poses[each.link], point) for point in (each.start, each.end)] for each in scene.bones]
    lines = np.array([*bones, *scene.iterate_sliding_lines(poses)]).reshape(-1, 2, 3)
    return Drawing(lines, _place_ellipsoids(make_scene(described), poses), _place_ellipsoids(scene, poses))


def _place_ellipsoids(scene: Scene, poses: dict[str, Pose]) -> tuple[DrawnEllipsoid, ...]:
    """Return the ellipsoids of the links that move; that of the base has no effect on torques."""
    drawn = []
    for link, each in scene.ellipsoids.items():
        if link != scene.robot.base.name:
            rotation = poses[link][:3, :3]
            center, matrix = _place(poses[link], each.center), rotation @ each.matrix @ rotation.T
            drawn.append(DrawnEllipsoid(link, each.mass, center, matrix, each.consistent))
    return tuple(drawn)


def _place(pose: Pose, point: Vector3) -> Vector3:
    return np.asarray(pose[:3, :3] @ point + pose[:3, 3])

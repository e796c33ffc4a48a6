"""Drawing: lines and inertia ellipsoids of a robot in the world at one pose, before and after an identification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Vector3
from ytheta.viewing.scene import Pose, SamplesByActuated, Scene, make_scene


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

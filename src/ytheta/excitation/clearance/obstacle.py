"""Obstacles around a robot: spheres, capsules, boxes and half-spaces such as a floor or a wall."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame, Vector, check_vector
from ytheta.shapes import Vector3


class ObstacleKind(StrEnum):
    """The kinds of obstacles. A half-space is everything below the x-y plane of its frame."""

    SPHERE = "sphere"
    CAPSULE = "capsule"
    BOX = "box"
    HALF_SPACE = "half-space"


SIZE_NAMES = {
    ObstacleKind.SPHERE: ("radius",),
    ObstacleKind.CAPSULE: ("radius", "length"),
    ObstacleKind.BOX: ("x", "y", "z"),
    ObstacleKind.HALF_SPACE: (),
}


@dataclass(frozen=True)
class Obstacle:
    """A fixed body near the robot.

    Attributes
    ----------
    name   name for messages
    kind   kind of the obstacle
    size   radius; radius and length of the axis along z, without the half-spheres; or the lengths of the sides; metres
    frame  frame of the obstacle, seen from the world; the origin is the centre, or a point of the surface
    """

    name: str
    kind: ObstacleKind
    size: tuple[float, ...] = ()
    frame: Frame = IDENTITY

    def __post_init__(self) -> None:
        kinds = [kind.value for kind in ObstacleKind]
        if self.kind not in kinds:
            raise InputError(f"obstacle {self.name!r}: its kind is {self.kind!r}; give one of {', '.join(kinds)}")
        object.__setattr__(self, "kind", ObstacleKind(self.kind))  # it may be given as text
        names = SIZE_NAMES[self.kind]
        if len(self.size) != len(names) or not all(0.0 < size < np.inf for size in self.size):
            wanted = f"{', '.join(names)} in metres, each positive" if names else "no size"
            raise InputError(f"obstacle {self.name!r}: its size is {self.size}; a {self.kind} needs {wanted}")
        if not np.isfinite(self.frame.matrix).all():
            raise InputError(f"obstacle {self.name!r}: its frame contains numbers that are not finite; correct it")

    def measure_depth(self, point: Vector3) -> float:
        """Return how far a point, given in the world, is inside the obstacle; negative outside (box: at most 0)."""
        matrix = self.frame.matrix
        x = matrix[:3, :3].T @ (point - matrix[:3, 3])
        if self.kind is ObstacleKind.HALF_SPACE:
            return -float(x[2])
        if self.kind is ObstacleKind.BOX:
            return float((np.array(self.size) / 2.0 - np.abs(x)).min())
        half = self.size[1] / 2.0 if self.kind is ObstacleKind.CAPSULE else 0.0
        axis_point = np.array([0.0, 0.0, np.clip(x[2], -half, half)])
        return self.size[0] - float(np.linalg.norm(x - axis_point))


def make_floor(height: float = 0.0, *, name: str = "floor") -> Obstacle:
    """Return everything below a height in the world, in metres."""
    return Obstacle(name, ObstacleKind.HALF_SPACE, (), Frame.shift(z=float(height)))


def make_wall(point: Vector, normal: Vector, *, name: str = "wall") -> Obstacle:
    """Return the half-space behind a plane through ``point``, whose ``normal`` points to the free side."""
    x, y, z = check_vector("normal", normal)
    length = float(np.linalg.norm((x, y, z)))
    if length == 0.0:
        raise InputError(f"the normal of {name!r} is zero; give the direction from the plane to the free side")
    turn = Frame.align_z((x / length, y / length, z / length))
    return Obstacle(name, ObstacleKind.HALF_SPACE, (), Frame(check_vector("point", point), turn.rotation))

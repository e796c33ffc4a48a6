"""Collision shapes: the volume of a link, as simple shapes or as the name of a mesh file.

A shape is data: no mesh is opened here. ``excitation.clearance`` encloses the shapes in capsules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame, Vector


class ShapeKind(StrEnum):
    """The kinds of shapes; ``SIZE_NAMES`` lists the sizes of each kind."""

    SPHERE = "sphere"
    CAPSULE = "capsule"
    CYLINDER = "cylinder"
    BOX = "box"
    ELLIPSOID = "ellipsoid"
    MESH = "mesh"


# In metres, but the scale of a mesh has no unit. The axis of a capsule or cylinder is z, its centre is the origin. The
# length of a capsule is that of its axis, without the two half-spheres.
SIZE_NAMES = {
    ShapeKind.SPHERE: ("radius",),
    ShapeKind.CAPSULE: ("radius", "length"),
    ShapeKind.CYLINDER: ("radius", "length"),
    ShapeKind.BOX: ("x", "y", "z"),
    ShapeKind.ELLIPSOID: ("semi-axis x", "semi-axis y", "semi-axis z"),
    ShapeKind.MESH: ("scale x", "scale y", "scale z"),
}


@dataclass(frozen=True)
class CollisionShape:
    """One shape of a link.

    Attributes
    ----------
    link    name of the link
    kind    kind of the shape
    size    sizes of the shape, see ``SIZE_NAMES``
    frame   frame of the shape, seen from the link
    file    path of the mesh; if it may not be opened, the reference in the description (``package://…``) or the reason
    source  origin of the numbers
    """

    link: str
    kind: ShapeKind
    size: tuple[float, ...]
    frame: Frame = IDENTITY
    file: str = ""
    source: str = ""


def describe_mesh(file: Path | None, reference: str) -> str:
    """Return the ``file`` of a mesh: its path, or the reference or the reason if it may not be opened."""
    if file is not None:
        return str(file)
    if reference.startswith(("package://", "model://")):
        return reference
    return f"the path {reference!r} leaves the robot's folder and is not opened; allow its folder with --allow-path"


def make_capsule(link: str, start: Vector, end: Vector, radius: float, *, source: str = "") -> CollisionShape:
    """Return the capsule around the segment from ``start`` to ``end``, or a sphere if both are the same point."""
    along = (end[0] - start[0], end[1] - start[1], end[2] - start[2])
    length = math.hypot(*along)
    if not math.isfinite(length):
        raise InputError(f"the ends {start} and {end} of a capsule are not finite; correct them")
    if length == 0.0:
        return CollisionShape(link, ShapeKind.SPHERE, (radius,), Frame(start), source=source)
    direction = (along[0] / length, along[1] / length, along[2] / length)
    center = (start[0] + along[0] / 2, start[1] + along[1] / 2, start[2] + along[2] / 2)
    frame = Frame(center, Frame.align_z(direction).rotation)
    return CollisionShape(link, ShapeKind.CAPSULE, (radius, length), frame, source=source)

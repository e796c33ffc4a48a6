"""Collision shapes of SDF links. Meshes are located but not opened."""

from __future__ import annotations

from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.robot.checks import check_shape
from ytheta.robot.collision import CollisionShape, ShapeKind, describe_mesh
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.elements import read_number, read_numbers, read_pose, require_text
from ytheta.robot.reading.sdf.expansion.uris import FileFinder
from ytheta.robot.reading.sdf.frames import FrameGraph, Scope

_SURROUNDINGS = ("plane", "heightmap", "empty")  # not part of a link, or nothing


def read_collision(
    link: str, node: Node, frame: Frame, files: FileFinder, findings: FindingCollector
) -> CollisionShape | None:
    """Return the shape of a ``<collision>``; ``frame`` is its pose on the link.

    A faulty one is left out, with a warning: the dynamics do not need it.
    """
    try:
        geometry = node.first("geometry")
        if geometry is None or not geometry.children:
            raise node.error("<geometry> has no shape; add one, or remove <collision>")
        shape = geometry.children[0]
        if shape.tag in _SURROUNDINGS:
            return None
        collision = _read_shape(link, shape, frame, files)
        check_shape(collision)
    except InputError as error:
        findings.warn("collision shapes are left out: {}", f"one of {link!r} ({error})")
        return None
    return collision


def locate_collision(node: Node, link_key: str, scope: Scope, graph: FrameGraph) -> Frame:
    """Return the pose of a collision on its link."""
    pose = node.first("pose")
    relative_to = "" if pose is None else pose.get("relative_to", "")
    local = read_pose(node)
    return graph.relate(graph.find(relative_to, scope, node), link_key) @ local if relative_to else local


def _read_shape(link: str, shape: Node, frame: Frame, files: FileFinder) -> CollisionShape:
    """Read a shape; lengths are whole lengths, radii of an ellipsoid are its semi-axes."""
    match shape.tag:
        case "sphere":
            size: tuple[float, ...] = (read_number(shape, "radius", 1.0),)
        case "cylinder" | "capsule":
            size = (read_number(shape, "radius", 1.0), read_number(shape, "length", 1.0))
        case "box":
            size = read_numbers(shape, "size", 3, (1.0, 1.0, 1.0))
        case "ellipsoid":
            size = read_numbers(shape, "radii", 3, (1.0, 1.0, 1.0))
        case "mesh":
            reference = require_text(shape, "uri")
            file = describe_mesh(files.locate_mesh(reference, shape), reference)
            scale = read_numbers(shape, "scale", 3, (1.0, 1.0, 1.0))
            return CollisionShape(link, ShapeKind.MESH, scale, frame, file)
        case _:
            raise shape.error(f"<{shape.tag}> is not supported; use box, cylinder, capsule, sphere, ellipsoid or mesh")
    return CollisionShape(link, ShapeKind(shape.tag), size, frame)

"""Collision shapes of MJCF bodies: the geoms that can collide. Meshes are located but not opened.

A geom can collide unless ``contype`` and ``conaffinity`` are both zero. Planes and height fields are surroundings and
not part of a link, so they are left out; they are given as obstacles where obstacles matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ytheta.errors import InputError, suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.checks import check_shape
from ytheta.robot.collision import CollisionShape, ShapeKind, describe_mesh
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.bodies import Body
from ytheta.robot.reading.mjcf.compiler import Compiler, read_choice
from ytheta.robot.reading.mjcf.defaults import Defaults
from ytheta.robot.reading.mjcf.document import locate_asset, merge_sections
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.mjcf.orientation import read_pose, read_segment
from ytheta.robot.reading.snap import Snapper

_NO_SNAPPING = Snapper(0.0)
_SURROUNDINGS = ("plane", "hfield")
_HALF_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}  # number of sizes in MJCF
_INLINE = "the vertices of mesh {!r} are not in a file; save the mesh as a file"


@dataclass(frozen=True)
class MeshAsset:
    """A mesh of the section ``<asset>``: its file, or why it has none, and its scale."""

    file: str
    scale: tuple[float, ...]


def read_collision(
    root: Node,
    path: Path,
    bodies: Iterable[Body],
    compiler: Compiler,
    defaults: Defaults,
    findings: FindingCollector,
    allow_paths: Sequence[Path] = (),
) -> tuple[CollisionShape, ...]:
    """Return the shapes of all geoms that can collide. Faulty ones are left out, with a warning."""
    assets = _read_mesh_assets(root, path, compiler, defaults, allow_paths)
    shapes: list[CollisionShape] = []
    for body in bodies:
        for node, around in body.content.geoms:
            try:
                if _can_collide(node) and _read_type(node) not in _SURROUNDINGS:
                    shape = _read_shape(body.name, node, around, compiler, assets)
                    check_shape(shape)
                    shapes.append(shape)
            except InputError as error:
                findings.warn("collision shapes are left out: {}", f"one of {body.name!r} ({error})")
    return tuple(shapes)


def _can_collide(node: Node) -> bool:
    return node.number("contype", 1.0) != 0.0 or node.number("conaffinity", 1.0) != 0.0


def _read_type(node: Node) -> str:
    return read_choice(node, "type", "sphere", (*_HALF_SIZES, *_SURROUNDINGS, "mesh", "sdf"))


def _read_shape(
    link: str, node: Node, around: Frame, compiler: Compiler, assets: Mapping[str, MeshAsset]
) -> CollisionShape:
    kind = _read_type(node)
    if "mesh" in node.attributes or kind not in _HALF_SIZES:  # MuJoCo fits a primitive with a mesh to the mesh
        name = node.text("mesh")
        if name not in assets:
            raise node.error(f"there is no mesh {name!r} in <asset>{suggest_names(name, assets)}")
        frame = around @ read_pose(node, compiler, _NO_SNAPPING)
        return CollisionShape(link, ShapeKind.MESH, assets[name].scale, frame, assets[name].file)
    count, sizes = _HALF_SIZES[kind], node.numbers("size", default=())
    if "fromto" in node.attributes and kind != "sphere":
        frame, half = read_segment(node)
        sizes = (*sizes[:1] * (count - 1), half)
    else:
        frame = read_pose(node, compiler, _NO_SNAPPING)
    if len(sizes) < count or min(sizes[:count]) <= 0.0:
        raise node.error(f"the size {sizes} of a {kind} should start with {count} positive numbers; add 'size'")
    return CollisionShape(link, ShapeKind(kind), _convert_sizes(kind, sizes[:count]), around @ frame)


def _convert_sizes(kind: str, sizes: tuple[float, ...]) -> tuple[float, ...]:
    """Return lengths instead of half-lengths."""
    if kind == "box":
        return tuple(2.0 * size for size in sizes)
    return (sizes[0], 2.0 * sizes[1]) if kind in ("capsule", "cylinder") else sizes


def _read_mesh_assets(
    root: Node, path: Path, compiler: Compiler, defaults: Defaults, allow_paths: Sequence[Path]
) -> dict[str, MeshAsset]:
    assets: dict[str, MeshAsset] = {}
    for element in merge_sections(root, "asset").all("mesh"):
        node = defaults.apply(element, "mesh")
        reference = node.get("file", "")
        name = node.get("name", "") or PurePosixPath(reference.replace("\\", "/")).stem
        moved = [key for key in ("refpos", "refquat") if key in node.attributes]
        if moved:
            text = f"mesh {name!r} is moved by '{moved[0]}', which is not supported; save it in its own coordinates"
        elif reference:
            text = describe_mesh(locate_asset(node, "file", path, compiler, allow_paths), reference)
        else:
            text = _INLINE.format(name)
        assets[name] = MeshAsset(text, node.numbers("scale", 3, default=(1.0, 1.0, 1.0)))
    return assets

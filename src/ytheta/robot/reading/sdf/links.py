"""Links of an SDF: their collision shapes, and their inertias.

Inertias are given, computed from collision shapes (``auto="true"``), or SDF's default of 1 kg and 1 kg m2.

Meshes are opened only if an inertia is computed from them; MuJoCo measures them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.files.bounded import is_file, resolve_reference
from ytheta.files.xml_document import Node
from ytheta.robot.checks import check_shape
from ytheta.robot.frame import Frame, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import describe_missing_meshes
from ytheta.robot.parts import CollisionShape, ShapeKind, describe_mesh
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.sdf.document import FileFinder
from ytheta.robot.reading.sdf.elements import read_flag_attribute, read_number, read_numbers, read_pose, require_text
from ytheta.robot.reading.sdf.models import FrameGraph, Scope
from ytheta.robot.reading.solids import MASSLESS, SHAPES, MeshModel

# Largest shape (m) whose inertia is computed. Chosen on: the bound of MuJoCo.
MAX_SIZE = 1e10
# Density (kg/m^3) of shapes without one, for inertias that are computed. Chosen on: the SDF specification.
DEFAULT_DENSITY = 1000.0
_TENSOR = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}  # SDF's defaults, kg m^2
_DEFAULT = "links without <inertial>, or with an empty one, have SDF's default of 1 kg and 1 kg m2: {}"
_DEFAULT_MASS = "links without <mass> have SDF's default of 1 kg: {}"
_DEFAULT_MOMENTS = (
    "moments of inertia that are missing (<inertia> or ixx, iyy, izz in it) are SDF's default of 1 kg m2: {}"
)


@dataclass(frozen=True)
class SolidShape:
    """A collision shape and the ``<collision>`` element that it was read from."""

    shape: CollisionShape
    node: Node


def read_inertia(name: str, node: Node, solids: Sequence[SolidShape], findings: FindingCollector) -> Inertia:
    """Return the inertia of a link in its frame. ``solids`` are its shapes, for inertias that follow from them."""
    inertial = node.first("inertial")
    if inertial is None or not (inertial.children or inertial.attributes):
        findings.warn(_DEFAULT, name)
        return _make_inertia(1.0, Frame(), dict(_TENSOR))
    if read_flag_attribute(inertial, "auto"):
        return _infer_inertia(name, inertial, solids, findings)
    mass = _read_mass(inertial)
    tensor = inertial.first("inertia")
    if inertial.first("mass") is None:
        findings.warn(_DEFAULT_MASS, name)
    if tensor is None or any(tensor.first(key) is None for key in ("ixx", "iyy", "izz")):
        findings.warn(_DEFAULT_MOMENTS, name)
    values = dict(_TENSOR) if tensor is None else {key: read_number(tensor, key, _TENSOR[key]) for key in _TENSOR}
    if any(inertial.all("fluid_added_mass")):
        findings.warn("the added mass of a fluid around links is ignored: {}", name)
    return _make_inertia(mass, read_pose(inertial), values)


def _read_mass(inertial: Node) -> float:
    mass = read_number(inertial, "mass", 1.0)
    if mass < 0.0:
        raise inertial.error(f"the mass {mass:g} kg is negative; give a positive mass, or 0 for none")
    return mass


def _make_inertia(mass: float, frame: Frame, values: Mapping[str, float]) -> Inertia:
    xx, xy, xz, yy, yz, zz = (values[key] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    rotation = np.array(frame.rotation)
    with np.errstate(over="ignore", invalid="ignore"):  # Robot refuses numbers that are not finite
        tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return Inertia.about_center(mass, to_vector(frame.matrix[:3, 3]), to_rows(tensor))


def _infer_inertia(name: str, inertial: Node, solids: Sequence[SolidShape], findings: FindingCollector) -> Inertia:
    """Return the sum of the inertias of the shapes, scaled to ``<mass>`` if there is one."""
    if not solids:
        findings.warn(
            "inertias cannot be computed (auto) for lack of collision shapes; they are 1 kg and 1 kg m2: {}", name
        )
        return _make_inertia(1.0, Frame(), dict(_TENSOR))
    density = read_number(inertial, "density", DEFAULT_DENSITY)
    total, missing_files = Inertia(), list[str]()
    for solid in solids:
        material = read_number(solid.node, "density", density)
        if material <= 0.0:
            raise solid.node.error(f"the density {material:g} kg/m3 is not positive; give that of the material")
        total = total + _measure(solid, material, missing_files).seen_from(solid.shape.frame)
    if inertial.first("mass") is not None and total.mass > 0.0:
        factor = _read_mass(inertial) / total.mass
        total = Inertia(tuple(factor * value for value in total.parameters))
    if missing_files:
        findings.add(describe_missing_meshes({name: missing_files}, {name: total}))
    return total


def _measure(solid: SolidShape, density: float, missing_files: list[str]) -> Inertia:
    """Return the inertia of a shape in its own frame; if its mesh does not exist, it is added to ``missing_files``."""
    shape = solid.shape
    if shape.kind is ShapeKind.MESH:
        return _measure_mesh(solid, density, missing_files)
    sizes = shape.size
    if max(sizes) > MAX_SIZE:
        raise solid.node.error(f"the size {max(sizes):g} m is too large to compute an inertia from it; give metres")
    if shape.kind is ShapeKind.BOX:
        sizes = tuple(size / 2 for size in sizes)
    elif shape.kind in (ShapeKind.CAPSULE, ShapeKind.CYLINDER):
        sizes = (sizes[0], sizes[1] / 2)
    volume, moments = SHAPES[shape.kind.value][0](*sizes, shell=False)
    mass = density * volume
    return Inertia.about_center(mass, (0.0, 0.0, 0.0), to_rows(np.diag([mass * moment for moment in moments])))


def _measure_mesh(solid: SolidShape, density: float, missing_files: list[str]) -> Inertia:
    """Return the inertia of a mesh, which MuJoCo measures as the mesh of a geom with the same density."""
    file = Path(solid.shape.file)
    node = solid.node
    if not file.is_absolute():  # a reference that is not found, or the reason why the file may not be opened
        raise node.error(f"the inertia of the link depends on this mesh: {solid.shape.file}; give its <inertial>")
    place = Node("mesh", {"name": "m"}, node.line, node.path)
    target = resolve_reference(str(file), node.path, place.where, (file.parent,))
    if target is None or not is_file(target):
        missing_files.append(str(file))
        return MASSLESS.inertia
    model = MeshModel()
    model.add("mesh0", {"scale": " ".join(map(repr, solid.shape.size)), "inertia": "exact"}, target, place)
    geom = {"type": "mesh", "mesh": "mesh0", "density": repr(density)}
    (measured,) = model.measure([geom], Node("geom", {}, node.line, node.path))
    return measured.inertia


# Collision shapes of SDF links. Meshes are located but not opened.


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

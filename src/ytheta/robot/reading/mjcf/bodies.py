"""The bodies of an MJCF file, with ``<frame>`` elements resolved and default classes applied, and their inertias."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ytheta.files.xml_document import Node
from ytheta.robot.checks import make_unique
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_vector
from ytheta.robot.reading.mjcf.attributes import (
    ORIENTATIONS,
    Compiler,
    Defaults,
    read_choice,
    read_flag,
    read_pose,
    read_segment,
)
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.solids import MASSLESS, SHAPES, BodyInertia
from ytheta.shapes import Float

WORLD = "world"
_GENERATING_TAGS = ("replicate", "attach", "composite", "flexcomp")


@dataclass(frozen=True)
class PlacedElement:
    """An element of a body, the pose of the ``<frame>`` elements around it, and the default class that it inherits."""

    node: Node
    around: Frame
    childclass: str | None


@dataclass(frozen=True)
class MjcfBody:
    """One body. ``pose`` is its initial frame seen from its parent, ``start`` is the same frame seen from the world."""

    name: str
    parent: str
    node: Node
    pose: Frame
    start: Frame
    joints: tuple[tuple[Node, Frame], ...]
    sites: tuple[tuple[Node, Frame], ...]
    content: InertialElements


def read_bodies(worldbody: Node, compiler: Compiler, defaults: Defaults, snapper: Snapper) -> tuple[MjcfBody, ...]:
    """Return the world and all bodies, parents before children, in MuJoCo's order."""
    used_names = _collect_names(worldbody)
    bodies: list[MjcfBody] = []
    waiting = [(PlacedElement(worldbody, IDENTITY, None), "", IDENTITY)]
    while waiting:
        placed, parent, parent_start = waiting.pop()
        node = placed.node
        name = (node.get("name", "") or make_unique(f"body{len(bodies)}", used_names)) if bodies else WORLD
        pose = read_pose(node, compiler, snapper)
        local = placed.around @ pose
        start = parent_start @ local
        content = list(_flatten(node, node.attributes.get("childclass", placed.childclass), compiler, snapper))
        inertials = _select_elements(content, "inertial", defaults)
        if len(inertials) > 1:
            raise inertials[1][0].error("the body has two <inertial> elements; keep one")
        bodies.append(
            MjcfBody(
                name,
                parent,
                node,
                local,
                start,
                joints=(
                    *_select_elements(content, "freejoint", defaults),
                    *_select_elements(content, "joint", defaults),
                ),
                sites=_select_elements(content, "site", defaults),
                content=InertialElements(
                    inertials[0] if inertials else None,
                    _select_elements(content, "geom", defaults),
                    center=to_vector(pose.matrix[:3, 3]),
                ),
            )
        )
        children = [(item, name, start) for item in content if item.node.tag == "body"]
        waiting.extend(reversed(children))
    return tuple(bodies)


def _collect_names(worldbody: Node) -> set[str]:
    """Return the names of all bodies and of the world; repeated names are errors."""
    names, waiting = {WORLD}, [worldbody]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        name = node.get("name", "") if node.tag == "body" else ""
        if name in names:
            raise node.error(f"the body name {name!r} is used twice (the world is called 'world'); rename one of them")
        names |= {name} - {""}
    return names


def _select_elements(content: Iterable[PlacedElement], tag: str, defaults: Defaults) -> tuple[tuple[Node, Frame], ...]:
    return tuple(
        (defaults.apply(item.node, tag, item.childclass), item.around) for item in content if item.node.tag == tag
    )


def _flatten(body: Node, childclass: str | None, compiler: Compiler, snapper: Snapper) -> Iterator[PlacedElement]:
    """Yield the elements of a body, including those inside frames, in the order of the file."""
    waiting = [PlacedElement(child, IDENTITY, childclass) for child in reversed(body.children)]
    while waiting:
        item = waiting.pop()
        node = item.node
        if node.tag in _GENERATING_TAGS:
            raise node.error(
                f"<{node.tag}> generates elements when MuJoCo compiles the model, which is not supported; load the "
                "model with MuJoCo, save it with mj_saveLastXML, and read the saved file"
            )
        if node.tag != "frame":
            yield item
            continue
        for key in ("scale", "massscale"):
            if key in node.attributes:
                raise node.error(
                    f"'{key}' of a frame is not supported; load the model with MuJoCo, save it with mj_saveLastXML, "
                    "and read the saved file"
                )
        around = item.around @ read_pose(node, compiler, snapper)
        childclass = node.attributes.get("childclass", item.childclass)
        waiting.extend(PlacedElement(child, around, childclass) for child in reversed(node.children))


# Inertia of an MJCF body, read from ``<inertial>`` or inferred from geoms, then bounded by the compiler settings.
#
# Inertias of geoms with meshes are computed by ``meshes`` beforehand.


_NO_SNAPPING = Snapper(0.0)
# Volume (m^3) or area (m^2) of a geom; smaller ones are zero. Chosen on: the bound of MuJoCo.
_MIN_MEASURE = 1e-14
# Smallest size of a geom (m); smaller ones are zero. Chosen on: the bound of MuJoCo.
_MIN_SIZE = 1e-15
# Largest size of a geom (m); larger ones are infinite. Chosen on: the bound of MuJoCo.
_MAX_SIZE = 1e10


NO_MESHES: Mapping[tuple[str, int], BodyInertia] = MappingProxyType({})


@dataclass(frozen=True)
class InertialElements:
    """The elements that determine the inertia of a body, each with the pose of the ``<frame>`` elements around it.

    ``center`` is the place of the mass that the bounds of the compiler give to a body without mass. It is the ``pos``
    of the body: MuJoCo copies it, although ``pos`` is seen from the parent and the centre of mass from the body.
    """

    inertial: tuple[Node, Frame] | None
    geoms: tuple[tuple[Node, Frame], ...]
    center: Vector = (0.0, 0.0, 0.0)

    def uses_geoms(self, compiler: Compiler) -> bool:
        """Whether the inertia is inferred from the geoms."""
        setting = compiler.inertiafromgeom
        return setting == "true" or (setting == "auto" and self.inertial is None)

    def find_meshes(self, compiler: Compiler) -> list[Node]:
        """Return the geoms with a mesh on which the inertia depends."""
        if not self.uses_geoms(compiler):
            return []
        return [node for node, _ in self.geoms if _has_mass(node, compiler) and _has_mesh(node)]


def identify_element(node: Node) -> tuple[str, int]:
    """Return the place of an element in its file, by which it can be recognized."""
    return str(node.path), node.start


def read_inertia(
    content: InertialElements, compiler: Compiler, meshes: Mapping[tuple[str, int], BodyInertia] = NO_MESHES
) -> BodyInertia:
    """Read the inertia of a body. ``meshes`` are inertias of geoms with meshes, see ``identify_element``."""
    with np.errstate(over="ignore", invalid="ignore"):
        inertia = _read_unbounded(content, compiler, meshes)
    if not all(np.isfinite(part).all() for part in (inertia.mass, inertia.center, inertia.tensor)):
        node = content.inertial[0] if content.inertial is not None else content.geoms[0][0]
        raise node.error("its mass, position or inertia is too large to compute with; give smaller numbers")
    if inertia is MASSLESS and compiler.boundmass > 0.0:
        inertia = replace(MASSLESS, center=np.array(content.center))
    return _apply_bounds(inertia, compiler)


def _read_unbounded(
    content: InertialElements, compiler: Compiler, meshes: Mapping[tuple[str, int], BodyInertia]
) -> BodyInertia:
    explicit = MASSLESS if content.inertial is None else _read_inertial(*content.inertial, compiler)
    if content.uses_geoms(compiler):
        geoms = [(node, around) for node, around in content.geoms if _has_mass(node, compiler)]
        inferred = _add(
            [
                _move(meshes[identify_element(node)], around) if _has_mesh(node) else _read_geom(node, around, compiler)
                for node, around in geoms
            ]
        )
        return inferred if inferred.mass > 0.0 else explicit
    return explicit


def scale(inertia: BodyInertia, factor: float) -> BodyInertia:
    """Multiply mass and inertia by a factor."""
    with np.errstate(over="ignore", invalid="ignore"):  # Robot refuses numbers that are not finite
        return BodyInertia(factor * inertia.mass, inertia.center, factor * inertia.tensor)


def _read_inertial(node: Node, around: Frame, compiler: Compiler) -> BodyInertia:
    mass = node.number("mass")
    if mass < 0.0:
        raise node.error(f"the mass {mass:g} kg is negative; give a positive mass, or 0 for none")
    node.numbers("pos", 3)
    frame = around @ read_pose(node, compiler, _NO_SNAPPING)
    if "fullinertia" not in node.attributes:
        return _rotate(mass, np.diag(node.numbers("diaginertia", 3, default=(0.0, 0.0, 0.0))), frame)
    for key in ("diaginertia", *ORIENTATIONS):
        if key in node.attributes:
            raise node.error(f"'fullinertia' and '{key}' exclude each other; keep one")
    xx, yy, zz, xy, xz, yz = node.numbers("fullinertia", 6)
    return _rotate(mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), frame)


def _rotate(mass: float, tensor: Float[np.ndarray, "3 3"], frame: Frame) -> BodyInertia:
    """Return the inertia in body axes, given the tensor in the axes of this frame."""
    rotation = np.array(frame.rotation)
    return BodyInertia(mass, frame.matrix[:3, 3], rotation @ tensor @ rotation.T)


def _move(inertia: BodyInertia, around: Frame) -> BodyInertia:
    """Return the inertia of a geom in body axes, given the frame of the elements around the geom."""
    rotation = np.array(around.rotation)
    center = rotation @ inertia.center + around.matrix[:3, 3]
    return BodyInertia(inertia.mass, center, rotation @ inertia.tensor @ rotation.T)


def _has_mesh(node: Node) -> bool:
    return _read_shape(node) not in SHAPES or "mesh" in node.attributes


def _read_shape(node: Node) -> str:
    return read_choice(node, "type", "sphere", (*SHAPES, "plane", "hfield", "mesh", "sdf"))


def _read_amount(node: Node) -> tuple[str, float]:
    """Return the key "mass" or "density", and its value."""
    key = "mass" if "mass" in node.attributes else "density"
    return key, node.number(key, 1000.0)


def _has_mass(node: Node, compiler: Compiler) -> bool:
    """Whether a geom contributes to the inertia. This depends on the group, mass and shape of the geom."""
    first, last = compiler.inertiagroups
    in_group = first <= node.number("group", 0.0) <= last
    return in_group and _read_amount(node)[1] != 0.0 and _read_shape(node) not in ("plane", "hfield")


def _read_geom(node: Node, around: Frame, compiler: Compiler) -> BodyInertia:
    shape, (key, amount) = _read_shape(node), _read_amount(node)
    if amount < 0.0:
        raise node.error(f"the {key} {amount:g} of the geom is negative; give a positive one, or 0 for none")
    measure_shape, count = SHAPES[shape]
    sizes = node.numbers("size", default=())
    if "fromto" in node.attributes:
        if shape == "sphere":
            raise node.error("a sphere has no 'fromto'; give its 'pos', or make it a capsule")
        frame, half = read_segment(node)
        sizes = (*sizes[:1] * (count - 1), half)
    else:
        frame = read_pose(node, compiler, _NO_SNAPPING)
    if len(sizes) < count or not all(_MIN_SIZE < size < _MAX_SIZE for size in sizes[:count]):
        needed = 1 if "fromto" in node.attributes else count
        raise node.error(f"give {needed} positive number{'s' if needed > 1 else ''} as the size of a {shape}")
    measure, moments = measure_shape(*sizes[:count], shell=read_flag(node, "shellinertia", default=False))
    mass = amount * measure if key == "density" else amount if measure > _MIN_MEASURE else 0.0
    return _rotate(mass, mass * np.diag(moments), around @ frame)


def _add(inertias: Sequence[BodyInertia]) -> BodyInertia:
    parts = [inertia for inertia in inertias if inertia.mass > 0.0]
    if len(parts) < 2:
        return parts[0] if parts else MASSLESS
    mass = sum(part.mass for part in parts)
    center = np.asarray(sum(part.mass * part.center for part in parts)) / mass
    tensor = np.zeros((3, 3))
    for part in parts:
        c = part.center - center
        tensor += part.tensor + part.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return BodyInertia(mass, center, tensor)


def _apply_bounds(inertia: BodyInertia, compiler: Compiler) -> BodyInertia:
    """Apply boundmass, boundinertia and balanceinertia, in the order of MuJoCo."""
    inertia = replace(inertia, mass=max(inertia.mass, compiler.boundmass))
    if compiler.boundinertia <= 0.0 and not compiler.balanceinertia:
        return inertia
    moments, axes = np.linalg.eigh(inertia.tensor)
    bounded = np.maximum(moments, compiler.boundinertia)
    if compiler.balanceinertia and bounded[0] + bounded[1] < (1.0 - 1e-12) * bounded[2]:
        bounded = np.full(3, bounded.mean())
    if np.array_equal(bounded, moments):
        return inertia
    return replace(inertia, tensor=(axes * bounded) @ axes.T)

"""Inertia of an MJCF body: from its ``<inertial>``, or inferred from its geoms, then bounded as the compiler says.

Meshes are never opened, so a body whose inertia would come from one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.reading.mjcf.compiler import Compiler, choice, flag
from ytheta.robot.reading.mjcf.defaults import ORIENTATIONS
from ytheta.robot.reading.mjcf.orientation import pose, segment
from ytheta.robot.reading.mjcf.shapes import SHAPES
from ytheta.robot.reading.snap import Snapper
from ytheta.shapes import Float

_AS_WRITTEN = Snapper(0.0)
_EMPTY = 1e-14  # a volume or area that MuJoCo takes for none
_SMALLEST, _LARGEST = 1e-15, 1e10  # lengths that MuJoCo takes for zero and for infinite


@dataclass(frozen=True)
class Lump:
    """Mass, centre and inertia about the centre, in body axes."""

    mass: float
    center: Float[np.ndarray, "3"]
    tensor: Float[np.ndarray, "3 3"]

    @property
    def inertia(self) -> Inertia:
        return Inertia.about_center(self.mass, to_vector(self.center), to_rows(self.tensor))


NOTHING = Lump(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class Content:
    """What can say a body's inertia. Elements come with the frame of the ``<frame>`` elements around them."""

    inertial: tuple[Node, Frame] | None
    geoms: tuple[tuple[Node, Frame], ...]

    def inferred(self, compiler: Compiler) -> bool:
        """Whether the geoms are asked."""
        asked = compiler.inertiafromgeom
        return asked == "true" or (asked == "auto" and self.inertial is None)

    def mesh(self, compiler: Compiler) -> Node | None:
        """A geom with a mesh that the inertia would have to be inferred from."""
        if not self.inferred(compiler):
            return None
        counted = (node for node, _ in self.geoms if _counts(node, compiler))
        return next((node for node in counted if _shape(node) not in SHAPES or "mesh" in node.attributes), None)


def body_lump(content: Content, compiler: Compiler) -> Lump:
    """What a body weighs."""
    with np.errstate(over="ignore", invalid="ignore"):
        lump = _unbounded(content, compiler)
    if not all(np.isfinite(part).all() for part in (lump.mass, lump.center, lump.tensor)):
        node = content.inertial[0] if content.inertial is not None else content.geoms[0][0]
        raise node.error("mass, place or inertia are too large to compute with; give smaller numbers")
    return _bounded(lump, compiler)


def _unbounded(content: Content, compiler: Compiler) -> Lump:
    lump = NOTHING if content.inertial is None else _given(*content.inertial, compiler)
    if content.inferred(compiler):
        mesh = content.mesh(compiler)
        if mesh is not None:
            raise mesh.error(
                "the inertia of the body would come from a mesh, and meshes are not opened; give the body an "
                "<inertial>, for example by saving the model with MuJoCo (saveinertial='true', mj_saveLastXML)"
            )
        inferred = _together(
            [_geom(node, around, compiler) for node, around in content.geoms if _counts(node, compiler)]
        )
        return inferred if inferred.mass > 0.0 else lump
    return lump


def scaled(lump: Lump, factor: float) -> Lump:
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by Robot
        return Lump(factor * lump.mass, lump.center, factor * lump.tensor)


def _given(node: Node, around: Frame, compiler: Compiler) -> Lump:
    mass = node.number("mass")
    if mass < 0.0:
        raise node.error(f"the mass {mass:g} kg is negative; give a positive mass, or 0 for none")
    node.numbers("pos", 3)
    if "fullinertia" not in node.attributes:
        return _lump(mass, np.diag(node.numbers("diaginertia", 3, default=(0.0, 0.0, 0.0))), around, node, compiler)
    for key in ("diaginertia", *ORIENTATIONS):
        if key in node.attributes:
            raise node.error(f"'fullinertia' and '{key}' exclude each other; keep one")
    xx, yy, zz, xy, xz, yz = node.numbers("fullinertia", 6)
    return _lump(mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), around, node, compiler)


def _lump(mass: float, tensor: Float[np.ndarray, "3 3"], around: Frame, node: Node, compiler: Compiler) -> Lump:
    return _turned(mass, tensor, around @ pose(node, compiler, _AS_WRITTEN))


def _turned(mass: float, tensor: Float[np.ndarray, "3 3"], frame: Frame) -> Lump:
    rotation = np.array(frame.rotation)
    return Lump(mass, frame.matrix[:3, 3], rotation @ tensor @ rotation.T)


def _shape(node: Node) -> str:
    return choice(node, "type", "sphere", (*SHAPES, "plane", "hfield", "mesh", "sdf"))


def _amount(node: Node) -> tuple[str, float]:
    given = "mass" if "mass" in node.attributes else "density"
    return given, node.number(given, 1000.0)


def _counts(node: Node, compiler: Compiler) -> bool:
    """Whether a geom has a say: its group is asked, and it is neither weightless nor a piece of landscape."""
    first, last = compiler.inertiagroups
    asked = first <= node.number("group", 0.0) <= last
    return asked and _amount(node)[1] != 0.0 and _shape(node) not in ("plane", "hfield")


def _geom(node: Node, around: Frame, compiler: Compiler) -> Lump:
    shape, (given, amount) = _shape(node), _amount(node)
    if amount < 0.0:
        raise node.error(f"the {given} {amount:g} of the geom is negative; give a positive one, or 0 for none")
    measured, count = SHAPES[shape]
    sizes = node.numbers("size", default=())
    if "fromto" in node.attributes:
        if shape == "sphere":
            raise node.error("a sphere has no 'fromto'; give its 'pos', or make it a capsule")
        frame, half = segment(node)
        sizes = (*sizes[:1] * (count - 1), half)
    else:
        frame = pose(node, compiler, _AS_WRITTEN)
    if len(sizes) < count or not all(_SMALLEST < size < _LARGEST for size in sizes[:count]):
        needed = 1 if "fromto" in node.attributes else count
        raise node.error(f"the size of a {shape} should be {needed} positive number{'s' if needed > 1 else ''}")
    measure, moments = measured(*sizes[:count], shell=flag(node, "shellinertia", default=False))
    mass = amount * measure if given == "density" else amount if measure > _EMPTY else 0.0
    return _turned(mass, mass * np.diag(moments), around @ frame)


def _together(lumps: Sequence[Lump]) -> Lump:
    parts = [lump for lump in lumps if lump.mass > 0.0]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    mass = sum(part.mass for part in parts)
    center = np.asarray(sum(part.mass * part.center for part in parts)) / mass
    tensor = np.zeros((3, 3))
    for part in parts:
        off = part.center - center
        tensor += part.tensor + part.mass * (off @ off * np.eye(3) - np.outer(off, off))
    return Lump(mass, center, tensor)


def _bounded(lump: Lump, compiler: Compiler) -> Lump:
    """boundmass, boundinertia and balanceinertia, in the order of MuJoCo."""
    lump = replace(lump, mass=max(lump.mass, compiler.boundmass))
    if compiler.boundinertia <= 0.0 and not compiler.balanceinertia:
        return lump
    moments, axes = np.linalg.eigh(lump.tensor)
    bounded = np.maximum(moments, compiler.boundinertia)
    if compiler.balanceinertia and bounded[0] + bounded[1] < (1.0 - 1e-12) * bounded[2]:
        bounded = np.full(3, bounded.mean())
    if np.array_equal(bounded, moments):
        return lump
    return replace(lump, tensor=(axes * bounded) @ axes.T)

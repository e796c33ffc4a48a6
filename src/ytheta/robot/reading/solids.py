"""Masses of solids, for descriptions that give densities instead of inertias: primitive shapes, and meshes.

For a primitive shape: its volume or area, and its moments of inertia about the centre per unit of mass. Sizes are
half-sizes, as in MJCF. ``shell`` puts the mass on the surface. The area of an ellipsoid has no closed form.
As in MuJoCo, the area is Thomsen's approximation, and the mass fills a layer of 1e-6 m between two ellipsoids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ytheta.errors import InputError, MissingExtraError
from ytheta.files.bounded import read_small_file
from ytheta.files.xml_document import Node
from ytheta.robot.frame import Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float

# Largest mesh file (bytes) that is opened. Chosen on: rule of thumb.
MAX_MESH_SIZE = 64 * 1024 * 1024
# Largest size (bytes) of all mesh files of a robot. Chosen on: rule of thumb.
MAX_TOTAL_SIZE = 512 * 1024 * 1024

_LAYER_THICKNESS = 1e-6  # metres
_THOMSEN_EXPONENT = 1.6075


def measure_sphere(r: float, *, shell: bool) -> tuple[float, Vector]:
    if shell:
        return 4 * math.pi * r**2, _make_axial_moments(2 / 3 * r**2, 2 / 3 * r**2)
    return 4 / 3 * math.pi * r**3, _make_axial_moments(2 / 5 * r**2, 2 / 5 * r**2)


def measure_capsule(r: float, h: float, *, shell: bool) -> tuple[float, Vector]:
    """A cylinder with two half-spheres, whose centres of mass are r/2 (shell) or 3r/8 (solid) beyond its ends."""
    ball, about_ball = measure_sphere(r, shell=shell)
    beyond = r / 2 if shell else 3 * r / 8
    caps = (ball, _make_axial_moments(about_ball[0] + h**2 + 2 * h * beyond, about_ball[2]))
    return _combine(_measure_tube(r, h) if shell else _measure_rod(r, h), caps)


def measure_cylinder(r: float, h: float, *, shell: bool) -> tuple[float, Vector]:
    if not shell:
        return _measure_rod(r, h)
    return _combine(_measure_tube(r, h), (2 * math.pi * r**2, _make_axial_moments(r**2 / 4 + h**2, r**2 / 2)))


def measure_box(a: float, b: float, c: float, *, shell: bool) -> tuple[float, Vector]:
    if not shell:
        return 8 * a * b * c, _compute_moments(a**2 / 3, b**2 / 3, c**2 / 3)
    return _combine(
        (8 * b * c, _compute_moments(a**2, b**2 / 3, c**2 / 3)),
        (8 * c * a, _compute_moments(a**2 / 3, b**2, c**2 / 3)),
        (8 * a * b, _compute_moments(a**2 / 3, b**2 / 3, c**2)),
    )


def measure_ellipsoid(a: float, b: float, c: float, *, shell: bool) -> tuple[float, Vector]:
    solid, inner = 4 / 3 * math.pi * a * b * c, _compute_moments(a**2 / 5, b**2 / 5, c**2 / 5)
    if not shell:
        return solid, inner
    mean = sum((x * y) ** _THOMSEN_EXPONENT for x, y in ((a, b), (b, c), (c, a))) / 3
    a, b, c = a + _LAYER_THICKNESS, b + _LAYER_THICKNESS, c + _LAYER_THICKNESS
    grown, outer = 4 / 3 * math.pi * a * b * c, _compute_moments(a**2 / 5, b**2 / 5, c**2 / 5)
    x, y, z = ((grown * out - solid * within) / (grown - solid) for out, within in zip(outer, inner, strict=True))
    return 4 * math.pi * mean ** (1 / _THOMSEN_EXPONENT), (x, y, z)


def _measure_rod(r: float, h: float) -> tuple[float, Vector]:
    return 2 * math.pi * r**2 * h, _make_axial_moments(r**2 / 4 + h**2 / 3, r**2 / 2)


def _measure_tube(r: float, h: float) -> tuple[float, Vector]:
    return 4 * math.pi * r * h, _make_axial_moments(r**2 / 2 + h**2 / 3, r**2)


def _make_axial_moments(across: float, along: float) -> Vector:
    return across, across, along


def _compute_moments(xx: float, yy: float, zz: float) -> Vector:
    """Return the moments of inertia, given the mean squares of the coordinates x, y and z."""
    return yy + zz, zz + xx, xx + yy


def _combine(*parts: tuple[float, Vector]) -> tuple[float, Vector]:
    """Combine parts of the same density, each with its moments about the common centre."""
    total = sum(measure for measure, _ in parts)
    x, y, z = (sum(measure * moments[k] for measure, moments in parts) / total for k in range(3))
    return total, (x, y, z)


# The function of each shape and the number of its sizes.
SHAPES: dict[str, tuple[Callable[..., tuple[float, Vector]], int]] = {
    "sphere": (measure_sphere, 1),
    "capsule": (measure_capsule, 2),
    "cylinder": (measure_cylinder, 2),
    "box": (measure_box, 3),
    "ellipsoid": (measure_ellipsoid, 3),
}


@dataclass(frozen=True)
class BodyInertia:
    """Mass, centre and inertia about the centre, in body axes."""

    mass: float
    center: Float[np.ndarray, "3"]
    tensor: Float[np.ndarray, "3 3"]

    @property
    def inertia(self) -> Inertia:
        return Inertia.about_center(self.mass, to_vector(self.center), to_rows(self.tensor))


MASSLESS = BodyInertia(0.0, np.zeros(3), np.zeros((3, 3)))


class MeshModel:
    """A small model with meshes, which MuJoCo's own compiler measures.

    It contains only geoms with meshes, each in a body of its own. The mesh files are read here, within the limits of
    their size, and given to MuJoCo in memory.
    """

    def __init__(self) -> None:
        self._elements: dict[str, str] = {}
        self._files: dict[str, bytes] = {}
        self._size = 0

    def __contains__(self, label: str) -> bool:
        """Whether the model has a mesh with this label."""
        return label in self._elements

    def add(self, label: str, attributes: Mapping[str, str], file: Path | None, place: Node) -> None:
        """Add a mesh with attributes of MJCF and the file of its content, if it has one; errors name ``place``."""
        content = {} if file is None else {"file": self._read_file(file, label, place)}
        self._elements[label] = _format_element("mesh", {"name": label, **attributes, **content})

    def measure(
        self, geoms: Sequence[Mapping[str, str]], place: Node, *, settings: Mapping[str, str] | None = None
    ) -> list[BodyInertia]:
        """Return the inertias of geoms, in the axes around each geom.

        A geom is given by its attributes, of which ``mesh`` is the label of its mesh. ``settings`` are attributes of
        ``<compiler>``.
        """
        compiler = {**(settings or {}), "inertiafromgeom": "true", "fusestatic": "false"}
        bodies = (
            f"<body>{_format_element('geom', {**geom, 'contype': '0', 'conaffinity': '0'})}</body>" for geom in geoms
        )
        text = (
            f"<mujoco>{_format_element('compiler', compiler)}<asset>{''.join(self._elements.values())}</asset>"
            f"<worldbody>{''.join(bodies)}</worldbody></mujoco>"
        )
        return _compile(text, self._files, place)

    def _read_file(self, file: Path, label: str, place: Node) -> str:
        try:
            content = read_small_file(file, "a mesh", max_size=MAX_MESH_SIZE)
        except InputError as error:
            raise place.error(f"the inertia of a body depends on this mesh: {error}") from None
        self._size += len(content)
        if self._size > MAX_TOTAL_SIZE:
            raise place.error(
                f"the meshes have more than {MAX_TOTAL_SIZE / 1e6:.0f} MB; give the bodies an <inertial> instead"
            )
        name = f"{label}{file.suffix}"
        self._files[name] = content
        return name


def _format_element(tag: str, attributes: Mapping[str, str]) -> str:
    return f"<{tag} {' '.join(f'{key}={quoteattr(value)}' for key, value in attributes.items())}/>"


def _compile(text: str, files: dict[str, bytes], place: Node) -> list[BodyInertia]:
    """Compile the small model with MuJoCo and return the inertias of its bodies."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(
            "the inertia of a body depends on a mesh, which MuJoCo measures, but MuJoCo is not installed; install it "
            "with: pip install 'ytheta[mujoco]'"
        ) from None
    try:
        model = mujoco.MjModel.from_xml_string(text, files)
    except Exception as error:  # MuJoCo raises ValueError and errors of its own for faulty meshes
        reason = " ".join(str(error).split())
        raise place.error(
            f"MuJoCo cannot measure the meshes of the file: {reason[:200]}; repair the mesh, or give the body an "
            "<inertial>"
        ) from None
    inertias: list[BodyInertia] = []
    for k in range(1, model.nbody):
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, model.body_iquat[k])
        turn = matrix.reshape(3, 3)
        tensor = turn @ np.diag(model.body_inertia[k]) @ turn.T
        inertias.append(BodyInertia(float(model.body_mass[k]), model.body_ipos[k].copy(), tensor))
    return inertias

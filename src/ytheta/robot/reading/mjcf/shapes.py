"""Volume or area of the primitive shapes of MJCF, and their moments of inertia about the centre per unit of mass.

Sizes are half-sizes, as in MJCF. ``shell`` puts all mass on the surface. There is no closed form for an ellipsoid's
surface: as in MuJoCo, its area is Thomsen's approximation, and its mass is a layer of 1e-6 m between two ellipsoids.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ytheta.robot.frame import Vector

_LAYER_THICKNESS = 1e-6  # metres
_THOMSEN_EXPONENT = 1.6075


def sphere(r: float, *, shell: bool) -> tuple[float, Vector]:
    if shell:
        return 4 * math.pi * r**2, _axial_moments(2 / 3 * r**2, 2 / 3 * r**2)
    return 4 / 3 * math.pi * r**3, _axial_moments(2 / 5 * r**2, 2 / 5 * r**2)


def capsule(r: float, h: float, *, shell: bool) -> tuple[float, Vector]:
    """A cylinder with two half-spheres, whose centres of mass are r/2 (shell) or 3r/8 (solid) beyond its ends."""
    ball, about_ball = sphere(r, shell=shell)
    beyond = r / 2 if shell else 3 * r / 8
    caps = (ball, _axial_moments(about_ball[0] + h**2 + 2 * h * beyond, about_ball[2]))
    return _combine(_tube(r, h) if shell else _rod(r, h), caps)


def cylinder(r: float, h: float, *, shell: bool) -> tuple[float, Vector]:
    if not shell:
        return _rod(r, h)
    return _combine(_tube(r, h), (2 * math.pi * r**2, _axial_moments(r**2 / 4 + h**2, r**2 / 2)))


def box(a: float, b: float, c: float, *, shell: bool) -> tuple[float, Vector]:
    if not shell:
        return 8 * a * b * c, _moments_from_squares(a**2 / 3, b**2 / 3, c**2 / 3)
    return _combine(
        (8 * b * c, _moments_from_squares(a**2, b**2 / 3, c**2 / 3)),
        (8 * c * a, _moments_from_squares(a**2 / 3, b**2, c**2 / 3)),
        (8 * a * b, _moments_from_squares(a**2 / 3, b**2 / 3, c**2)),
    )


def ellipsoid(a: float, b: float, c: float, *, shell: bool) -> tuple[float, Vector]:
    solid, inner = 4 / 3 * math.pi * a * b * c, _moments_from_squares(a**2 / 5, b**2 / 5, c**2 / 5)
    if not shell:
        return solid, inner
    mean = sum((x * y) ** _THOMSEN_EXPONENT for x, y in ((a, b), (b, c), (c, a))) / 3
    a, b, c = a + _LAYER_THICKNESS, b + _LAYER_THICKNESS, c + _LAYER_THICKNESS
    grown, outer = 4 / 3 * math.pi * a * b * c, _moments_from_squares(a**2 / 5, b**2 / 5, c**2 / 5)
    x, y, z = ((grown * out - solid * within) / (grown - solid) for out, within in zip(outer, inner, strict=True))
    return 4 * math.pi * mean ** (1 / _THOMSEN_EXPONENT), (x, y, z)


# The function of each shape and the number of its sizes.
SHAPES: dict[str, tuple[Callable[..., tuple[float, Vector]], int]] = {
    "sphere": (sphere, 1),
    "capsule": (capsule, 2),
    "cylinder": (cylinder, 2),
    "box": (box, 3),
    "ellipsoid": (ellipsoid, 3),
}


def _rod(r: float, h: float) -> tuple[float, Vector]:
    return 2 * math.pi * r**2 * h, _axial_moments(r**2 / 4 + h**2 / 3, r**2 / 2)


def _tube(r: float, h: float) -> tuple[float, Vector]:
    return 4 * math.pi * r * h, _axial_moments(r**2 / 2 + h**2 / 3, r**2)


def _axial_moments(across: float, along: float) -> Vector:
    return across, across, along


def _moments_from_squares(xx: float, yy: float, zz: float) -> Vector:
    """The moments for these mean squares of the coordinates."""
    return yy + zz, zz + xx, xx + yy


def _combine(*parts: tuple[float, Vector]) -> tuple[float, Vector]:
    """Add parts of the same density, each with its moments about the common centre."""
    total = sum(measure for measure, _ in parts)
    x, y, z = (sum(measure * moments[k] for measure, moments in parts) / total for k in range(3))
    return total, (x, y, z)

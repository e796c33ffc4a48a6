"""Volume or area of the primitive shapes of MJCF, and their moments of inertia about the centre per unit of mass.

Sizes are half-sizes, as in MJCF. ``shell`` puts the mass on the surface. The area of an ellipsoid has no closed form.
As in MuJoCo, the area is Thomsen's approximation, and the mass fills a layer of 1e-6 m between two ellipsoids.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ytheta.robot.frame import Vector

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

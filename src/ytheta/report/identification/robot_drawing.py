"""The robot with its inertia ellipsoids before and after, as data that the script of the page draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.report.numbers import format_number
from ytheta.viewing.drawing import DrawnEllipsoid, make_drawing

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

DIGITS = 5  # of coordinates in metres


def draw_robot(identification: Identification) -> dict[str, Any] | None:
    """Return lines and ellipsoids at a recorded pose; None if the geometry is unknown."""
    if identification.standard is None:
        return None
    drawing = make_drawing(identification.base.robot, identification.robot, identification.fit.trace.q)
    if drawing is None:
        return None
    described = drawing.before if identification.description_errors is not None else ()
    return {
        "lines": np.round(drawing.lines, DIGITS).tolist(),
        "before": [_to_data(each) for each in described],
        "after": [_to_data(each) for each in drawing.after],
    }


def _to_data(ellipsoid: DrawnEllipsoid) -> dict[str, Any]:
    mass = f"{format_number(ellipsoid.mass)} kg"
    return {
        "label": f"{ellipsoid.link}: {mass}" + ("" if ellipsoid.consistent else ", not physically consistent"),
        "center": np.round(ellipsoid.center, DIGITS).tolist(),
        "matrix": np.round(ellipsoid.matrix, 2 * DIGITS).tolist(),
    }

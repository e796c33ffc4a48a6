"""Line plots as data. ``report/figure.py`` draws them.

Packages below ``report`` describe the plots of their results with these classes, without colours and sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ytheta.shapes import Float


class AxisPosition(Enum):
    """The position of a second axis: at the right of the same plot, or below the plot with lines of its own."""

    RIGHT = "right"
    BELOW = "below"


@dataclass(frozen=True, eq=False)
class Line:
    """One line. ``x`` replaces the x of the plot. ``colour`` is an index in the palette, by default the next index."""

    name: str
    y: Float[np.ndarray, " points"]
    x: Float[np.ndarray, " points"] | None = None
    axis: int = 0
    colour: int | None = None
    faint: bool = False
    dashed: bool = False
    width: float = 1.5
    legend: bool = True


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two lines."""

    name: str
    lower: Float[np.ndarray, " points"]
    upper: Float[np.ndarray, " points"]
    axis: int = 0
    colour: int = 0


@dataclass(frozen=True)
class Axis:
    """Title and unit of an axis. With ``log``, the axis is logarithmic and leaves out values that are not positive."""

    title: str
    unit: str = ""
    log: bool = False
    place: AxisPosition = AxisPosition.BELOW


@dataclass(frozen=True, eq=False)
class Plot:
    """Lines as functions of x, on one or two y axes, with title and caption.

    ``marks`` are values of x marked by a vertical line.
    """

    title: str
    x: Float[np.ndarray, " points"]
    lines: tuple[Line, ...]
    axes: tuple[Axis, ...]
    caption: str = ""
    x_title: str = "time / s"
    bands: tuple[Band, ...] = ()
    marks: tuple[float, ...] = ()

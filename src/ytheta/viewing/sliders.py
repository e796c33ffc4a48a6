"""Sliders of the coordinates that can be moved by hand, and their ranges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ytheta.robot.robot import Robot
from ytheta.viewing.scene import SamplesByActuated

FREE_TURN = math.pi  # rad; range of a slider without limits
FREE_STROKE = 1.0  # m
MIN_RANGE = 1e-3  # rad or m


@dataclass(frozen=True)
class SliderRange:
    """The range of the slider of an actuated coordinate, the one with this index."""

    index: int
    label: str
    lower: float
    upper: float


def find_slider_ranges(robot: Robot, shown: SamplesByActuated) -> Iterator[SliderRange]:
    """Yield the limits of each coordinate, extended by the positions that are shown.

    Coordinates without limits make one turn or one metre. Those of a force-torque sensor, which cannot move, have no
    slider.
    """
    lengths = {*robot.prismatic_joints, *robot.base_coordinates[:3]}
    for k, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        if name in robot.sensor_coordinates:
            continue
        free, unit = (FREE_STROKE, "m") if name in lengths else (FREE_TURN, "rad")
        lower = limits.lower if math.isfinite(limits.lower) else -free
        upper = limits.upper if math.isfinite(limits.upper) else free
        low, high = min(lower, float(shown[:, k].min())), max(upper, float(shown[:, k].max()))
        yield SliderRange(k, f"{name} / {unit}", low, high if high > low else low + MIN_RANGE)

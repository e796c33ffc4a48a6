"""Friction curves of several models of one robot, over the same speeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.identification.model_file import Model
from ytheta.identification.predict import Prediction
from ytheta.robot.friction_curve import compute_friction
from ytheta.robot.parts import Drive
from ytheta.shapes import Float

POINTS = 200  # even, so that no point is at speed zero, where friction jumps
DEFAULT_SPEED = 1.0  # rad/s or m/s, if neither log nor models nor description tell a speed


@dataclass(frozen=True, eq=False)
class FrictionCurves:
    """Friction of one drive in each model, without offset and at zero load; None if a model does not have the drive."""

    name: str
    speeds: Float[np.ndarray, "points"]
    friction: tuple[Float[np.ndarray, "points"] | None, ...]


def compute_friction_curves(models: Sequence[Model], predictions: Sequence[Prediction]) -> Iterator[FrictionCurves]:
    """Yield the curves of every drive that has friction in a model.

    They reach to the highest speed of the log, if there is one; otherwise to the speed up to which a model was fitted,
    to the limit of the description, or to 1 rad/s or m/s.
    """
    drives = [dict(model.robot.drives) for model in models]
    recorded = _find_recorded_speeds(predictions)
    for name in dict.fromkeys(name for each in drives for name in each):
        present = [each.get(name) for each in drives]
        if not any(drive is not None and _has_curve(drive) for drive in present):
            continue
        speed = recorded.get(name) or _find_described_speed(models, name, present)
        speeds = np.linspace(-speed, speed, POINTS)
        curves = tuple(None if drive is None else compute_friction(drive, speeds) for drive in present)
        yield FrictionCurves(name, speeds, curves)


def _has_curve(drive: Drive) -> bool:
    return any((drive.viscous, drive.coulomb, drive.root))


def _find_recorded_speeds(predictions: Sequence[Prediction]) -> dict[str, float]:
    errors = [each.errors for each in predictions if each.errors is not None]
    if not errors:
        return {}
    return dict(zip(predictions[0].robot.actuated, errors[0].motion_range.speed.tolist(), strict=True))


def _find_described_speed(models: Sequence[Model], name: str, drives: Sequence[Drive | None]) -> float:
    fitted = max((drive.friction_speed for drive in drives if drive is not None), default=0.0)
    if fitted:
        return fitted
    robot = models[0].robot
    limits = dict(zip(robot.actuated, robot.actuated_limits, strict=True))
    limit = limits[name].velocity if name in limits else math.inf
    return limit if math.isfinite(limit) and limit > 0.0 else DEFAULT_SPEED

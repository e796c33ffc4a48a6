"""Checks of the arguments of ``identify`` and ``predict`` that are not logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ytheta.arguments import check_kind, check_number, check_words
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import ESTIMATORS, Estimator, get_estimator
from ytheta.identification.priors.prior import PriorSettings
from ytheta.logs.preparing.preparation import AUTO
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint


def choose_estimator(estimator: str | Estimator, forgetting: float | None) -> Estimator:
    """Return the estimator; ``forgetting`` replaces the forgetting factor of a recursive estimator."""
    method = get_estimator(estimator) if isinstance(estimator, str) else estimator
    check_kind("estimator", method, Estimator, f"an estimator or a name: auto, {', '.join(ESTIMATORS)}")
    if forgetting is None:
        return method
    check_number("forgetting", forgetting, "a factor per sample, such as 0.999")
    # Imported here, since they are rarely needed.
    from ytheta.identification.estimators.recursive import Recursive
    from ytheta.identification.estimators.sequential import Sequential

    if not isinstance(method, Recursive | Sequential):
        raise InputError(
            f'forgetting needs the estimator "recursive" or "sequential"; "{method.name}" has no forgetting factor'
        )
    return replace(method, forgetting=forgetting)


def with_prior(method: Estimator, settings: PriorSettings, *, given: bool) -> Estimator:
    """Return the estimator with these settings of its prior; ``given``: whether the user asked for a prior."""
    if isinstance(method, EmpiricalBayes):
        return replace(method, prior=settings)
    if given:
        raise InputError(f'prior and prior_strength need the estimator "evidence"; "{method.name}" has no prior')
    return method


def with_unknown_loads(robot: Robot, links: Sequence[str]) -> Robot:
    """Return the robot with a load of unknown inertia on each of these links."""
    for link in dict.fromkeys(check_words("add_load", links, "names of links", ("link3",))):
        if link not in {each.name for each in robot.links}:
            raise UnknownNameError(
                f"robot {robot.name!r} has no link {link!r}{suggest_names(link, [each.name for each in robot.links])}"
            )
        robot = robot.with_load(Inertia(), name=f"{link}_load", on=link)
    return robot


def ignore_stage(stage: str) -> None:
    """Do nothing when a stage starts: what ``report_stage=None`` means."""


def is_auto(min_speed: float | Sequence[float] | PerJoint | str | None) -> bool:
    """Whether the equations of a joint are left out while it rests."""
    return isinstance(min_speed, str) and min_speed == AUTO


def check_min_speed(robot: Robot, min_speed: float | Sequence[float] | PerJoint | str | None) -> PerJoint | None:
    """Return one speed for each joint; a single speed applies to all joints. None for None and for "auto"."""
    if min_speed is None or is_auto(min_speed):
        return None
    count = len(robot.actuated)
    try:
        speeds = np.asarray(np.nan if isinstance(min_speed, str) else min_speed, dtype=float)
    except (TypeError, ValueError):
        speeds = np.array([np.nan])
    if not (np.isfinite(speeds) & (speeds >= 0.0)).all():
        raise InputError(f"min_speed is {min_speed!r}; give non-negative speeds in rad/s or m/s, or 'auto'")
    if speeds.shape not in ((), (1,), (count,)):
        raise InputError(f"min_speed has {speeds.size} speeds for {count} joints; give one for all, or one for each")
    return np.broadcast_to(speeds, (count,)).copy()

"""Checks of the arguments of ``identify`` and ``predict`` that are not logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.registry import get_estimator
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint

FRICTION = ("viscous", "coulomb", "offset")  # the kinds of friction that are estimated by default
ASYMMETRIC = "asymmetric"  # Coulomb friction and offset: friction that differs between forward and backward motion


def choose_estimator(estimator: str | Estimator, forgetting: float | None) -> Estimator:
    """Return the estimator; ``forgetting`` replaces the forgetting factor of the recursive estimator."""
    method = get_estimator(estimator) if isinstance(estimator, str) else estimator
    if forgetting is None:
        return method
    from ytheta.identification.estimators.recursive import Recursive  # imported here, since it is rarely needed

    if not isinstance(method, Recursive):
        raise InputError(f'forgetting needs the estimator "recursive"; "{method.name}" has no forgetting factor')
    return replace(method, forgetting=forgetting)


def expand_friction(friction: Sequence[str] | None) -> tuple[str, ...]:
    """Return the kinds of friction without duplicates; "asymmetric" stands for two kinds, None for ``FRICTION``."""
    if friction is None:
        return FRICTION
    if isinstance(friction, str) or not isinstance(friction, Sequence):
        raise InputError(f"friction must be a list of kinds such as {FRICTION}, or empty; it is {friction!r}")
    kinds = [each for kind in friction for each in (("coulomb", "offset") if kind == ASYMMETRIC else (kind,))]
    return tuple(dict.fromkeys(kinds))


def check_parameters(
    parameters: Sequence[str] | None, friction: Sequence[str] | None, *, rotor_inertia: bool
) -> tuple[str, ...]:
    """Return the names or patterns of the parameters to estimate; an empty tuple if they are chosen otherwise."""
    if parameters is None:
        return ()
    if isinstance(parameters, str) or not isinstance(parameters, Sequence):
        raise InputError(f"parameters must be a list of names or patterns such as ['*.fv']; it is {parameters!r}")
    if not parameters:
        raise InputError("parameters is empty; give names or patterns such as 'link*,*.fv', or remove it")
    if friction is not None or rotor_inertia:
        other, kind = ("friction", "'*.fv,*.fc,*.fo'") if friction is not None else ("rotor_inertia", "'*.Ia'")
        raise InputError(f"parameters lists all parameters to estimate; remove {other} and add {kind} to the list")
    return tuple(parameters)


def check_min_speed(robot: Robot, min_speed: float | Sequence[float] | PerJoint | None) -> PerJoint | None:
    """Return one speed for each joint; a single speed applies to all joints."""
    if min_speed is None:
        return None
    count = len(robot.actuated)
    try:
        speeds = np.asarray(min_speed, dtype=float)
    except (TypeError, ValueError):
        speeds = np.array([np.nan])
    if not (np.isfinite(speeds) & (speeds >= 0.0)).all():
        raise InputError(f"min_speed is {min_speed!r}; give non-negative speeds in rad/s or m/s")
    if speeds.shape not in ((), (1,), (count,)):
        raise InputError(f"min_speed has {speeds.size} speeds for {count} joints; give one for all, or one for each")
    return np.broadcast_to(speeds, (count,)).copy()

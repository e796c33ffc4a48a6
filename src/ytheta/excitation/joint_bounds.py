"""The limits that a trajectory keeps, joint by joint: from the description, from the user, or from a stated rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ytheta.arguments import check_kind
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.robot.parts import Joint, Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, freeze

# 1/s; if the description has no such limits, a joint reaches its speed limit within 0.2 s, and its largest
# acceleration within 0.1 s. Chosen on: rule of thumb.
ACCELERATION_PER_VELOCITY = 5.0
JERK_PER_ACCELERATION = 10.0

LimitInput = float | Mapping[str, float] | None
PositionInput = Mapping[str, tuple[float, float]] | None
# Smallest and largest limit of velocity, acceleration, jerk and effort; others are refused as typing errors. Chosen
# on: rule of thumb.
MIN_LIMIT, MAX_LIMIT = 1e-12, 1e12
MAX_POSITION = 1e6  # rad or m; position limits beyond it are refused as typing errors. Chosen on: rule of thumb.


@dataclass(frozen=True)
class LimitMargins:
    """Shares of the limits that a motion does not use.

    Attributes
    ----------
    position  share of the range, for errors of the controller: half of it at either end
    velocity  share of the speed limits, likewise
    effort    share of the torque or force limits, for errors of the model
    """

    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0

    def reduce(self, limits: Limits) -> Limits:
        """Return the limits of a joint without the shares that are kept free; infinite limits stay infinite."""
        span = limits.upper - limits.lower
        kept = 0.5 * self.position * span if math.isfinite(span) else 0.0
        return replace(
            limits,
            lower=limits.lower + kept,
            upper=limits.upper - kept,
            velocity=limits.velocity * (1.0 - self.velocity),
            effort=limits.effort * (1.0 - self.effort),
        )


# Chosen on: rule of thumb; errors of tracking are far below 1 % of a range and a few percent of a speed, while torques
# of a description without friction and rotors are wrong by more.
DEFAULT_MARGINS = LimitMargins(0.02, 0.05, 0.1)


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Limits of all actuated coordinates in SI units, already reduced by ``margins``.

    Infinite limits are not kept; only the user can ask for them.
    """

    joints: tuple[str, ...]
    lower: PerJoint
    upper: PerJoint
    velocity: PerJoint
    acceleration: PerJoint
    jerk: PerJoint
    effort: PerJoint
    margins: LimitMargins = LimitMargins()

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.velocity, self.acceleration, self.jerk, self.effort):
            freeze(array)

    @property
    def middle(self) -> PerJoint:
        return 0.5 * (self.lower + self.upper)

    @property
    def half_range(self) -> PerJoint:
        return 0.5 * (self.upper - self.lower)

    @property
    def rates(self) -> tuple[PerJoint, PerJoint, PerJoint]:
        """Limits of velocity, acceleration and jerk."""
        return self.velocity, self.acceleration, self.jerk

    def limit_positions(self, robot: Robot) -> Robot:
        """Return the robot with these position limits in place of those of its description."""
        pairs = {name: (low, high) for name, low, high in zip(self.joints, self.lower, self.upper, strict=True)}

        def limit(joint: Joint) -> Joint:
            if joint.name not in pairs:
                return joint
            low, high = pairs[joint.name]
            return replace(joint, limits=replace(joint.limits, lower=float(low), upper=float(high)))

        return replace(robot, joints=tuple(map(limit, robot.joints)))


def find_bounds(
    robot: Robot,
    *,
    position: PositionInput,
    velocity: LimitInput,
    acceleration: LimitInput,
    jerk: LimitInput,
    effort: LimitInput,
    margins: LimitMargins,
) -> tuple[JointBounds, tuple[Finding, ...]]:
    """Return the limits of all actuated coordinates, and notes about those that follow from a rule.

    Values of the user replace those of the description. A number holds for all joints. Raise an InputError if limits of
    position, velocity or effort are missing, or if they allow no motion. All limits are reduced by ``margins``.
    """
    joints, limits = robot.actuated, robot.actuated_limits
    lower, upper = (np.array([getattr(each, side) for each in limits]) for side in ("lower", "upper"))
    form = "pairs (lower, upper) by joint, such as {'elbow': (-1.5, 1.5)}"
    check_kind("position", position, (Mapping, type(None)), form)
    for name, pair in ({} if position is None else _check_names(robot, "position", position)).items():
        lower[joints.index(name)], upper[joints.index(name)] = _check_pair(name, pair)
    speeds = _merge(robot, "velocity", velocity, [each.velocity or math.inf for each in limits])
    efforts = _merge(robot, "effort", effort, [each.effort or math.inf for each in limits])
    missing = {
        "position": [n for n, a, b in zip(joints, lower, upper, strict=True) if not np.isfinite([a, b]).all()],
        "velocity": _list_missing(joints, speeds, velocity),
        "effort": _list_missing(joints, efforts, effort),
    }
    if any(missing.values()):
        raise InputError(_explain_missing(robot, missing))
    findings: list[Finding] = []
    accelerations = _merge(robot, "acceleration", acceleration, [each.acceleration or math.inf for each in limits])
    accelerations = _apply_rule(
        joints, "acceleration", accelerations, acceleration, ACCELERATION_PER_VELOCITY, speeds, findings
    )
    jerks = _merge(robot, "jerk", jerk, [each.jerk or math.inf for each in limits])
    jerks = _apply_rule(joints, "jerk", jerks, jerk, JERK_PER_ACCELERATION, accelerations, findings)
    for name, low, high in zip(joints, lower, upper, strict=True):
        if low >= high:
            raise InputError(
                f"the position limits of {name!r}, {low:g} and {high:g}, contradict each other: they leave no room "
                f"for motion; give others with position={{{name!r}: (lower, upper)}}"
            )
    kept = 0.5 * margins.position * (upper - lower)
    bounds = JointBounds(
        joints,
        lower + kept,
        upper - kept,
        speeds * (1.0 - margins.velocity),
        accelerations,
        jerks,
        efforts * (1.0 - margins.effort),
        margins,
    )
    return bounds, tuple(findings)


def _merge(robot: Robot, quantity: str, requested: LimitInput, described: Sequence[float]) -> PerJoint:
    values = np.array(described, dtype=float)
    if requested is None:
        return values
    if not isinstance(requested, Mapping):
        return np.full(len(values), _check_limit(quantity, "", requested))
    for name, value in _check_names(robot, quantity, requested).items():
        values[robot.actuated.index(name)] = _check_limit(quantity, name, value)
    return values


def _check_names(robot: Robot, quantity: str, requested: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in requested:
        if name not in robot.actuated:
            raise UnknownNameError(
                f"{quantity}: robot {robot.name!r} has no actuated joint {name!r}{suggest_names(name, robot.actuated)}"
            )
    return requested


def _check_limit(quantity: str, name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number > 0.0:
        place = f"{quantity} of {name!r}" if name else quantity
        raise InputError(f"{place} is {value!r}; give a positive number, or infinity for no limit")
    if not MIN_LIMIT <= number <= MAX_LIMIT and not math.isinf(number):
        place = f"{quantity} of {name!r}" if name else quantity
        raise InputError(
            f"{place} is {number:g}; give a number from {MIN_LIMIT:g} to {MAX_LIMIT:g} in SI units, or infinity for no "
            "limit"
        )
    return number


def _check_pair(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (float(each) for each in pair)
    except (TypeError, ValueError):
        raise InputError(f"position of {name!r} is {pair!r}; give a pair (lower, upper) of numbers") from None
    if any(MAX_POSITION < abs(each) < math.inf for each in (low, high)):
        raise InputError(
            f"position of {name!r} is {low:g} to {high:g}; give numbers from {-MAX_POSITION:g} to {MAX_POSITION:g} in "
            "rad or m"
        )
    return low, high


def _list_missing(joints: Sequence[str], values: PerJoint, requested: LimitInput) -> list[str]:
    """Return the joints without a limit, except those for which the user asks for none."""
    if requested is not None and not isinstance(requested, Mapping):
        return []
    explicit = requested or {}
    return [name for name, value in zip(joints, values, strict=True) if math.isinf(value) and name not in explicit]


def _explain_missing(robot: Robot, missing: Mapping[str, Sequence[str]]) -> str:
    examples = {"position": ("(-1.5, 1.5)", "-1.5:1.5"), "velocity": ("1.5", "1.5"), "effort": ("50.0", "50")}
    parts = [
        f"the {quantity} of {', '.join(names)} ({quantity}={{{names[0]!r}: {examples[quantity][0]}, …}}, or "
        f"--{quantity} {names[0]}={examples[quantity][1]} …)"
        for quantity, names in missing.items()
        if names
    ]
    return (
        f"robot {robot.name!r} lacks limits that a safe motion needs; give those of {', of '.join(parts)}, or add "
        "them to the description"
    )


def _apply_rule(
    joints: Sequence[str],
    quantity: str,
    values: PerJoint,
    requested: LimitInput,
    factor: float,
    lower_order: PerJoint,
    findings: list[Finding],
) -> PerJoint:
    names = _list_missing(joints, values, requested)
    if not names:
        return values
    other = {"acceleration": "velocity", "jerk": "acceleration"}[quantity]
    findings.append(
        Finding(
            f"{quantity} rule",
            Severity.NOTE,
            f"the description has no {quantity} limits of {', '.join(names)}; {factor:g} per second times the limits "
            f"of {other} are used",
            f"give the vendor's limits with the option {quantity}",
            names=tuple(names),
            fields={"factor": factor},
        )
    )
    chosen = [name in names for name in joints]
    return np.where(chosen, factor * lower_order, values)

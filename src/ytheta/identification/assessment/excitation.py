"""Which parameters the motion determines, and which motion would determine the others.

A base parameter is *determined* if its standard deviation is small relative to its value. If an error of one standard
deviation changes no torque noticeably, the parameter is *too small to matter*: a tiny inertia cannot be known to a
tenth, and need not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters, Identifiability
from ytheta.identification.assessment.residuals import MotionRange
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase

MAX_RELATIVE_STD = 0.15  # standard deviation over value of a parameter that is determined
MAX_TORQUE_SHARE = 0.01  # of a joint's torque, per standard deviation of a parameter that is too small to matter
MIN_JOINT_RANGE = (np.radians(10.0), 0.05)  # rad for revolute joints, m for prismatic ones; less is hardly any motion
MAX_ADVICE = 3  # pieces of advice; more would not be read


class Certainty(Enum):
    """How well the data determine a parameter."""

    DETERMINED = "determined"
    SMALL = "too small to matter"
    WEAK = "weakly determined"
    UNSEEN = "not seen"
    COMBINED = "only in combination"
    NO_EFFECT = "no effect"


@dataclass(frozen=True)
class MotionAdvice:
    """Motion that would determine some parameters."""

    parameters: tuple[str, ...]
    text: str


def classify_base_parameters(
    base: BaseParameters, equations: NormalEquations, motion_range: MotionRange, beta: PerBase, std: PerBase
) -> tuple[Certainty, ...]:
    """The certainty of every base parameter.

    A parameter of a joint that hardly moved is never too small to matter: it may not be small in another log.
    """
    still = {name for name, _ in find_still_joints(base.robot, motion_range)}
    still |= {joint.child for joint in base.robot.merged.joints if joint.name in still}
    moves = np.array([name.rpartition(".")[0] not in still for name in base.independent])
    share = np.zeros(equations.base_count)  # the largest share of a joint's torque, per unit of a parameter
    for joint in equations.joints:
        if joint.torque_squares > 0.0:
            own = np.sqrt(np.diag(joint.gram) / joint.torque_squares)
            share[joint.columns] = np.maximum(share[joint.columns], own)
    with np.errstate(invalid="ignore"):
        determined, small = std <= MAX_RELATIVE_STD * abs(beta), (std * share <= MAX_TORQUE_SHARE) & moves

    def classify(k: int) -> Certainty:
        if not np.isfinite(std[k]):
            return Certainty.UNSEEN
        if determined[k]:
            return Certainty.DETERMINED
        return Certainty.SMALL if small[k] else Certainty.WEAK

    return tuple(classify(k) for k in range(len(std)))


def classify_standard_parameters(base: BaseParameters, certainty: Sequence[Certainty]) -> Mapping[str, Certainty]:
    """The certainty of every selected standard parameter, from the model's structure and from the data."""
    alone = dict(zip(base.independent, certainty, strict=True))
    by_structure = {
        Identifiability.NO_EFFECT: Certainty.NO_EFFECT,
        Identifiability.COMBINED: Certainty.COMBINED,
    }
    return {
        name: by_structure[kind] if kind in by_structure else alone[name] for name, kind in base.identifiability.items()
    }


def advise_motion(
    base: BaseParameters, certainty: Sequence[Certainty], motion_range: MotionRange
) -> tuple[MotionAdvice, ...]:
    """Motion that would determine parameters that are not seen or weak: those not seen first, at most a few."""
    wanted = {
        name: own
        for name, own in zip(base.independent, certainty, strict=True)
        if own in (Certainty.UNSEEN, Certainty.WEAK)
    }
    parameters: dict[str, list[str]] = {}
    for name in wanted:
        parameters.setdefault(_missing_motion(base.robot, name, motion_range), []).append(name)

    def priority(item: tuple[str, list[str]]) -> tuple[bool, int]:
        _, names = item
        return all(wanted[name] is Certainty.WEAK for name in names), -len(names)

    ordered = sorted(parameters.items(), key=priority)
    return tuple(MotionAdvice(tuple(names), text) for text, names in ordered[:MAX_ADVICE])


def find_still_joints(robot: Robot, motion_range: MotionRange) -> Iterator[tuple[str, float]]:
    """Joints that hardly moved, and their range."""
    for name, low, high in zip(robot.actuated, motion_range.lower, motion_range.upper, strict=True):
        if high - low < MIN_JOINT_RANGE[name in robot.sliding_joints]:
            yield name, float(high - low)


def _missing_motion(robot: Robot, parameter: str, motion_range: MotionRange) -> str:
    """The motion that determines a standard parameter."""
    owner, _, kind = parameter.rpartition(".")
    if kind in JOINT_PARAMETERS or owner in {force.name for force in robot.forces}:
        return _missing_motion_of_drive(owner, kind)
    chain = _joints_to(robot, owner)
    still = [name for name, _ in find_still_joints(robot, motion_range) if name in chain]
    if still:
        return f"move {_join(still)} through a wider range"
    last = chain[-1] if chain else owner
    if kind in ("m", "mx", "my", "mz"):
        others = f", with {_join(chain[:-1])} in several poses" if len(chain) > 1 else ""
        return f"move {last} slowly through its whole range{others}: gravity shows masses and first moments"
    others = f" together with {_join(chain[-3:-1])}" if len(chain) > 1 else ""
    return f"accelerate {last} harder{others}, in several poses: inertias show in fast motion"


def _missing_motion_of_drive(owner: str, kind: str) -> str:
    return {
        "Ia": f"accelerate {owner} harder while the other joints move slowly: this shows its rotor inertia",
        "fv": f"move {owner} at clearly different speeds, in both directions",
        "fc": f"reverse {owner} several times, with fast motion between reversals",
        "fo": f"move {owner} through the same poses in both directions: its offset does not depend on the direction",
    }.get(kind, f"move the joints on which {owner} acts through a wider range")


def _joints_to(robot: Robot, link: str) -> list[str]:
    """The movable joints from the base to a link."""
    above = {joint.child: joint for joint in robot.merged.joints}
    chain: list[str] = []
    while link in above:
        joint = above[link]
        if joint.kind is not JointKind.FIXED:
            chain.insert(0, joint.name)
        link = joint.parent
    return chain


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

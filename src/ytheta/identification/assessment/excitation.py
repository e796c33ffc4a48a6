"""Certainty of the parameters, advice on motion that would determine the uncertain ones, and coverage of limits.

A base parameter is *determined* if its standard deviation is small relative to its value. Otherwise the parameter is
*too small to matter* if an error of one standard deviation changes no torque noticeably. For example, the relative
error of a very small inertia may be large without any effect on the torques.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS
from ytheta.identifiability.base_parameters import Identifiability, ModelParameters
from ytheta.identification.assessment.torque_errors import MotionRange
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase, PerJoint

# Standard deviation of a determined parameter, divided by the parameter's value. Chosen on: rule of thumb.
MAX_RELATIVE_STD = 0.15
# Torque RMS that one standard deviation of the parameter causes, divided by the joint's torque RMS; up to this value,
# the parameter is too small to matter. Chosen on: rule of thumb.
MAX_TORQUE_SHARE = 0.01
# Range of a joint that moved: rad for revolute, m for prismatic joints. Chosen on: rule of thumb.
MIN_JOINT_RANGE = (np.radians(10.0), 0.05)
MAX_ADVICE = 3  # pieces of advice in a result, so that all are read; affects only the length of a message


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
    """Advice on motion that would determine the listed parameters."""

    parameters: tuple[str, ...]
    text: str


def classify_base_parameters(
    base: ModelParameters, equations: NormalEquations, motion_range: MotionRange, beta: PerBase, std: PerBase
) -> tuple[Certainty, ...]:
    """Return the certainty of every base parameter.

    A parameter of a joint that hardly moved is never too small to matter: its effect may be large when the joint moves.
    """
    still = {name for name, _ in find_still_joints(base.robot, motion_range)}
    still |= {joint.child for joint in base.robot.merged.joints if joint.name in still}
    moves = np.array([name.rpartition(".")[0] not in still for name in base.independent])
    # Torque RMS per unit of a parameter, divided by the joint's torque RMS; the largest ratio of all joints.
    share = np.zeros(equations.base_count)
    for joint, squares in zip(equations.joints, equations.reference_squares, strict=True):
        if squares > 0.0:
            joint_share = np.sqrt(np.diag(joint.gram) / squares)
            share[joint.columns] = np.maximum(share[joint.columns], joint_share)
    with np.errstate(invalid="ignore"):
        determined, small = std <= MAX_RELATIVE_STD * abs(beta), (std * share <= MAX_TORQUE_SHARE) & moves

    def classify(k: int) -> Certainty:
        if not np.isfinite(std[k]):
            return Certainty.UNSEEN
        if determined[k]:
            return Certainty.DETERMINED
        return Certainty.SMALL if small[k] else Certainty.WEAK

    return tuple(classify(k) for k in range(len(std)))


def classify_standard_parameters(base: ModelParameters, certainty: Sequence[Certainty]) -> Mapping[str, Certainty]:
    """Return the certainty of every selected standard parameter, from the structure of the model and from the data."""
    by_data = dict(zip(base.expressions, certainty, strict=True))  # the expression of a parameter alone is its name
    by_structure = {
        Identifiability.NO_EFFECT: Certainty.NO_EFFECT,
        Identifiability.COMBINED: Certainty.COMBINED,
    }
    return {
        name: by_structure[kind] if kind in by_structure else by_data[name]
        for name, kind in base.identifiability.items()
    }


def advise_motion(
    base: ModelParameters, certainty: Sequence[Certainty], motion_range: MotionRange
) -> tuple[MotionAdvice, ...]:
    """Return at most MAX_ADVICE pieces of advice: first for parameters not seen, then for weakly determined ones."""
    uncertain = {
        name: kind
        for name, kind in zip(base.independent, certainty, strict=True)
        if kind in (Certainty.UNSEEN, Certainty.WEAK)
    }
    parameters: dict[str, list[str]] = {}
    for name in uncertain:
        parameters.setdefault(_describe_missing_motion(base.robot, name, motion_range), []).append(name)

    def compute_sort_key(item: tuple[str, list[str]]) -> tuple[bool, int]:
        _, names = item
        return all(uncertain[name] is Certainty.WEAK for name in names), -len(names)

    ordered = sorted(parameters.items(), key=compute_sort_key)
    return tuple(MotionAdvice(tuple(names), text) for text, names in ordered[:MAX_ADVICE])


def find_still_joints(robot: Robot, motion_range: MotionRange) -> Iterator[tuple[str, float]]:
    """Yield the joints that hardly moved, each with its range of positions in rad or m."""
    for name, low, high in zip(robot.actuated, motion_range.lower, motion_range.upper, strict=True):
        if name not in robot.sensor_coordinates and high - low < MIN_JOINT_RANGE[name in robot.prismatic_joints]:
            yield name, float(high - low)


def _describe_missing_motion(robot: Robot, parameter: str, motion_range: MotionRange) -> str:
    """Describe the motion that would determine a standard parameter."""
    owner, _, kind = parameter.rpartition(".")
    if kind in ALL_JOINT_PARAMETERS or owner in {force.name for force in robot.forces}:
        return _describe_motion_for_drive(owner, kind)
    if any(joint.kind is JointKind.FREE and joint.child == owner for joint in robot.merged.joints):
        return "turn and accelerate the base about and along all of its axes"
    joint_children = {joint.name: joint.child for joint in robot.merged.joints}
    chain = _list_joints_to(robot, joint_children.get(owner, owner))
    still = [name for name, _ in find_still_joints(robot, motion_range) if name in chain]
    if still:
        return f"move {_join_names(still)} through a wider range"
    last = chain[-1] if chain else owner
    if kind in ("m", "mx", "my", "mz"):
        others = f", with {_join_names(chain[:-1])} in several poses" if len(chain) > 1 else ""
        return f"move {last} slowly through its whole range{others}: gravity shows masses and first moments"
    others = f" together with {_join_names(chain[-3:-1])}" if len(chain) > 1 else ""
    if owner in joint_children:  # a parameter of a regrouped Lagrangian
        return f"move {last} through its whole range, slowly and with hard accelerations{others}, in several poses"
    return f"accelerate {last} harder{others}, in several poses: inertias show in fast motion"


def _describe_motion_for_drive(owner: str, kind: str) -> str:
    return {
        "Ia": f"accelerate {owner} harder while the other joints move slowly: this shows its rotor inertia",
        "fv": f"move {owner} at clearly different speeds, in both directions",
        "fc": f"reverse {owner} several times, with fast motion between reversals",
        "fo": f"move {owner} through the same poses in both directions: its offset does not depend on the direction",
        "fs": f"move {owner} at many different speeds, slow and fast, in both directions",
        "fl": f"move {owner} under very different loads, in both directions: this shows friction that grows with load",
    }.get(kind, f"move the joints on which {owner} acts through a wider range")


def _list_joints_to(robot: Robot, link: str) -> list[str]:
    """Return the names of the movable joints from the base to a link."""
    above = {joint.child: joint for joint in robot.merged.joints}
    chain: list[str] = []
    while link in above:
        joint = above[link]
        if joint.moves:
            chain.insert(0, joint.name)
        link = joint.parent
    return chain


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Coverage: how much of its limits the recorded motion of each joint reached.


@dataclass(frozen=True, eq=False)
class MotionCoverage:
    """Recorded motion of the joints relative to their limits; the shares of joints without a limit are NaN.

    Attributes
    ----------
    motion    recorded ranges
    limits    limits of the joints
    position  recorded range of positions / range between the limits
    speed     highest recorded speed / limit
    torque    highest recorded torque / limit
    """

    motion: MotionRange
    limits: tuple[Limits, ...]
    position: PerJoint
    speed: PerJoint
    torque: PerJoint


def measure_coverage(robot: Robot, motion: MotionRange) -> MotionCoverage:
    """Return the coverage of a recorded motion."""
    limits = robot.actuated_limits
    lower, upper, speed, effort = (
        np.array([getattr(each, name) for each in limits]) for name in ("lower", "upper", "velocity", "effort")
    )
    return MotionCoverage(
        motion,
        limits,
        _divide(motion.upper - motion.lower, upper - lower),
        _divide(motion.speed, speed),
        _divide(motion.torque, effort),
    )


def _divide(values: PerJoint, limits: PerJoint) -> PerJoint:
    """Return shares of the limits; NaN if a limit is zero or infinite."""
    known = np.isfinite(limits) & (limits > 0.0)
    return np.where(known, values / np.where(known, limits, 1.0), np.nan)

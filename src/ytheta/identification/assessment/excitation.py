"""What the data say of each parameter, and in words which motion would say more.

A base parameter is *determined* if its standard deviation is small beside its value. Where being wrong by that much
moves no torque that counts, it is *too small to matter*: a tiny inertia cannot be known to a tenth, and need not be.
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
from ytheta.shapes import Float

SURE = 0.15  # a parameter with a smaller relative standard deviation is determined
HARMLESS = 0.01  # one whose standard deviation moves no torque by more than this part of it is too small to matter
STILL = (np.radians(10.0), 0.05)  # a joint that moved less, in rad or m, hardly moved
FEW = 3  # pieces of advice; more would not be read


class Certainty(Enum):
    """What the data say of a parameter."""

    DETERMINED = "determined"
    SMALL = "too small to matter"
    WEAK = "weakly determined"
    UNSEEN = "not seen"
    COMBINED = "only in combination"
    NO_EFFECT = "no effect"


@dataclass(frozen=True)
class MotionAdvice:
    """Which motion is missing for which parameters."""

    parameters: tuple[str, ...]
    text: str


def base_seen(
    base: BaseParameters,
    sums: NormalEquations,
    reach: MotionRange,
    beta: Float[np.ndarray, "base"],
    std: Float[np.ndarray, "base"],
) -> tuple[Certainty, ...]:
    """For every base parameter what the data say of it.

    What is small on this log may not be on another, where joints move that hardly moved here.
    """
    asleep = {name for name, _ in still_joints(base.robot, reach)}
    asleep |= {joint.child for joint in base.robot.merged.joints if joint.name in asleep}
    awake = np.array([name.rpartition(".")[0] not in asleep for name in base.independent])
    moved = np.zeros(sums.base)  # the largest part of a joint's torque that one standard deviation makes up
    for joint in sums.joints:
        if joint.square > 0.0:
            own = np.sqrt(np.diag(joint.gram) / joint.square)
            moved[joint.columns] = np.maximum(moved[joint.columns], own)
    with np.errstate(invalid="ignore"):
        sure, harmless = std <= SURE * abs(beta), (std * moved <= HARMLESS) & awake
    return tuple(
        Certainty.UNSEEN if not np.isfinite(s) else Certainty.DETERMINED if known else Certainty.SMALL if small else Certainty.WEAK
        for s, known, small in zip(std, sure, harmless, strict=True)
    )


def standard_seen(base: BaseParameters, seen: Sequence[Certainty]) -> Mapping[str, Certainty]:
    """For every standard parameter asked about, what the structure and the data together say of it."""
    alone = dict(zip(base.independent, seen, strict=True))
    kinds = {Identifiability.NO_EFFECT: Certainty.NO_EFFECT, Identifiability.COMBINED: Certainty.COMBINED}
    return {name: kinds[v] if v in kinds else alone[name] for name, v in base.identifiability.items()}


def advice(base: BaseParameters, seen: Sequence[Certainty], reach: MotionRange) -> tuple[MotionAdvice, ...]:
    """Which motion would show what is not seen, or seen weakly: unseen first, at most a few."""
    wanted = {name: own for name, own in zip(base.independent, seen, strict=True) if own in (Certainty.UNSEEN, Certainty.WEAK)}
    found: dict[str, list[str]] = {}
    for name in wanted:
        found.setdefault(_missing(base.robot, name, reach), []).append(name)
    ordered = sorted(found.items(), key=lambda item: (all(wanted[n] is Certainty.WEAK for n in item[1]), -len(item[1])))
    return tuple(MotionAdvice(tuple(names), text) for text, names in ordered[:FEW])


def still_joints(robot: Robot, reach: MotionRange) -> Iterator[tuple[str, float]]:
    """Joints that hardly moved, and how far they went."""
    for name, low, high in zip(robot.actuated, reach.lower, reach.upper, strict=True):
        if high - low < STILL[_slides(robot, name)]:
            yield name, float(high - low)


def _missing(robot: Robot, parameter: str, reach: MotionRange) -> str:
    """The motion that shows a standard parameter."""
    owner, _, kind = parameter.rpartition(".")
    if kind in JOINT_PARAMETERS or owner in {force.name for force in robot.forces}:
        return _missing_of_drive(owner, kind)
    chain = _joints_to(robot, owner)
    asleep = [name for name, _ in still_joints(robot, reach) if name in chain]
    if asleep:
        return f"move {_listed(asleep)} through a wider range"
    own = chain[-1] if chain else owner
    if kind in ("m", "mx", "my", "mz"):
        before = f", with {_listed(chain[:-1])} in several poses" if len(chain) > 1 else ""
        return f"move {own} slowly through its whole range{before}: gravity shows masses and first moments"
    with_others = f" together with {_listed(chain[-3:-1])}" if len(chain) > 1 else ""
    return f"accelerate {own} harder{with_others}, in several poses: inertias show in accelerations and fast turns"


def _missing_of_drive(owner: str, kind: str) -> str:
    return {
        "Ia": f"accelerate {owner} harder: its rotor inertia shows beside slow poses of the rest",
        "fv": f"move {owner} at clearly different speeds, in both directions",
        "fc": f"let {owner} pass from one direction to the other several times, away from standstill",
        "fo": f"let {owner} run in both directions in the same poses: its offset shows as what does not turn its sign",
    }.get(kind, f"move the joints on which {owner} acts through a wider range")


def _joints_to(robot: Robot, link: str) -> list[str]:
    """The movable joints from the base to a link, those closest to the base first."""
    above = {joint.child: joint for joint in robot.merged.joints}
    chain: list[str] = []
    while link in above:
        joint = above[link]
        if joint.kind is not JointKind.FIXED:
            chain.insert(0, joint.name)
        link = joint.parent
    return chain


def _slides(robot: Robot, name: str) -> bool:
    kinds = {joint.name: joint.kind for joint in robot.joints}
    return kinds.get(name) is JointKind.PRISMATIC


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

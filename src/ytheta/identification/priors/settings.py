"""Settings of the prior: what it is centred on, and how strong it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerBase

MIN_STRENGTH, MAX_STRENGTH = 1e-9, 1e9  # inverse relative deviations; beyond, sums of squares lose all digits
MAX_DIFFERENCE = 1e-3  # m, or of entries of rotation matrices; files cut off digits


@dataclass(frozen=True, eq=False)
class EarlierModel:
    """An identified model: base parameters with their covariance, the bodies of its robot, and where it comes from.

    ``table`` is that of its identification, which says from which logs.
    """

    base: BaseParameters
    beta: PerBase
    covariance: BaseByBase
    table: Mapping[str, Any] = field(default_factory=dict)


class PriorCenter(StrEnum):
    """What a prior is centred on."""

    DESCRIPTION = "description"
    OTHER_DESCRIPTION = "other description"
    EARLIER_MODEL = "earlier model"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class PriorSettings:
    """What the prior is centred on, and how strong it is.

    Attributes
    ----------
    description  the robot whose standard parameters are expected; None for the robot that is identified
    earlier      an earlier model of the robot, whose covariance is the width of the prior
    flat         whether nothing is expected of the links
    strength     inverse of the relative deviation that is expected of the links, such as 5 for 20 %; None if the
                 data choose it
    source       file or name of ``description`` or ``earlier``
    """

    description: Robot | None = None
    earlier: EarlierModel | None = None
    flat: bool = False
    strength: float | None = None
    source: str = ""

    @property
    def center(self) -> PriorCenter:
        """What the prior is centred on."""
        if self.flat:
            return PriorCenter.NONE
        if self.earlier is not None:
            return PriorCenter.EARLIER_MODEL
        return PriorCenter.DESCRIPTION if self.description is None else PriorCenter.OTHER_DESCRIPTION

    def __post_init__(self) -> None:
        if self.strength is not None and not (self.strength > 0.0 and math.isfinite(self.strength)):
            raise InputError(
                f"prior_strength is {self.strength:g}; give a positive number, such as 5 for a description that is "
                "off by 20 %"
            )
        if self.strength is not None and not MIN_STRENGTH <= self.strength <= MAX_STRENGTH:
            raise InputError(
                f"prior_strength is {self.strength:g}; give a number between {MIN_STRENGTH:g} and {MAX_STRENGTH:g}, "
                "such as 5 for a description that is off by 20 %"
            )
        if self.strength is not None and self.flat:
            raise InputError("prior_strength needs a prior; remove it, or remove prior='none'")


def check_same_parts(robot: Robot, other: Robot) -> None:
    """Raise an InputError that names the differing joints, unless two robots have the same movable joints and links."""
    own, others = set(robot.moving), set(other.moving)
    if own != others:
        parts = [
            f"{'only' if names else ''} {robot_name!r} has {', '.join(sorted(names))}".strip()
            for names, robot_name in ((own - others, robot.name), (others - own, other.name))
            if names
        ]
        raise InputError(
            f"the prior belongs to another robot: {'; '.join(parts)}; give a prior of robot {robot.name!r}"
        )
    kinds, other_kinds = _describe_joints(robot), _describe_joints(other)
    differing = [name for name, own in kinds.items() if not _is_same_joint(own, other_kinds.get(name))]
    if differing:
        raise InputError(
            f"the prior belongs to another robot: {', '.join(differing)} differ in kind, link, position or axis; "
            f"give a prior of robot {robot.name!r}"
        )


def _describe_joints(robot: Robot) -> dict[str, tuple[tuple[str, str], np.ndarray]]:
    """Return kind, link and geometry of every movable joint."""
    description: dict[str, tuple[tuple[str, str], np.ndarray]] = {}
    for joint in robot.numeric.merged.movable:
        geometry = np.concatenate([joint.placement.matrix.ravel(), joint.seat.matrix.ravel(), np.array(joint.axis)])
        description[joint.name] = ((joint.kind, joint.child), geometry)
    return description


def _is_same_joint(own: tuple[tuple[str, str], np.ndarray], other: tuple[tuple[str, str], np.ndarray] | None) -> bool:
    """Whether two joints agree, up to digits that files cut off."""
    return other is not None and own[0] == other[0] and np.allclose(own[1], other[1], rtol=0.0, atol=MAX_DIFFERENCE)

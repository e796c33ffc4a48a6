"""Prior: a normal distribution of the standard parameters whose scales are hyperparameters.

Identity      theta = mean + axes @ (scales * z),   z ~ N(0, 1),   log scales = offset + design @ hyper
Notation      coordinates   the entries of z; each belongs to one family, and its scale depends on few hyperparameters
              hyper         logarithms of factors, with a distribution of their own, see ``Hyperparameter``

Only selected standard parameters occur. Their mean is the description, so that a scale of zero means "as described".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Bool, Float, PerBase, PerCoordinate, PerHyper, PerSelected, SelectedByCoordinate


class Family(StrEnum):
    """What a coordinate of the prior describes."""

    LINK = "links"
    ADDED_LOAD = "added loads"  # bodies of which the description says nothing
    ROTOR = "rotor inertia"
    ROOT = "root friction"
    LOAD = "load friction"
    OFFSET = "offset"
    MODEL = "earlier model"
    FLAT = "flat"  # friction and forces, of which the description says nothing


@dataclass(frozen=True)
class Hyperparameter:
    """The logarithm of a factor of scales, with its own distribution, cut off below ``minimum`` and above ``maximum``.

    The distribution is normal or, with a positive ``tail``, Student's with 1 / ``tail`` degrees of freedom: most
    factors are close to the mean, and a few are far away.
    """

    name: str
    mean: float
    std: float
    minimum: float = -math.inf
    maximum: float = math.inf
    tail: float = 0.0


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior of the selected standard parameters; see the module docstring.

    Attributes
    ----------
    names     names of the selected standard parameters
    mean      their means
    axes      one column for each coordinate: the change of theta by one unit of z for a scale of one
    families  the family of each coordinate
    hyper     the hyperparameters
    design    which hyperparameters each scale depends on
    offset    logarithm of each scale if all hyperparameters are zero
    """

    names: tuple[str, ...]
    mean: PerSelected
    axes: SelectedByCoordinate
    families: tuple[Family, ...]
    hyper: tuple[Hyperparameter, ...]
    design: Float[np.ndarray, "coordinates hyper"]
    offset: PerCoordinate

    def compute_scales(self, hyper: PerHyper) -> PerCoordinate:
        """Return the scale of each coordinate."""
        return np.exp(self.offset + self.design @ hyper)

    def belongs_to(self, families: Sequence[Family]) -> Bool[np.ndarray, " coordinates"]:
        """Return which coordinates belong to one of these families."""
        return np.array([family in families for family in self.families], dtype=bool)

    def without(self, families: Sequence[Family]) -> Prior:
        """Return the prior under which parameters of these families have exactly the described values."""
        kept = ~self.belongs_to(families)
        used = np.array(self.design[kept].any(axis=0))
        return replace(
            self,
            axes=self.axes[:, kept],
            families=tuple(family for family in self.families if family not in families),
            hyper=tuple(hyper for hyper, is_used in zip(self.hyper, used, strict=True) if is_used),
            design=self.design[np.ix_(kept, used)],
            offset=self.offset[kept],
        )

    def with_scale(self, family: Family, scale: float) -> Prior:
        """Return the prior with one fixed scale for all coordinates of a family."""
        fixed = self.belongs_to((family,))
        design = np.where(fixed[:, None], 0.0, self.design)
        used = np.array(design.any(axis=0))
        return replace(
            self,
            hyper=tuple(hyper for hyper, is_used in zip(self.hyper, used, strict=True) if is_used),
            design=design[:, used],
            offset=np.where(fixed, np.log(scale), self.offset),
        )


def invert_rows(matrix: Float[np.ndarray, "base coordinates"]) -> Float[np.ndarray, "coordinates base"]:
    """Return the pseudo-inverse of a matrix with independent rows, whose lengths may differ by many orders."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(np.linalg.pinv(matrix / lengths)) / lengths.T


# Settings of the prior: what it is centred on, and how strong it is.


# Range of the inverse relative deviation that is expected of a description. Chosen on: reasoning; beyond, sums of
# squares lose all digits.
MIN_STRENGTH, MAX_STRENGTH = 1e-9, 1e9
# Difference of placements in m, or of entries of rotation matrices, up to which two descriptions are of the same
# robot. Chosen on: rule of thumb; files cut off digits.
MAX_DIFFERENCE = 1e-3


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

    @property
    def is_chosen_by_data(self) -> bool:
        """Whether the data choose how strong the prior of the links is."""
        return not (self.flat or self.strength is not None or self.earlier is not None)

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

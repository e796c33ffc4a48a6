"""Prior: a normal distribution of the standard parameters whose scales are hyperparameters.

Identity      theta = mean + axes @ (scales * z),   z ~ N(0, 1),   log scales = offset + design @ hyper
Notation      coordinates   the entries of z; each belongs to one family, and its scale depends on few hyperparameters
              hyper         logarithms of factors; their own distribution is N(hyper_mean, hyper_std²)

Only selected standard parameters occur. Their mean is the description, so that a scale of zero means "as described".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ytheta.shapes import Bool, Float, PerCoordinate, PerHyper, PerSelected, SelectedByCoordinate


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
    """The logarithm of a factor of scales, with its own normal distribution, cut off below ``minimum``."""

    name: str
    mean: float
    std: float
    minimum: float = -math.inf


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

    def belongs_to(self, families: Sequence[Family]) -> Bool[np.ndarray, "coordinates"]:
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

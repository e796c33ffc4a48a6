"""Torques that drives explain beside described links: friction and rotors that must not be negative, and an offset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ytheta.shapes import Float, PerJoint

DRIVE_COUNT = 4  # columns of a drive: velocity, direction, acceleration and 1; the first three must not be negative
# Drives without some of the first three columns: the best with no negative coefficient is among them.
CHOICES = np.array([[*chosen, True] for chosen in product((False, True), repeat=DRIVE_COUNT - 1)])
MIN_RELATIVE_EIGENVALUE = 1e-10  # of scaled products, below which columns depend on each other
TINY = 1e-300
MAX_ERROR = 1e9  # of a joint, relative to its torque; a description in other units can be off by more


@dataclass(frozen=True, eq=False)
class DriveEquations:
    """Products, by joint: of drive columns, described torque of the links, recorded torques of all joints and 1."""

    products: Float[np.ndarray, "joints all all"]

    def compute_residuals(self, rows: Float[np.ndarray, "joints channels"], *, share: float) -> PerJoint:
        """Return the sums of squares that remain of torques ``rows`` minus a share of the described torque.

        The drives are the best possible ones. ``rows`` are the weights of recorded torques and of 1.
        """
        target = np.column_stack([np.full(len(rows), -share), rows])
        rest = self.products[:, DRIVE_COUNT:, DRIVE_COUNT:]
        squares = np.einsum("jc,jcd,jd->j", target, rest, target)
        return squares - self._explain(np.einsum("jdc,jc->jd", self.products[:, :DRIVE_COUNT, DRIVE_COUNT:], target))

    def fit_described_scales(self) -> PerJoint:
        """Return a for every joint, with recorded torque = a · (described torque) + drive."""
        columns, joints = slice(DRIVE_COUNT + 1), np.arange(len(self.products))
        gram, scale = _scale(self.products[:, columns, columns])
        cross = self.products[joints, columns, DRIVE_COUNT + 1 + joints] / scale
        inverse = np.linalg.pinv(gram, rcond=MIN_RELATIVE_EIGENVALUE, hermitian=True)
        return np.asarray(((inverse @ cross[:, :, None])[:, :, 0] / scale)[:, DRIVE_COUNT])

    def _explain(self, cross: Float[np.ndarray, "joints columns"]) -> PerJoint:
        """Return the sums of squares that drive columns explain if only the last may have a negative coefficient."""
        inverses, scale = self._inverses
        scaled = (cross / scale)[:, None, :] * CHOICES
        x = (inverses @ scaled[:, :, :, None])[:, :, :, 0] * CHOICES
        explained = np.where((x[:, :, :-1] >= 0.0).all(axis=2), (x * scaled).sum(axis=2), 0.0)
        return np.asarray(explained.max(axis=1))

    @cached_property
    def _inverses(
        self,
    ) -> tuple[Float[np.ndarray, "joints choices columns columns"], Float[np.ndarray, "joints columns"]]:
        """Pseudo-inverses of scaled products of the chosen columns, and the scales; recorded torques share them."""
        gram, scale = _scale(self.products[:, :DRIVE_COUNT, :DRIVE_COUNT])
        chosen = gram[:, None] * (CHOICES[:, :, None] & CHOICES[:, None, :])
        return np.linalg.pinv(chosen, rcond=MIN_RELATIVE_EIGENVALUE, hermitian=True), scale


def compute_relative_errors(
    residuals: Float[np.ndarray, "*models joints"], variation: PerJoint
) -> Float[np.ndarray, "*models joints"]:
    """Return the roots of residuals / variation, at most ``MAX_ERROR``; zero for a joint without torque."""
    ratios = np.maximum(residuals, 0.0) / np.where(variation > 0.0, variation, 1.0)
    return np.where(variation > 0.0, np.minimum(np.sqrt(ratios), MAX_ERROR), 0.0)


def _scale(
    gram: Float[np.ndarray, "joints columns columns"],
) -> tuple[Float[np.ndarray, "joints columns columns"], Float[np.ndarray, "joints columns"]]:
    """Return products of columns that are scaled to length 1, and the lengths."""
    scale = np.sqrt(np.maximum(np.einsum("jcc->jc", gram), TINY))
    return gram / scale[:, :, None] / scale[:, None, :], scale

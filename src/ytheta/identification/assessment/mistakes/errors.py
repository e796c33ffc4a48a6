"""Torque errors by which mistakes are compared: of a fitted model on held-out samples, and of the described robot.

Notation      T     matrix that mends recorded torques: signs, scales or an exchange of joints; tau' = T tau
              Y_j   regressor of joint j; b_j = Y_jᵀ tau' is linear in T, so that all T share the products Y_jᵀ Y_j

Two errors are computed for every joint, relative to the standard deviation of its torque:

held out    every other block of samples is fitted by least squares, with a weak ridge, and the rest is predicted, and
            vice versa. A mistake that makes the equations contradict each other increases this error.
described   the links are exactly as described; only drives are fitted: viscous and Coulomb friction and a rotor
            inertia, none of them negative, and an offset. Scales and reversed directions that every fit absorbs
            increase this error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.mistakes.drives import TINY, DriveEquations, compute_relative_errors
from ytheta.identification.assessment.mistakes.samples import Samples
from ytheta.shapes import Float, Int, PerJoint, SamplesByJoint, SquareMatrix

# Models that are fitted, of which the best counts: share of the described parameters that is the center of a ridge, and
# the ridge, relative to the equations of a parameter with columns scaled to the torque that they cause. A parameter
# that the samples do not determine stays at its center.
MODELS = ((0.0, 1e-5), (1.0, 1e-4), (1.0, 1e-2))
SMOOTH_SPEED_RATIO = 0.02  # relative to the highest speed; directions of slower joints are noise
MIN_RELATIVE_COLUMN = 1e-12  # columns with less torque are zero up to rounding
MIN_ERROR = 0.02  # smaller errors are equally good


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of every joint, relative to the standard deviation of its torque; see the module docstring."""

    held_out: PerJoint
    described: PerJoint
    drives: PerJoint  # described error without any links
    total: float  # held-out error of all joints, relative to the RMS of all torques

    def compute_unexplained(self, joints: Int[np.ndarray, "chosen"]) -> float:
        """Return the error of the described links, relative to that of drives alone: geometric mean over some joints.

        Single joints may differ from the description, such as a wrist with a load.
        """
        ratios = np.maximum(self.described[joints], MIN_ERROR) / np.maximum(self.drives[joints], MIN_ERROR)
        return float(np.exp(np.log(ratios).mean()))


@dataclass(frozen=True, eq=False)
class JointEquations:
    """Sums of one joint by fold: ``cross`` with all recorded torques and with 1."""

    columns: Int[np.ndarray, "own"]
    gram: Float[np.ndarray, "folds own own"]
    cross: Float[np.ndarray, "folds own channels"]


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of all joints for one interpretation of the motion.

    Attributes
    ----------
    joints     sums of the regressor
    torque     products of recorded torques and 1, by joint and fold
    drives     equations of the drives without links
    described  described parameters
    """

    joints: tuple[JointEquations, ...]
    torque: Float[np.ndarray, "joints folds channels channels"]
    drives: DriveEquations
    described: Float[np.ndarray, "columns"]

    def compute_errors(self, T: SquareMatrix | None = None) -> Errors:
        """Return the errors with torques T tau."""
        n = len(self.joints)
        rows = np.column_stack([np.eye(n) if T is None else T, np.zeros(n)])  # channels: the recorded torques and 1
        power, variation = self._compute_powers(rows)
        fits = compute_relative_errors(self._compute_residuals(rows, power), variation)
        best = fits[np.log(np.maximum(fits, MIN_ERROR)).sum(axis=1).argmin()]
        described, drives = (
            compute_relative_errors(self.drives.compute_residuals(rows, share=share), variation) for share in (1.0, 0.0)
        )
        total = np.sqrt((best**2 * variation).sum() / max(power.sum(), TINY))
        return Errors(best, described, drives, float(total))

    def fit_described_scales(self) -> PerJoint:
        """Return the factor of each joint's described torque that fits best beside its drive."""
        return self.drives.fit_described_scales()

    def _compute_powers(self, rows: Float[np.ndarray, "joints channels"]) -> tuple[PerJoint, PerJoint]:
        """Return the sum of squares of each joint's torque, and of its deviations from their mean."""
        products = self.torque.sum(axis=1)
        power = np.einsum("jc,jcd,jd->j", rows, products, rows)
        mean = np.einsum("jc,jc->j", rows, products[:, :, -1])
        variation = power - mean**2 / np.maximum(products[:, -1, -1], 1.0)
        return power, np.maximum(variation, MIN_RELATIVE_COLUMN * power)

    def _compute_residuals(
        self, rows: Float[np.ndarray, "joints channels"], power: PerJoint
    ) -> Float[np.ndarray, "models joints"]:
        """Return the held-out sum of squares of every joint for each of ``MODELS``."""
        # A joint without torque has no power; its equations say nothing.
        counts = self.torque[:, :, -1, -1].sum(axis=1)
        weights = np.where(power > 0.0, counts / np.where(power > 0.0, power, 1.0), 0.0)
        residuals = np.zeros((len(MODELS), len(rows)))
        for fold, other in ((0, 1), (1, 0)):
            beta = self._solve(rows, weights, fold)
            for j, (row, joint) in enumerate(zip(rows, self.joints, strict=True)):
                own = beta[:, joint.columns]
                squares = row @ self.torque[j, other] @ row - 2.0 * own @ (joint.cross[other] @ row)
                residuals[:, j] += np.maximum(0.0, squares + ((own @ joint.gram[other]) * own).sum(axis=1))
        return residuals

    def _solve(
        self, rows: Float[np.ndarray, "joints channels"], weights: PerJoint, fold: int
    ) -> Float[np.ndarray, "models columns"]:
        """Return the parameters of each of ``MODELS``, fitted to one fold."""
        n = len(self.described)
        N, b = np.zeros((n, n)), np.zeros(n)
        for weight, row, joint in zip(weights, rows, self.joints, strict=True):
            N[joint.columns[:, None], joint.columns] += weight * joint.gram[fold]
            b[joint.columns] += weight * (joint.cross[fold] @ row)
        scale = np.sqrt(np.diag(N))
        used = scale > MIN_RELATIVE_COLUMN * scale.max(initial=TINY)
        scale = np.where(used, scale, 1.0)
        N = np.where(used[:, None] & used, N / scale[:, None] / scale, 0.0)
        b, described = np.where(used, b / scale, 0.0), np.where(used, scale * self.described, 0.0)
        share, ridge = np.array(MODELS).T[:, :, None]
        matrices = N + ridge[:, :, None] * np.eye(n)
        return np.asarray(np.linalg.solve(matrices, (b + ridge * share * described)[:, :, None])[:, :, 0] / scale)


def make_equations(
    regressor: Sequence[tuple[Int[np.ndarray, "own"], Float[np.ndarray, "own samples"]]],
    described: SamplesByJoint,
    samples: Samples,
    beta: Float[np.ndarray, "columns"],
) -> Equations:
    """Return the equations of a regressor, given by columns and rows of every joint, and of described link torques."""
    motion, channels = samples.motion, np.column_stack([samples.tau, np.ones(len(samples.tau))])
    direction = _find_directions(samples)
    folds = slice(samples.fold), slice(samples.fold, None)
    joints, torques, drives = [], [], []
    for j, (columns, rows) in enumerate(regressor):
        mask = samples.mask[:, j]
        A, C = rows * mask, channels * mask[:, None]
        drive = np.column_stack(
            [motion.qd[:, j], direction[:, j], motion.qdd[:, j], np.ones(len(mask)), described[:, j]]
        )
        everything = np.column_stack([drive * mask[:, None], C])
        gram = np.stack([A[:, part] @ A[:, part].T for part in folds])
        joints.append(JointEquations(columns, gram, np.stack([A[:, part] @ C[part] for part in folds])))
        torques.append(np.stack([C[part].T @ C[part] for part in folds]))
        drives.append(everything.T @ everything)
    return Equations(tuple(joints), np.stack(torques), DriveEquations(np.stack(drives)), beta)


def _find_directions(samples: Samples) -> SamplesByJoint:
    direction, qd = samples.motion.direction, samples.motion.qd
    if direction is not None and samples.has_joint_directions:
        return direction
    speed = SMOOTH_SPEED_RATIO * abs(qd).max(axis=0, initial=0.0) + np.finfo(float).tiny
    return np.asarray(qd / np.hypot(qd, speed))

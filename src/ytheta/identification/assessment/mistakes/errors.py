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
from functools import cached_property
from itertools import product

import numpy as np

from ytheta.identification.assessment.mistakes.samples import Samples
from ytheta.shapes import Float, Int, PerJoint, SamplesByJoint, SquareMatrix

# Models that are fitted, of which the best counts: share of the described parameters that is the center of a ridge, and
# the ridge, relative to the equations of a parameter with columns scaled to the torque that they cause. A parameter
# that the samples do not determine stays at its center.
MODELS = ((0.0, 1e-5), (1.0, 1e-4), (1.0, 1e-2))
DRIVE_COUNT = 4  # columns of a drive: velocity, direction, acceleration and 1; the first three must not be negative
SMOOTH_SPEED_RATIO = 0.02  # relative to the highest speed; directions of slower joints are noise
MIN_RELATIVE_COLUMN = 1e-12  # columns with less torque are zero up to rounding
MIN_ERROR = 0.02  # smaller errors are equally good
TINY = 1e-300
MAX_ERROR = 1e9  # of a joint, relative to its torque; a description in other units can be off by more


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
    """Sums of one joint: ``gram`` and ``cross`` by fold, the latter with all recorded torques and with 1."""

    columns: Int[np.ndarray, "own"]
    gram: Float[np.ndarray, "folds own own"]
    cross: Float[np.ndarray, "folds own channels"]
    torque: Float[np.ndarray, "folds channels channels"]
    drive: Float[np.ndarray, "all all"]  # products of drive columns, described torque, recorded torques and 1


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of all joints for one interpretation of the motion."""

    joints: tuple[JointEquations, ...]
    described: Float[np.ndarray, "columns"]

    def compute_errors(self, T: SquareMatrix | None = None) -> Errors:
        """Return the errors with torques T tau."""
        n = len(self.joints)
        rows = np.column_stack([np.eye(n) if T is None else T, np.zeros(n)])  # channels: the recorded torques and 1
        fits = [self._compute_held_out(rows, share, ridge) for share, ridge in MODELS]
        best = min(fits, key=lambda errors: float(np.log(np.maximum(errors, MIN_ERROR)).sum()))
        pairs = list(zip(self.joints, rows, strict=True))
        described = np.array([_compute_described_error(joint, row, share=1.0) for joint, row in pairs])
        drives = np.array([_compute_described_error(joint, row, share=0.0) for joint, row in pairs])
        powers = np.array([_compute_powers(joint, row) for joint, row in pairs])
        total = np.sqrt((best**2 * powers[:, 1]).sum() / max(powers[:, 0].sum(), TINY))
        return Errors(best, described, drives, float(total))

    def fit_described_scales(self) -> PerJoint:
        """Return the factor of each joint's described torque that fits best beside its drive."""
        return np.array([_fit_scale(joint, k) for k, joint in enumerate(self.joints)])

    def _compute_held_out(self, rows: Float[np.ndarray, "joints channels"], share: float, ridge: float) -> PerJoint:
        residual, powers = np.zeros(len(rows)), np.zeros((len(rows), 2))
        for j, (row, joint) in enumerate(zip(rows, self.joints, strict=True)):
            powers[j] = _compute_powers(joint, row)
        power = powers[:, 0]  # zero if a joint has no torque; its equations then say nothing
        weights = np.where(power > 0.0, self._counts / np.where(power > 0.0, power, 1.0), 0.0)
        for fold in (0, 1):
            beta = self._solve(rows, weights, fold, share, ridge)
            for j, (row, joint) in enumerate(zip(rows, self.joints, strict=True)):
                own, other = beta[joint.columns], 1 - fold
                squares = row @ joint.torque[other] @ row - 2.0 * own @ (joint.cross[other] @ row)
                residual[j] += max(0.0, float(squares + own @ joint.gram[other] @ own))
        return np.array([_compute_relative_error(r, power) for r, power in zip(residual, powers[:, 1], strict=True)])

    def _solve(
        self, rows: Float[np.ndarray, "joints channels"], weights: PerJoint, fold: int, share: float, ridge: float
    ) -> Float[np.ndarray, "columns"]:
        n = len(self.described)
        N, b = np.zeros((n, n)), np.zeros(n)
        for weight, row, joint in zip(weights, rows, self.joints, strict=True):
            N[joint.columns[:, None], joint.columns] += weight * joint.gram[fold]
            b[joint.columns] += weight * (joint.cross[fold] @ row)
        scale = np.sqrt(np.diag(N))
        used = scale > MIN_RELATIVE_COLUMN * scale.max(initial=TINY)
        scale = np.where(used, scale, 1.0)
        center = np.where(used, share * scale * self.described, 0.0)
        N = np.where(used[:, None] & used, N / scale[:, None] / scale, 0.0) + ridge * np.eye(n)
        return np.asarray(np.linalg.solve(N, np.where(used, b / scale, 0.0) + ridge * center)) / scale

    @cached_property
    def _counts(self) -> PerJoint:
        return np.array([joint.torque[:, -1, -1].sum() for joint in self.joints])


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
    joints = []
    for j, (columns, rows) in enumerate(regressor):
        mask = samples.mask[:, j]
        A, C = rows * mask, channels * mask[:, None]
        drive = np.column_stack(
            [motion.qd[:, j], direction[:, j], motion.qdd[:, j], np.ones(len(mask)), described[:, j]]
        )
        everything = np.column_stack([drive * mask[:, None], C])
        joints.append(
            JointEquations(
                columns,
                np.stack([A[:, part] @ A[:, part].T for part in folds]),
                np.stack([A[:, part] @ C[part] for part in folds]),
                np.stack([C[part].T @ C[part] for part in folds]),
                everything.T @ everything,
            )
        )
    return Equations(tuple(joints), beta)


def _find_directions(samples: Samples) -> SamplesByJoint:
    direction, qd = samples.motion.direction, samples.motion.qd
    if direction is not None and samples.has_joint_directions:
        return direction
    speed = SMOOTH_SPEED_RATIO * abs(qd).max(axis=0, initial=0.0) + np.finfo(float).tiny
    return np.asarray(qd / np.hypot(qd, speed))


def _compute_described_error(joint: JointEquations, row: Float[np.ndarray, "channels"], *, share: float) -> float:
    """Return the error of a share of the described link torque, with the best possible drive."""
    D = joint.drive
    target = np.concatenate([[-share], row])  # recorded minus described torque
    rest = D[DRIVE_COUNT:, DRIVE_COUNT:]
    squares, cross = target @ rest @ target, D[:DRIVE_COUNT, DRIVE_COUNT:] @ target
    residual = squares - _explain(D[:DRIVE_COUNT, :DRIVE_COUNT], cross)
    return _compute_relative_error(residual, _compute_powers(joint, row)[1])


def _compute_relative_error(residual: float, power: float) -> float:
    """Return the root of residual / power, at most ``MAX_ERROR``; zero for a joint without torque."""
    return min(float(np.sqrt(max(residual, 0.0) / power)), MAX_ERROR) if power > 0.0 else 0.0


def _compute_powers(joint: JointEquations, row: Float[np.ndarray, "channels"]) -> tuple[float, float]:
    """Return the sum of squares of a joint's torque, and of its deviations from their mean."""
    products = joint.torque.sum(axis=0)
    power, mean = float(row @ products @ row), float(row @ products[:, -1])
    return power, max(power - mean**2 / max(products[-1, -1], 1.0), MIN_RELATIVE_COLUMN * power)


def _explain(gram: SquareMatrix, cross: Float[np.ndarray, "columns"]) -> float:
    """Return the sum of squares that columns explain if only the last may have a negative coefficient."""
    best = 0.0
    for chosen in product((False, True), repeat=DRIVE_COUNT - 1):
        places = np.flatnonzero([*chosen, True])
        part = gram[np.ix_(places, places)]
        scale = np.sqrt(np.maximum(np.diag(part), TINY))
        x = np.linalg.lstsq(part / scale[:, None] / scale, cross[places] / scale, rcond=1e-10)[0]
        if (x[:-1] >= 0.0).all():
            best = max(best, float(x @ (cross[places] / scale)))
    return best


def _fit_scale(joint: JointEquations, j: int) -> float:
    """Return a, with recorded torque = a · (described torque) + drive."""
    D, columns = joint.drive, np.arange(DRIVE_COUNT + 1)
    gram, cross = D[np.ix_(columns, columns)], D[columns, DRIVE_COUNT + 1 + j]
    scale = np.sqrt(np.maximum(np.diag(gram), TINY))
    x = np.linalg.lstsq(gram / scale[:, None] / scale, cross / scale, rcond=1e-10)[0] / scale
    return float(x[DRIVE_COUNT])

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
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerJoint, SamplesByJoint, SquareMatrix

# Models that are fitted, of which the best counts: share of the described parameters that is the center of a ridge, and
# the ridge, relative to the equations of a parameter with columns scaled to the torque that they cause. A parameter
# that the samples do not determine stays at its center. Chosen on: rule of thumb.
MODELS = ((0.0, 1e-5), (1.0, 1e-4), (1.0, 1e-2))
# Speed relative to the highest speed, below which the direction of a joint is noise. Chosen on: rule of thumb.
SMOOTH_SPEED_RATIO = 0.02
# Relative torque of a column below which it is zero up to rounding. Chosen on: reasoning; the digits of double
# precision.
MIN_RELATIVE_COLUMN = 1e-12
# Relative error below which errors are equally good. Chosen on: rule of thumb.
MIN_ERROR = 0.02


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of every joint, relative to the standard deviation of its torque; see the module docstring."""

    held_out: PerJoint
    described: PerJoint
    drives: PerJoint  # described error without any links
    total: float  # held-out error of all joints, relative to the RMS of all torques

    def compute_unexplained(self, joints: Int[np.ndarray, " chosen"]) -> float:
        """Return the error of the described links, relative to that of drives alone: geometric mean over some joints.

        Single joints may differ from the description, such as a wrist with a load.
        """
        ratios = np.maximum(self.described[joints], MIN_ERROR) / np.maximum(self.drives[joints], MIN_ERROR)
        return float(np.exp(np.log(ratios).mean()))


@dataclass(frozen=True, eq=False)
class JointSums:
    """Sums of one joint by fold: ``cross`` with all recorded torques and with 1."""

    columns: Int[np.ndarray, " own"]
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

    joints: tuple[JointSums, ...]
    torque: Float[np.ndarray, "joints folds channels channels"]
    drives: DriveEquations
    described: Float[np.ndarray, " columns"]

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
    regressor: Sequence[tuple[Int[np.ndarray, " own"], Float[np.ndarray, "own samples"]]],
    described: SamplesByJoint,
    samples: Samples,
    beta: Float[np.ndarray, " columns"],
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
        joints.append(JointSums(columns, gram, np.stack([A[:, part] @ C[part] for part in folds])))
        torques.append(np.stack([C[part].T @ C[part] for part in folds]))
        drives.append(everything.T @ everything)
    return Equations(tuple(joints), np.stack(torques), DriveEquations(np.stack(drives)), beta)


def _find_directions(samples: Samples) -> SamplesByJoint:
    direction, qd = samples.motion.direction, samples.motion.qd
    if direction is not None and samples.has_joint_directions:
        return direction
    speed = SMOOTH_SPEED_RATIO * abs(qd).max(axis=0, initial=0.0) + np.finfo(float).tiny
    return np.asarray(qd / np.hypot(qd, speed))


# Torques that drives explain beside described links: friction and rotors that must not be negative, and an offset.


# Columns of a drive: velocity, direction, acceleration and 1; the first three must not be negative. Fixed by: the
# model.
DRIVE_COUNT = 4
# Drives without some of the first three columns: the best with no negative coefficient is among them. Fixed by:
# mathematics.
CHOICES = np.array([[*chosen, True] for chosen in product((False, True), repeat=DRIVE_COUNT - 1)])
# Eigenvalue of scaled products, relative to the largest, below which columns depend on each other. Chosen on:
# reasoning; the digits of double precision.
MIN_RELATIVE_EIGENVALUE = 1e-10
TINY = 1e-300  # Fixed by: the smallest numbers of double precision.
# Error of a joint, relative to its torque, above which errors are equally bad; a description in other units can be off
# by more. Chosen on: rule of thumb.
MAX_ERROR = 1e9


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


# Samples of the motion with which mistakes are compared: few, but from all parts of the logs.


# Samples in which mistakes are searched; mistakes that matter are visible in fewer. Chosen on: rule of thumb.
MAX_SAMPLES = 2000
# Number of pieces of the logs from which samples are selected. Chosen on: rule of thumb.
MAX_PIECES = 16
MAX_PIECE_LENGTH = 2048  # samples; longer pieces would need much memory; affects only memory
# Number of consecutive blocks of samples; models are fitted to every other block and tested on the rest. Chosen on:
# rule of thumb.
BLOCK_COUNT = 40


@dataclass(frozen=True, eq=False)
class Samples:
    """Motion and torques at selected samples, as recorded or with a mistake mended.

    Attributes
    ----------
    motion   the samples of all pieces
    mask     1 for equations that are used and 0 for the others, by sample and joint
    fold     number of samples of the first fold, which come first; the others are the second fold
    order    place of every sample in the order of time
    pieces   all samples of the pieces from which every ``step``-th was selected
    rates    samples per second of every piece
    has_joint_directions
             whether the directions of the motion are those of the joints, one by one; those of motors that turn with
             several joints and of robots with loops are not
    """

    motion: MotionSamples
    mask: SamplesByJoint
    fold: int
    order: Int[np.ndarray, " samples"]
    pieces: tuple[MotionSamples, ...]
    rates: tuple[float, ...]
    step: int
    has_joint_directions: bool = True

    @property
    def tau(self) -> SamplesByJoint:
        assert self.motion.tau is not None
        return self.motion.tau

    def permute(self, order: Int[np.ndarray, " joints"]) -> Samples:
        """Return the samples with the positions of joint ``order[j]`` as those of joint j; torques stay."""
        motion = self.motion
        return self._with_motion(motion.q[:, order], motion.qd[:, order], motion.qdd[:, order], order, 1.0)

    def reverse(self, signs: PerJoint) -> Samples:
        """Return the samples with positions multiplied by these signs; torques stay."""
        motion = self.motion
        order = np.arange(len(signs))
        return self._with_motion(motion.q * signs, motion.qd * signs, motion.qdd * signs, order, signs)

    def scale_positions(self, factors: PerJoint) -> Samples:
        """Return the samples with positions multiplied by positive factors."""
        motion = self.motion
        changed = replace(motion, q=motion.q * factors, qd=motion.qd * factors, qdd=motion.qdd * factors)
        return replace(self, motion=changed)

    def offset(self, offsets: PerJoint) -> Samples:
        """Return the samples with these offsets added to the positions."""
        return replace(self, motion=replace(self.motion, q=self.motion.q + offsets))

    def stretch(self, factor: float) -> Samples:
        """Return the samples with time multiplied by a factor."""
        motion = self.motion
        return replace(self, motion=replace(motion, qd=motion.qd / factor, qdd=motion.qdd / factor**2))

    def shift_torques(self, delay: float) -> Samples:
        """Return the samples with the torques that were recorded ``delay`` seconds later."""
        parts = []
        for piece, rate in zip(self.pieces, self.rates, strict=True):
            assert piece.tau is not None
            clock = np.arange(len(piece)) + delay * rate
            columns = [np.interp(clock, np.arange(len(piece)), column) for column in piece.tau.T]
            parts.append(np.stack(columns, axis=1)[:: self.step])
        return replace(self, motion=replace(self.motion, tau=np.concatenate(parts)[self.order]))

    def _with_motion(
        self,
        q: SamplesByJoint,
        qd: SamplesByJoint,
        qdd: SamplesByJoint,
        order: Int[np.ndarray, " joints"],
        signs: PerJoint | float,
    ) -> Samples:
        direction = self.motion.direction
        if direction is not None:  # without directions, those of the changed velocities are used
            direction = direction[:, order] * signs if self.has_joint_directions else None
        return replace(self, motion=replace(self.motion, q=q, qd=qd, qdd=qdd, direction=direction))


def select_samples(problem: EstimationProblem, form: Differential) -> Samples:
    """Return at most ``MAX_SAMPLES`` samples, evenly distributed over the logs."""
    tasks = list(problem.tasks())
    tasks = tasks[:: -(-len(tasks) // MAX_PIECES)]
    pieces = tuple(problem.motion(_shorten(task)) for task in tasks)
    step = max(1, -(-sum(len(piece) for piece in pieces) // MAX_SAMPLES))
    motion = _join([_stride(piece, step) for piece in pieces])
    count = len(motion)
    second = (np.arange(count) * BLOCK_COUNT // max(count, 1)) % 2
    order = np.argsort(second, kind="stable")
    motion = _take(motion, order)
    mask = form.mask(motion)
    return Samples(
        motion,
        np.ones_like(motion.q) if mask is None else mask.T,
        int(count - second.sum()),
        order,
        pieces,
        tuple(problem.sources[task.source].rate for task in tasks),
        step,
        has_joint_directions(problem.base.robot),
    )


def _shorten(task: SourceRange) -> SourceRange:
    """Return the first part of a long piece."""
    samples = task.samples
    return replace(task, samples=replace(samples, last=min(samples.last, samples.first + MAX_PIECE_LENGTH)))


def has_joint_directions(robot: Robot) -> bool:
    """Whether every drive of a robot turns with one actuated joint, in their order."""
    if robot.loops:
        return False
    rates = compute_velocity_ratios(robot)
    return rates.shape == (len(robot.actuated),) * 2 and bool(np.array_equal(rates, np.diag(np.diagonal(rates))))


def _stride(piece: MotionSamples, step: int) -> MotionSamples:
    return _take(piece, np.arange(0, len(piece), step))


def _take(piece: MotionSamples, places: Int[np.ndarray, " kept"]) -> MotionSamples:
    tau, direction = piece.tau, piece.direction
    return MotionSamples(
        piece.t[places],
        piece.q[places],
        piece.qd[places],
        piece.qdd[places],
        None if tau is None else tau[places],
        None,
        piece.rows[places],
        None if direction is None else direction[places],
        None if piece.resting is None else piece.resting[places],
    )


def _join(pieces: list[MotionSamples]) -> MotionSamples:
    def join(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    def join_optional(name: str) -> np.ndarray | None:
        return join(name) if all(getattr(piece, name) is not None for piece in pieces) else None

    t, q, qd, qdd, tau = (join(name) for name in ("t", "q", "qd", "qdd", "tau"))
    direction, resting = join_optional("direction"), join_optional("resting")
    return MotionSamples(t, q, qd, qdd, tau, None, join("rows"), direction, resting)

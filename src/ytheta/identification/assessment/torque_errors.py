"""Torque errors of a model: sums over all samples of every joint, errors and standard deviations that follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identification.equations.autocorrelation import compute_autocorrelation_time
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.form import RegressorLayout
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parameters import list_incomplete_links
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    BaseByBase,
    Bool,
    Float,
    JointsBySample,
    NonzerosBySample,
    PerBase,
    PerJoint,
    SamplesByJoint,
    freeze,
)

# Share of the samples that are not left out because a joint rests, from which it is judged. Chosen on: reasoning; a
# joint that moves for less time is not part of the motion.
MIN_JUDGED_SHARE = 0.02

SUMS = ("counts", "residual", "torque", "raw_residual", "raw_torque", "mean")


@dataclass(frozen=True, eq=False)
class Trace:
    """Samples for plots, evenly selected from the motion; a row of NaN separates segments.

    ``left_out`` is True for samples that are left out of the errors of the joint, because it rests or is slow.
    ``q``, ``qd`` and ``qdd`` are the positions, velocities and accelerations of the joints.
    """

    t: Float[np.ndarray, " shown"]
    measured: Float[np.ndarray, "shown joints"]
    predicted: Float[np.ndarray, "shown joints"]
    raw: Float[np.ndarray, "shown joints"]
    left_out: Bool[np.ndarray, "shown joints"]
    q: Float[np.ndarray, "shown joints"]
    qd: Float[np.ndarray, "shown joints"]
    qdd: Float[np.ndarray, "shown joints"]


@dataclass(frozen=True, eq=False)
class MotionRange:
    """For every joint: the range of positions, the highest speed, acceleration and low-passed torque."""

    lower: PerJoint
    upper: PerJoint
    speed: PerJoint
    acceleration: PerJoint
    torque: PerJoint


@dataclass(frozen=True, eq=False, repr=False)
class TorqueErrors:
    """Sums over all samples for each joint, and the errors computed from the sums. The arrays are read-only."""

    samples: int
    seconds: float
    counts: PerJoint  # number of samples that are not left out because the joint rests or is slower than min_speed
    residual: PerJoint  # sum of the squared residuals r
    torque: PerJoint  # sum of the squared torques
    raw_residual: PerJoint  # this sum and the next: as above, but with the measured torque before the low-pass
    raw_torque: PerJoint
    mean: PerJoint  # mean torque
    autocovariance: Float[np.ndarray, "lags joints"]  # sums of r(t) r(t + k) over all t, for lags k
    motion_range: MotionRange
    trace: Trace
    regressor: RegressorSamples  # at the samples of the trace
    other_motion: OtherMotion | None = None  # None if joints cannot be shifted in time, as in robots with loops
    wrench_rows: int = 0  # number of joints, the first ones, that are the coordinates of a floating base
    sensor_rows: int = 0  # number of joints, the last ones, that are the coordinates of force-torque sensors

    def __post_init__(self) -> None:
        for name in (*SUMS, "autocovariance"):
            freeze(getattr(self, name))
        for values in (*vars(self.motion_range).values(), *vars(self.trace).values()):
            freeze(values)

    def __repr__(self) -> str:
        figures = f"{self.relative_percent:.2f} % error, {self.samples} samples, {self.seconds:.4g} s"
        return f"TorqueErrors({figures}, joints {len(self.counts)})"

    @property
    def relative_percent(self) -> float:
        """Relative error of all joints together, in percent; measured wrenches do not count (``joint_rows``)."""
        joints = self.joint_rows
        return _compute_percent(self.residual[joints].sum(), self.torque[joints].sum())

    @property
    def per_joint_percent(self) -> PerJoint:
        """Relative error of every joint, in percent."""
        torque = self._replace_free_wrench(self.torque)
        return np.array([_compute_percent(r, t) for r, t in zip(self.residual, torque, strict=True)])

    @property
    def raw_relative_percent(self) -> float:
        """Relative error of all joints together, computed with the torque before the low-pass, in percent."""
        joints = self.joint_rows
        return _compute_percent(self.raw_residual[joints].sum(), self.raw_torque[joints].sum())

    @property
    def raw_per_joint_percent(self) -> PerJoint:
        """Relative error of every joint, computed with the torque before the low-pass, in percent."""
        torque = self._replace_free_wrench(self.raw_torque)
        return np.array([_compute_percent(r, t) for r, t in zip(self.raw_residual, torque, strict=True)])

    @property
    def joint_rows(self) -> slice:
        """The rows that count in the error of all joints; all rows if no joint has a torque.

        Those of a measured wrench on a floating base and of force-torque sensors have errors of their own. The weight
        of a robot in N is so much larger than its torques in Nm that a common error would hide those of the joints.
        """
        first = self.wrench_rows if self.torque[: self.wrench_rows].any() else 0  # zero if nothing touches the base
        joints = slice(first, len(self.torque) - self.sensor_rows)
        return joints if self.torque[joints].any() else slice(None)

    @property
    def used_share(self) -> PerJoint:
        """Share of the samples of which the errors of the joint are computed; the others are left out."""
        return self.counts / max(self.samples, 1)

    @property
    def judged(self) -> Bool[np.ndarray, " joints"]:
        """Whether the joint moves: its errors count. How large or how correlated they are does not matter."""
        return self.used_share >= MIN_JUDGED_SHARE

    @property
    def variation(self) -> PerJoint:
        """Standard deviation of the torque over time, in Nm or N."""
        torque = self._replace_free_wrench(self.torque)
        return np.sqrt(np.maximum(torque / np.maximum(self.counts, 1.0) - self.mean**2, 0.0))

    @property
    def rms(self) -> PerJoint:
        """Root mean square of the residual, in Nm or N."""
        return np.sqrt(self.residual / np.maximum(self.counts, 1.0))

    @property
    def torque_rms(self) -> PerJoint:
        """Root mean square of the torque, in Nm or N."""
        return np.sqrt(self.torque / np.maximum(self.counts, 1.0))

    @property
    def raw_rms(self) -> PerJoint:
        """Root mean square of the residual, computed with the torque before the low-pass, in Nm or N."""
        return np.sqrt(self.raw_residual / np.maximum(self.counts, 1.0))

    @property
    def nrmse(self) -> PerJoint:
        """Normalised RMSE: RMS of the residual divided by the standard deviation of the torque."""
        return 0.01 * self.of_variation_percent

    @property
    def nrmse_mean(self) -> float:
        """Mean of the normalised RMSE over the joints whose torque varies; NaN if there is none."""
        nrmse = self.nrmse
        return float(np.mean(nrmse[np.isfinite(nrmse)])) if np.isfinite(nrmse).any() else np.nan

    @property
    def of_variation_percent(self) -> PerJoint:
        """The normalised RMSE in percent, NaN without torque; constant loads do not make it smaller."""
        variation = np.maximum(self._replace_free_wrench(self.torque) - self.counts * self.mean**2, 0.0)
        percents = np.array([_compute_percent(r, v) for r, v in zip(self.residual, variation, strict=True)])
        return np.where(variation > 0.0, percents, np.where(percents > 0.0, np.inf, np.nan))

    def _replace_free_wrench(self, squares: PerJoint) -> PerJoint:
        """Return sums of squared torques in which a wrench that is always zero is replaced by the mean of the joints.

        Errors of a floating base that nothing touches are compared with this mean.
        """
        is_free = (np.arange(len(squares)) < self.wrench_rows) & (squares == 0.0)
        return np.where(is_free, squares[squares > 0.0].mean() if (squares > 0.0).any() else 0.0, squares)

    @cached_property
    def autocorrelation_time(self) -> PerJoint:
        """Autocorrelation time of the residuals, in samples; at least 1."""
        return compute_autocorrelation_time(self.autocovariance)


@dataclass(frozen=True, eq=False)
class ReportedErrors:
    """Torque errors of the same model at a stated cut-off in Hz; ``validation`` is None without validation logs."""

    cutoff: float
    fit: TorqueErrors
    validation: TorqueErrors | None


def _compute_percent(part: float, whole: float) -> float:
    if whole > 0.0:
        return float(100.0 * np.sqrt(part / whole))
    return np.inf if part > 0.0 else 0.0


# Standard deviation of a predicted torque: the covariance of the parameters, propagated through the regressor.
#
# Identity      std_j(t)² = y_j(t) C y_j(t)ᵀ + r_j(t)² + b_j²  with row y_j(t) of Y for joint j at time t
#               C   covariance of beta
#               r   error of friction near reversals: of Coulomb friction if the drives reverse half a recorded sample
#                   earlier or later, since a log contains no more about the time of a reversal; of root friction,
#                   whose low-pass is approximated, see ``friction_laws``; and at samples that are left out because a
#                   joint rests or is slow, of Coulomb friction that may be anything between minus and plus its value
#               b   variation between logs, see ``between_logs``
#
# It is the standard deviation of the difference between the torque that the model predicts for a motion of another log
# and the torque without noise. A new measurement differs from the prediction by its noise too: its variance is
# std² + noise².
# Otherwise the regressor counts as known: load-dependent friction contributes by its coefficients, not by its load.


# A predicted torque is unknown if its regressor row has a larger component, relative to the length of the row, along a
# direction that the data do not identify. Chosen on: rule of thumb.
MAX_UNIDENTIFIED_SHARE = 1e-6
# Standard deviation of the time of a reversal, in recorded samples. Chosen on: rule of thumb.
REVERSAL_SAMPLES = 0.5


@dataclass(frozen=True, eq=False)
class ParameterUncertainty:
    """Covariance of beta, and the directions along which beta is unknown; the covariance is zero along them.

    ``between_logs``: b of the module docstring, in Nm or N; None to leave the variation between logs out.
    """

    covariance: BaseByBase
    unidentified: Float[np.ndarray, "base unidentified"]
    between_logs: PerJoint | None = None

    def compute_std(self, layout: RegressorLayout, values: NonzerosBySample) -> JointsBySample:
        """Return the standard deviation of Y beta in another log; infinite if it depends on an unidentified direction.

        It does not contain r of the module docstring.
        """
        std = np.empty((len(layout.slices), values.shape[1]))
        for joint, (part, columns) in enumerate(zip(layout.slices, layout.columns, strict=True)):
            Y = values[part]
            variance = np.einsum("ks,ks->s", Y, self.covariance[np.ix_(columns, columns)] @ Y)
            between = 0.0 if self.between_logs is None else float(self.between_logs[joint])
            std[joint] = np.hypot(np.sqrt(np.maximum(variance, 0.0)), between)
            if self.unidentified.shape[1]:
                component = np.linalg.norm(self.unidentified[columns].T @ Y, axis=0)
                std[joint, component > MAX_UNIDENTIFIED_SHARE * np.linalg.norm(Y, axis=0)] = np.inf
        return std


@dataclass(frozen=True, eq=False, repr=False)
class RegressorSamples:
    """The regressor at selected samples, with a column of NaN between segments. The arrays are read-only.

    ``mask`` is 1 for samples that count, and 0 for those at which a joint is too slow.
    """

    layout: RegressorLayout
    values: Float[np.ndarray, "nonzeros shown"]
    reversal_std: Float[np.ndarray, "joints shown"]  # r of the module docstring
    mask: Float[np.ndarray, "joints shown"]

    def __post_init__(self) -> None:
        for array in (self.values, self.reversal_std, self.mask):
            freeze(array)

    def compute_std(self, uncertainty: ParameterUncertainty) -> Float[np.ndarray, "joints shown"]:
        """Return the standard deviation of the predicted torque at every sample."""
        return np.hypot(uncertainty.compute_std(self.layout, self.values), self.reversal_std)

    def compute_rms_std(self, uncertainty: ParameterUncertainty) -> PerJoint:
        """Return for each joint the root mean square of the standard deviation over the samples that count."""
        std = self.compute_std(uncertainty)
        counts = (self.mask > 0.0) & ~np.isnan(std)
        squares = np.where(counts, std, 0.0) ** 2
        return np.sqrt(squares.sum(axis=1) / np.maximum(counts.sum(axis=1), 1))


def compute_reversal_std(form: Differential, motion: MotionSamples, beta: PerBase) -> JointsBySample:
    """Return r of the module docstring without rests; zero if Coulomb friction is not low-passed, as with loops."""
    rows = float(motion.rows[-1] - motion.rows[0]) if len(motion) > 1 else 0.0
    if motion.direction is None or rows <= 0.0:
        return np.zeros((len(form.layout.slices), len(motion)))
    rows_per_sample = rows / (len(motion) - 1)
    change = np.gradient(motion.direction, axis=0) / rows_per_sample
    coulomb = REVERSAL_SAMPLES * form.compute_coulomb_torque(np.ascontiguousarray(change.T), beta)
    return np.hypot(coulomb, form.compute_root_error(motion, beta))


def compute_friction_std(
    form: Differential, motion: MotionSamples, beta: PerBase, mask: JointsBySample | None
) -> JointsBySample:
    """Return r of the module docstring; ``mask`` is 0 at the samples that are left out, None if none is."""
    std = compute_reversal_std(form, motion, beta)
    if mask is None or motion.direction is None:
        return std
    drives = form.compute_coulomb_torque(np.eye(motion.direction.shape[1]), beta)
    # The standard deviation of a uniform distribution between minus and plus the Coulomb friction.
    sticking = np.sqrt(np.sum(drives**2, axis=1) / 3.0)
    return np.hypot(std, sticking[:, None] * (mask == 0.0))


# Other motion of the same size as a recorded motion, for which nothing was measured.
#
# Every joint moves as it did, but at another time than the other joints: positions, velocities and accelerations of a
# joint are shifted in time by a share of the whole duration. All ranges and speeds are those of the log, but the poses
# and the combinations of velocities are new. The uncertainty of a prediction for this motion shows whether parameters
# are certain enough for more than repetitions of the log.


# Shift between consecutive joints, relative to the duration. It is irrational, so that a shift is not a whole number of
# periods if the motion is periodic. Fixed by: mathematics, the golden ratio.
SHIFT_RATIO = 0.5 * (np.sqrt(5.0) - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class OtherMotion:
    """The regressor of other motion, and the size of the predicted torques. The arrays are read-only."""

    regressor: RegressorSamples
    torque_variation: PerJoint  # standard deviation over time, in Nm or N
    torque_rms: PerJoint

    def __post_init__(self) -> None:
        freeze(self.torque_variation)
        freeze(self.torque_rms)


def shift_joints(q: SamplesByJoint, qd: SamplesByJoint, qdd: SamplesByJoint) -> MotionSamples:
    """Return a motion in which each joint is later than the joint before it, and continues at its beginning."""
    count, joints = q.shape
    shifts = [round(count * (SHIFT_RATIO * j % 1.0)) for j in range(joints)]

    def shift(values: SamplesByJoint) -> SamplesByJoint:
        columns = [np.roll(values[:, j], amount) for j, amount in enumerate(shifts)]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    samples = np.arange(count)
    return MotionSamples(samples.astype(float), shift(q), shift(qd), shift(qdd), None, None, samples)


# Before and after: torque errors of the description and of the identified model on the same samples.
#
# Before is the robot as it was described, with the friction and rotor inertias that its description contains; a
# description without friction predicts none. After is the estimate.


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Torque errors of the description and of the identified model.

    Attributes
    ----------
    before          errors of the description
    after           errors of the identified model, of the same samples
    is_validation   whether these are the validation logs; otherwise those of the fit, to which the model was adapted
    has_friction    whether the description contains friction
    """

    before: TorqueErrors
    after: TorqueErrors
    is_validation: bool
    has_friction: bool

    @property
    def ratio(self) -> float:
        """How many times smaller the error became; infinite if none is left, 1 if there was none."""
        return float(_divide(np.array([self.before.relative_percent]), np.array([self.after.relative_percent]))[0])

    @property
    def joint_ratios(self) -> PerJoint:
        """How many times smaller the error of each joint became."""
        return _divide(self.before.per_joint_percent, self.after.per_joint_percent)


def is_described(robot: Robot) -> bool:
    """Return whether the description contains inertias of links that move, so that it predicts torques."""
    if robot.unset_symbols or list_incomplete_links(robot):
        return False
    return any(not robot.link(joint.child).inertia.massless for joint in robot.joints)


def has_friction(robot: Robot) -> bool:
    """Return whether the description contains friction of a drive."""
    drives = (drive for _, drive in robot.drives)
    return any(any((each.viscous, each.coulomb, each.offset, each.root, each.load)) for each in drives)


def compute_differences(
    values: Float[np.ndarray, " params"], described: Float[np.ndarray, " params"], std: Float[np.ndarray, " params"]
) -> Float[np.ndarray, " params"]:
    """Return the differences from the description in standard deviations; NaN if those are infinite or zero."""
    known = np.isfinite(std) & (std > 0.0)
    return np.where(known, (values - described) / np.where(known, std, 1.0), np.nan)


def _divide(before: PerJoint, after: PerJoint) -> PerJoint:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((before == 0.0) & (after == 0.0), 1.0, before / after)

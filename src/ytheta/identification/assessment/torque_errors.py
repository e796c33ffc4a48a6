"""Torque errors of a model: sums over all samples of every joint, and the errors that follow from the sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identification.assessment.other_motion import OtherMotion
from ytheta.identification.assessment.prediction_std import RegressorSamples
from ytheta.identification.equations.autocorrelation import compute_autocorrelation_time
from ytheta.shapes import Bool, Float, PerJoint, freeze

# Independent samples of a joint from which its error is known within 25 %; a joint with fewer is not judged by itself.
MIN_JUDGED_SAMPLES = 10

SUMS = ("counts", "residual", "torque", "raw_residual", "raw_torque", "mean")


@dataclass(frozen=True, eq=False)
class Trace:
    """Samples for plots, evenly selected from the motion; a row of NaN separates segments.

    ``left_out`` is True for samples that are left out of the errors of the joint, because it rests or is slow.
    ``q`` and ``qd`` are the positions and velocities of the joints.
    """

    t: Float[np.ndarray, "shown"]
    measured: Float[np.ndarray, "shown joints"]
    predicted: Float[np.ndarray, "shown joints"]
    raw: Float[np.ndarray, "shown joints"]
    left_out: Bool[np.ndarray, "shown joints"]
    q: Float[np.ndarray, "shown joints"]
    qd: Float[np.ndarray, "shown joints"]


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
    def judged(self) -> Bool[np.ndarray, "joints"]:
        """Whether the errors of the joint say something about it, although samples are left out."""
        return (self.counts == self.samples) | (self.counts >= MIN_JUDGED_SAMPLES * self.autocorrelation_time)

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

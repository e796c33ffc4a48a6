"""Torque errors of a model for given motion, and the autocovariance of the residuals.

The relative error is 100 |tau - tau_hat| / |tau| with the norms over all joints and samples, where measured and
predicted torques are low-passed in the same way. The error relative to the raw torque is computed as well. Only sums
and a decimated trace for plots are stored, so one pass over the motion is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.autocorrelation import AutocovarianceAccumulator, compute_autocorrelation_time
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.equations.motion_sources import Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float, JointsBySample, PerBase, PerJoint, freeze

TRACE_LENGTH = 2000  # approximate number of samples of a trace

SUMS = ("counts", "residual", "torque", "raw_residual", "raw_torque", "mean")


@dataclass(frozen=True, eq=False)
class Trace:
    """Samples for plots, evenly selected from the motion; a row of NaN separates segments."""

    t: Float[np.ndarray, "shown"]
    measured: Float[np.ndarray, "shown joints"]
    predicted: Float[np.ndarray, "shown joints"]
    raw: Float[np.ndarray, "shown joints"]


@dataclass(frozen=True, eq=False)
class MotionRange:
    """For every joint: the range of positions, the highest speed and the highest acceleration."""

    lower: PerJoint
    upper: PerJoint
    speed: PerJoint
    acceleration: PerJoint


@dataclass(frozen=True, eq=False, repr=False)
class TorqueErrors:
    """Sums over all samples for each joint, and the errors computed from the sums. The arrays are read-only."""

    samples: int
    seconds: float
    counts: PerJoint  # number of samples at which the joint was not slower than min_speed
    residual: PerJoint  # sum of the squared residuals r
    torque: PerJoint  # sum of the squared torques
    raw_residual: PerJoint  # this sum and the next: as above, but with the measured torque before the low-pass
    raw_torque: PerJoint
    mean: PerJoint  # mean torque
    autocovariance: Float[np.ndarray, "lags joints"]  # sums of r(t) r(t + k) over all t, for lags k
    motion_range: MotionRange
    trace: Trace

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
        """Relative error of all joints together, in percent."""
        return _compute_percent(self.residual.sum(), self.torque.sum())

    @property
    def per_joint_percent(self) -> PerJoint:
        """Relative error of every joint, in percent."""
        return np.array([_compute_percent(r, t) for r, t in zip(self.residual, self.torque, strict=True)])

    @property
    def raw_relative_percent(self) -> float:
        """Relative error of all joints together, computed with the torque before the low-pass, in percent."""
        return _compute_percent(self.raw_residual.sum(), self.raw_torque.sum())

    @property
    def raw_per_joint_percent(self) -> PerJoint:
        """Relative error of every joint, computed with the torque before the low-pass, in percent."""
        return np.array([_compute_percent(r, t) for r, t in zip(self.raw_residual, self.raw_torque, strict=True)])

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
        """The normalised RMSE in percent; constant loads do not make it smaller."""
        variation = np.maximum(self.torque - self.counts * self.mean**2, 0.0)
        return np.array([_compute_percent(r, v) for r, v in zip(self.residual, variation, strict=True)])

    @cached_property
    def autocorrelation_time(self) -> PerJoint:
        """Autocorrelation time of the residuals, in samples; at least 1."""
        return compute_autocorrelation_time(self.autocovariance)


def _compute_percent(part: float, whole: float) -> float:
    if whole > 0.0:
        return float(100.0 * np.sqrt(part / whole))
    return np.inf if part > 0.0 else 0.0


def compute_errors(
    form: Differential,
    sources: tuple[Source, ...],
    beta: PerBase,
    *,
    known: KnownTorque | None = None,
    threads: int | None = None,
) -> TorqueErrors:
    """Compare the measured torques with Y beta plus the known torque.

    Samples at which a joint is slower than ``form.min_speed`` are left out of its errors.
    """
    problem = EstimationProblem(form, sources, threads=threads)
    accumulator = _ErrorAccumulator(problem, len(form.base.robot.actuated))

    def work(task: Task) -> tuple[MotionSamples, JointsBySample]:
        motion = problem.motion(task)
        return motion, predict_torque(form, motion, beta, known=known)

    predictions = map_in_order(work, problem.tasks(), threads=threads)
    for task, (motion, predicted) in zip(problem.tasks(), predictions, strict=True):
        accumulator.add(task, motion, predicted, form.mask(motion))
    return accumulator.make_errors()


def predict_torque(
    form: Differential, motion: MotionSamples, beta: PerBase, *, known: KnownTorque | None = None
) -> JointsBySample:
    """Return Y beta plus the known torque."""
    predicted = form.torque(motion, beta)
    return predicted + known.torque(motion) if known else predicted


class _ErrorAccumulator:
    """Running sums of TorqueErrors. The autocovariance requires that pieces are added in the order of time."""

    def __init__(self, problem: EstimationProblem, joints: int) -> None:
        self.problem = problem
        self.step = max(1, -(-problem.sample_count // TRACE_LENGTH))
        self.samples, self.seconds = 0, 0.0
        self.sums = {name: np.zeros(joints) for name in SUMS}
        self.autocovariance = AutocovarianceAccumulator(joints)
        self.lower, self.upper = np.full(joints, np.inf), np.full(joints, -np.inf)
        self.speed, self.acceleration = np.zeros(joints), np.zeros(joints)
        self.segment: tuple[int, int] | None = None
        self.trace: list[tuple[np.ndarray, ...]] = []

    def add(self, task: Task, motion: MotionSamples, predicted: JointsBySample, mask: JointsBySample | None) -> None:
        assert motion.tau is not None
        tau = np.ascontiguousarray(motion.tau.T)
        raw = tau if motion.raw_tau is None else np.ascontiguousarray(motion.raw_tau.T)
        self._add_to_trace(task, motion, predicted, raw)
        residual, raw_residual = tau - predicted, raw - predicted
        counts = np.full(len(tau), float(len(motion)))
        if mask is not None:
            tau, raw, residual, raw_residual = tau * mask, raw * mask, residual * mask, raw_residual * mask
            counts = mask.sum(axis=1)
        self.sums["counts"] += counts
        squared = (("residual", residual), ("torque", tau), ("raw_residual", raw_residual), ("raw_torque", raw))
        for name, values in squared:
            self.sums[name] += np.einsum("js,js->j", values, values)
        self.sums["mean"] += tau.sum(axis=1)
        self.segment = (task.source, task.samples.segment)
        self.autocovariance.add(self.segment, residual)
        self.lower = np.minimum(self.lower, motion.q.min(axis=0))
        self.upper = np.maximum(self.upper, motion.q.max(axis=0))
        self.speed = np.maximum(self.speed, abs(motion.qd).max(axis=0))
        self.acceleration = np.maximum(self.acceleration, abs(motion.qdd).max(axis=0))
        self.samples += len(motion)
        self.seconds += len(motion) / self.problem.sources[task.source].rate

    def _add_to_trace(self, task: Task, motion: MotionSamples, predicted: JointsBySample, raw: JointsBySample) -> None:
        """Add every ``step``-th sample to the trace, and a row of NaN between segments."""
        if self.segment not in (None, (task.source, task.samples.segment)):
            self.trace.append((np.full(1, np.nan), *(np.full((1, len(raw)), np.nan) for _ in range(3))))
        pick = slice(-task.samples.first % self.step, None, self.step)
        assert motion.tau is not None
        picked = (motion.t[pick], motion.tau[pick], predicted.T[pick], raw.T[pick])
        self.trace.append(tuple(array.copy() for array in picked))  # a view would keep all samples in memory

    def make_errors(self) -> TorqueErrors:
        t, measured, predicted, raw = (np.concatenate(parts) for parts in zip(*self.trace, strict=True))
        sums = self.sums | {"mean": self.sums["mean"] / np.maximum(self.sums["counts"], 1.0)}
        return TorqueErrors(
            samples=self.samples,
            seconds=self.seconds,
            autocovariance=self.autocovariance.autocovariance,
            motion_range=MotionRange(self.lower, self.upper, self.speed, self.acceleration),
            trace=Trace(t, measured, predicted, raw),
            **sums,
        )

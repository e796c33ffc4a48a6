"""TorqueErrors: how well a model predicts the torques of some motion, and how far what is left is from white noise.

Relative error = 100 |tau - tau_hat| / |tau| over all joints, both low-passed alike; the figure against the raw torque
stands beside it. One pass over the motion; only sums are kept, and a thinned trace for plots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.engine.local import in_order
from ytheta.identification.assessment.autocorrelation import Memory, autocorrelation_time
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.motion_sources import Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float, JointsBySample, PerBase, PerJoint

SHOWN = 2000  # samples of a trace

SUMMED = ("counts", "residual", "torque", "raw_residual", "raw_torque", "mean")


@dataclass(frozen=True, eq=False)
class Trace:
    """Some of the samples, evenly chosen, for plots; a break between segments is a row of NaN."""

    t: Float[np.ndarray, "shown"]
    measured: Float[np.ndarray, "shown joints"]
    predicted: Float[np.ndarray, "shown joints"]
    raw: Float[np.ndarray, "shown joints"]


@dataclass(frozen=True, eq=False)
class MotionRange:
    """How far the joints went: ranges of positions, largest speeds and accelerations."""

    lower: PerJoint
    upper: PerJoint
    speed: PerJoint
    acceleration: PerJoint


@dataclass(frozen=True, eq=False)
class TorqueErrors:
    """NormalEquations over the samples of some motion, per joint; see the module docstring."""

    samples: int
    seconds: float
    counts: PerJoint  # samples of each joint that count
    residual: PerJoint  # sums of squares
    torque: PerJoint
    raw_residual: PerJoint
    raw_torque: PerJoint
    mean: PerJoint  # of the torque
    autocovariance: Float[np.ndarray, "lags joints"]  # sums of r(t) r(t + k)
    reach: MotionRange
    trace: Trace

    @property
    def relative_percent(self) -> float:
        return _percent(self.residual.sum(), self.torque.sum())

    @property
    def per_joint_percent(self) -> PerJoint:
        return np.array([_percent(r, t) for r, t in zip(self.residual, self.torque, strict=True)])

    @property
    def raw_relative_percent(self) -> float:
        return _percent(self.raw_residual.sum(), self.raw_torque.sum())

    @property
    def raw_per_joint_percent(self) -> PerJoint:
        return np.array([_percent(r, t) for r, t in zip(self.raw_residual, self.raw_torque, strict=True)])

    @property
    def rms(self) -> PerJoint:
        """Root mean square of the residual, in Nm or N."""
        return np.sqrt(self.residual / np.maximum(self.counts, 1.0))

    @property
    def torque_rms(self) -> PerJoint:
        return np.sqrt(self.torque / np.maximum(self.counts, 1.0))

    @property
    def raw_rms(self) -> PerJoint:
        return np.sqrt(self.raw_residual / np.maximum(self.counts, 1.0))

    @property
    def of_variation_percent(self) -> PerJoint:
        """Residual against the *variation* of the torque: a constant load of gravity does not flatter it."""
        variation = np.maximum(self.torque - self.counts * self.mean**2, 0.0)
        return np.array([_percent(r, v) for r, v in zip(self.residual, variation, strict=True)])

    @cached_property
    def correlated(self) -> PerJoint:
        """How many samples count as one: c of ``correlation``, at least 1."""
        return autocorrelation_time(self.autocovariance)


def _percent(part: float, whole: float) -> float:
    if whole > 0.0:
        return float(100.0 * np.sqrt(part / whole))
    return np.inf if part > 0.0 else 0.0


def judge(
    form: Differential,
    sources: tuple[Source, ...],
    beta: PerBase,
    *,
    known: KnownTorque | None = None,
    threads: int | None = None,
) -> TorqueErrors:
    """How well beta, with what is known beside it, predicts these torques; ``min_speed`` joints of the form left out."""
    problem = EstimationProblem(form, sources, threads=threads, most_kept=0)  # one pass: nothing will be asked for again
    gathering = _Gathering(problem, len(form.base.robot.actuated))

    def work(task: Task) -> tuple[MotionSamples, JointsBySample]:
        motion = problem.motion(task)
        return motion, predict(form, motion, beta, known=known)

    predictions = in_order(work, problem.tasks(), threads=threads)
    for task, (motion, predicted) in zip(problem.tasks(), predictions, strict=True):
        gathering.take(task, motion, predicted, form.kept(motion))
    return gathering.result()


def predict(form: Differential, motion: MotionSamples, beta: PerBase, *, known: KnownTorque | None = None) -> JointsBySample:
    """Y beta of some motion, and what is known beside it."""
    predicted = form.torque(motion, beta)
    return predicted + known.torque(motion) if known else predicted


class _Gathering:
    """TorqueErrors in the making. Pieces come in the order of time; residuals of one reach into the next."""

    def __init__(self, problem: EstimationProblem, joints: int) -> None:
        self.problem = problem
        self.step = max(1, -(-problem.samples // SHOWN))
        self.samples, self.seconds = 0, 0.0
        self.sums = {name: np.zeros(joints) for name in SUMMED}
        self.memory = Memory(joints)
        self.lower, self.upper = np.full(joints, np.inf), np.full(joints, -np.inf)
        self.speed, self.acceleration = np.zeros(joints), np.zeros(joints)
        self.where: tuple[int, int] | None = None
        self.shown: list[tuple[np.ndarray, ...]] = []

    def take(self, task: Task, motion: MotionSamples, predicted: JointsBySample, kept: JointsBySample | None) -> None:
        assert motion.tau is not None
        tau = np.ascontiguousarray(motion.tau.T)
        raw = tau if motion.raw_tau is None else np.ascontiguousarray(motion.raw_tau.T)
        self._show_some(task, motion, predicted, raw)
        left, raw_left = tau - predicted, raw - predicted
        counts = np.full(len(tau), float(len(motion)))
        if kept is not None:
            tau, raw, left, raw_left, counts = tau * kept, raw * kept, left * kept, raw_left * kept, kept.sum(axis=1)
        self.sums["counts"] += counts
        for name, values in (("residual", left), ("torque", tau), ("raw_residual", raw_left), ("raw_torque", raw)):
            self.sums[name] += np.einsum("js,js->j", values, values)
        self.sums["mean"] += tau.sum(axis=1)
        where = (task.source, task.piece.segment)
        self.where = where
        self.memory.take(where, left)
        self.lower = np.minimum(self.lower, motion.q.min(axis=0))
        self.upper = np.maximum(self.upper, motion.q.max(axis=0))
        self.speed = np.maximum(self.speed, abs(motion.qd).max(axis=0))
        self.acceleration = np.maximum(self.acceleration, abs(motion.qdd).max(axis=0))
        self.samples += len(motion)
        self.seconds += len(motion) / self.problem.sources[task.source].rate

    def _show_some(self, task: Task, motion: MotionSamples, predicted: JointsBySample, raw: JointsBySample) -> None:
        """Every so many samples for the trace, and NaN between segments."""
        if self.where not in (None, (task.source, task.piece.segment)):
            self.shown.append((np.full(1, np.nan), *(np.full((1, len(raw)), np.nan) for _ in range(3))))
        pick = slice(-task.piece.first % self.step, None, self.step)
        assert motion.tau is not None
        self.shown.append((motion.t[pick], motion.tau[pick], predicted.T[pick], raw.T[pick]))

    def result(self) -> TorqueErrors:
        t, measured, predicted, raw = (np.concatenate(parts) for parts in zip(*self.shown, strict=True))
        sums = self.sums | {"mean": self.sums["mean"] / np.maximum(self.sums["counts"], 1.0)}
        return TorqueErrors(
            samples=self.samples,
            seconds=self.seconds,
            autocovariance=self.memory.products,
            reach=MotionRange(self.lower, self.upper, self.speed, self.acceleration),
            trace=Trace(t, measured, predicted, raw),
            **sums,
        )

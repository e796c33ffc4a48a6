"""Torque errors of a model for given motion, and the autocovariance of the residuals.

The relative error is 100 |tau - tau_hat| / |tau| with the norms over all joints and samples, where measured and
predicted torques are low-passed in the same way. The error relative to the raw torque is computed as well. Only sums,
a decimated trace for plots and the regressor at its samples are stored, so one pass over the motion is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.assessment.torque_errors import (
    SUMS,
    MotionRange,
    OtherMotion,
    RegressorSamples,
    ReportedErrors,
    TorqueErrors,
    Trace,
    compute_friction_std,
    shift_joints,
)
from ytheta.identification.equations.autocorrelation import AutocovarianceAccumulator
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.model_equations import ModelEquations
from ytheta.identification.plan import PreparationPlan
from ytheta.logs.preparing.drives import remake_rest_rule
from ytheta.logs.preparing.motion_sources import CachedSource, LogSource, Source, cache_sources
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import JointsBySample, PerBase, PerJoint

TRACE_LENGTH = 2000  # approximate number of samples of a trace; affects only a plot
# Samples that are prepared at once: their cut-off is low, so there are many recorded ones for each. It affects only
# time and memory.
PIECE_LENGTH = 1024


@dataclass(frozen=True, eq=False)
class ErrorComputation:
    """Computes the torque errors of a model on all logs, always in the differential form, so that forms compare.

    Attributes
    ----------
    base         the parameters of the model
    equations    the motion of the logs, and how their equations are made
    plan         the cut-offs of the errors and, if it was given, of the report
    fit_sources  the motion of the logs of the fit at the cut-offs of the errors
    load         torque that drives transmit, if friction depends on it
    """

    base: ModelParameters
    equations: ModelEquations
    plan: PreparationPlan
    fit_sources: tuple[Source, ...]
    load: RigidTorque | None = None

    @classmethod
    def of(cls, base: ModelParameters, equations: ModelEquations, plan: PreparationPlan) -> ErrorComputation:
        """Return the computation for a model without load-dependent friction."""
        sources = equations.sources
        if plan.is_fit_judged_apart:  # they are used for the free estimate and for the model
            sources = cache_sources(_with_preparations(sources, plan.judged.fit), piece_length=PIECE_LENGTH)
        return cls(base, equations, plan, sources)

    def compute_fit_errors(self, beta: PerBase) -> TorqueErrors:
        """Return the errors on the logs of the fit."""
        return self._compute_errors(self.fit_sources, beta)

    def compute_log_errors(self, number: int, beta: PerBase) -> TorqueErrors:
        """Return the errors on one log of the fit; ``number`` counts from 0."""
        return self._compute_errors(self.fit_sources[number : number + 1], beta)

    def compute_validation_errors(self, beta: PerBase) -> TorqueErrors | None:
        """Return the errors on the validation logs; None if there are none."""
        sources = self.equations.validation_sources
        if not sources:
            return None
        errors = self._compute_errors(sources, beta)
        if not errors.counts.any():
            names = ", ".join(source.name for source in sources)
            raise InputError(
                f"{names}: no joint moves, or none reaches its min_speed, so that nothing can be judged; validate with "
                "motion, or set min_speed to 0 to judge rest"
            )
        return errors

    def compute_reported_errors(self, beta: PerBase) -> ReportedErrors | None:
        """Return the errors at the report cut-off; None if it was not given."""
        reported = self.plan.reported
        if reported is None:
            return None
        fit, validation = (
            cache_sources(_with_preparations(sources, preparations), 0, PIECE_LENGTH)  # they are used once
            for sources, preparations in (
                (self.equations.sources, reported.fit),
                (self.equations.validation_sources, reported.validation),
            )
        )
        return ReportedErrors(
            reported.cutoff,
            self._compute_errors(fit, beta),
            self._compute_errors(validation, beta) if validation else None,
        )

    def compute_description_errors(self, beta: PerBase, load: RigidTorque | None) -> TorqueErrors:
        """Return the errors of a description on the validation logs, or on those of the fit without them.

        ``load``: the torque that its drives transmit, if friction depends on it.
        """
        described = self if load is self.load else replace(self, load=load)  # the form keeps its kernel
        return described.compute_validation_errors(beta) or described.compute_fit_errors(beta)

    @cached_property
    def form(self) -> Differential:
        """The form in which errors are computed."""
        return Differential(self.base, self.equations.settings.min_speed, self.load)

    def _compute_errors(self, sources: tuple[Source, ...], beta: PerBase) -> TorqueErrors:
        return compute_errors(
            self.form, sources, beta, known=KnownTorque(self.base), threads=self.equations.settings.threads
        )


def _with_preparations(sources: tuple[Source, ...], preparations: Sequence[Preparation]) -> tuple[Source, ...]:
    """Return the sources of the same logs with other preparations; nothing is stored."""
    uncached = (each.source if isinstance(each, CachedSource) else each for each in sources)
    return tuple(
        replace(
            source,
            preparation=preparation,
            rest=source.rest and remake_rest_rule(source.rest, source.preparation, preparation),
        )
        for source, preparation in zip(uncached, preparations, strict=True)
        if isinstance(source, LogSource)
    )


def compute_errors(
    form: Differential,
    sources: tuple[Source, ...],
    beta: PerBase,
    *,
    known: KnownTorque | None = None,
    threads: int | None = None,
) -> TorqueErrors:
    """Compare the measured torques with Y beta plus the known torque.

    Samples at which a joint rests or is slower than ``form.min_speed`` are left out of its errors.
    """
    problem = EstimationProblem(form, sources, threads=threads)
    accumulator = _ErrorAccumulator(problem, len(form.base.robot.actuated))

    def work(task: SourceRange) -> _Piece:
        motion = problem.motion(task)
        predicted = predict_torque(form, motion, beta, known=known)
        shown = accumulator.find_shown_samples(task)
        regressor = _sample_regressor(form, motion, beta, shown)
        return _summarize(task, motion, predicted, form.mask(motion), shown, regressor)

    for piece in map_in_order(work, problem.tasks(), threads=threads):
        accumulator.add(piece)
    other_motion = None if form.base.robot.loops else _predict_other_motion(form, accumulator, beta, known)
    return accumulator.make_errors(other_motion)


def _predict_other_motion(
    form: Differential, accumulator: _ErrorAccumulator, beta: PerBase, known: KnownTorque | None
) -> OtherMotion:
    motion = shift_joints(*(np.concatenate(parts) for parts in zip(*accumulator.shown_motion, strict=True)))
    torque = predict_torque(form, motion, beta, known=known)
    regressor = _sample_regressor(form, motion, beta, slice(None))
    return OtherMotion(regressor, torque.std(axis=1), np.sqrt(np.mean(torque**2, axis=1)))


def _sample_regressor(form: Differential, motion: MotionSamples, beta: PerBase, pick: slice) -> RegressorSamples:
    """Return the regressor at the picked samples of a motion."""
    mask = form.mask(motion)
    reversal_std = compute_friction_std(form, motion, beta, mask)[:, pick].copy()
    direction = None if motion.direction is None else motion.direction[pick]
    q, qd, qdd = (np.ascontiguousarray(values[pick]) for values in (motion.q, motion.qd, motion.qdd))
    picked = MotionSamples(motion.t[pick], q, qd, qdd, None, None, motion.rows[pick], direction)
    values = np.empty((form.layout.groups.row_count, len(picked)))
    for first, block in form.compute_regressor_blocks(picked):
        values[:, first : first + block.shape[1]] = block
    used = np.ones_like(reversal_std) if mask is None else mask[:, pick].copy()
    return RegressorSamples(form.layout, values, reversal_std, used)


def predict_torque(
    form: Differential, motion: MotionSamples, beta: PerBase, *, known: KnownTorque | None = None
) -> JointsBySample:
    """Return Y beta plus the known torque."""
    predicted = form.torque(motion, beta)
    return predicted + known.torque(motion) if known else predicted


@dataclass(frozen=True, eq=False)
class _Piece:
    """What the errors need of a piece of motion, which has several times the size."""

    task: SourceRange
    sums: dict[str, PerJoint]
    residual: JointsBySample
    motion_range: MotionRange
    trace: tuple[np.ndarray, ...]  # quantities of Trace, and the regressor at the same samples; q, qd, qdd come last


def _summarize(
    task: SourceRange,
    motion: MotionSamples,
    predicted: JointsBySample,
    mask: JointsBySample | None,
    shown: slice,
    regressor: RegressorSamples,
) -> _Piece:
    """Return the sums of a piece, and what is shown of it in the trace."""
    assert motion.tau is not None
    tau = np.ascontiguousarray(motion.tau.T)
    raw = tau if motion.raw_tau is None else np.ascontiguousarray(motion.raw_tau.T)
    picked = (motion.t[shown], motion.tau[shown], predicted.T[shown], raw.T[shown])
    highest_torque = abs(tau).max(axis=1)
    residual, raw_residual = tau - predicted, raw - predicted
    counts = np.full(len(tau), float(len(motion)))
    if mask is not None:
        tau, raw, residual, raw_residual = tau * mask, raw * mask, residual * mask, raw_residual * mask
        counts = mask.sum(axis=1)
    squared = {"residual": residual, "torque": tau, "raw_residual": raw_residual, "raw_torque": raw}
    sums = {name: np.einsum("js,js->j", values, values) for name, values in squared.items()}
    return _Piece(
        task=task,
        sums={**sums, "counts": counts, "mean": tau.sum(axis=1)},
        residual=residual,
        motion_range=MotionRange(
            lower=motion.q.min(axis=0),
            upper=motion.q.max(axis=0),
            speed=abs(motion.qd).max(axis=0),
            acceleration=abs(motion.qdd).max(axis=0),
            torque=highest_torque,
        ),
        trace=(
            *_copy(*picked),
            regressor.values.T,
            regressor.reversal_std.T,
            regressor.mask.T,
            *_copy(motion.q[shown], motion.qd[shown], motion.qdd[shown]),
        ),
    )


def _copy(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return copies of selected samples; views would keep all samples in memory."""
    return tuple(array.copy() for array in arrays)


class _ErrorAccumulator:
    """Running sums of TorqueErrors. The autocovariance requires that pieces are added in the order of time."""

    def __init__(self, problem: EstimationProblem, joints: int) -> None:
        self.problem = problem
        self.step = max(1, -(-problem.sample_count // TRACE_LENGTH))
        self.samples, self.seconds = 0, 0.0
        self.sums = {name: np.zeros(joints) for name in SUMS}
        self.autocovariance = AutocovarianceAccumulator(joints)
        self.lower, self.upper = np.full(joints, np.inf), np.full(joints, -np.inf)
        self.speed, self.acceleration, self.torque = np.zeros(joints), np.zeros(joints), np.zeros(joints)
        self.segment: tuple[int, int] | None = None
        self.trace: list[tuple[np.ndarray, ...]] = []
        self.shown_motion: list[tuple[np.ndarray, ...]] = []  # q, qd, qdd of the trace, without rows of NaN

    def find_shown_samples(self, task: SourceRange) -> slice:
        """Return which samples of a task are shown in the trace."""
        return slice(-task.samples.first % self.step, None, self.step)

    def add(self, piece: _Piece) -> None:
        task, samples = piece.task, piece.residual.shape[1]
        segment = (task.source, task.samples.segment)
        if self.segment not in (None, segment):
            self.trace.append(tuple(np.full((1, *array.shape[1:]), np.nan) for array in piece.trace))
        self.trace.append(piece.trace)
        self.shown_motion.append(piece.trace[-3:])
        for name, values in piece.sums.items():
            self.sums[name] += values
        self.segment = segment
        self.autocovariance.add(segment, piece.residual)
        self.lower = np.minimum(self.lower, piece.motion_range.lower)
        self.upper = np.maximum(self.upper, piece.motion_range.upper)
        self.speed = np.maximum(self.speed, piece.motion_range.speed)
        self.acceleration = np.maximum(self.acceleration, piece.motion_range.acceleration)
        self.torque = np.maximum(self.torque, piece.motion_range.torque)
        self.samples += samples
        self.seconds += samples / self.problem.sources[task.source].rate

    def make_errors(self, other_motion: OtherMotion | None) -> TorqueErrors:
        pieces = (np.concatenate(parts) for parts in zip(*self.trace, strict=True))
        t, measured, predicted, raw, values, reversal_std, mask, *motion = pieces
        regressor = RegressorSamples(
            self.problem.layout, np.ascontiguousarray(values.T), reversal_std.T, np.nan_to_num(mask.T)
        )
        sums = self.sums | {"mean": self.sums["mean"] / np.maximum(self.sums["counts"], 1.0)}
        return TorqueErrors(
            samples=self.samples,
            seconds=self.seconds,
            autocovariance=self.autocovariance.autocovariance,
            motion_range=MotionRange(self.lower, self.upper, self.speed, self.acceleration, self.torque),
            trace=Trace(t, measured, predicted, raw, mask == 0.0, *motion),
            regressor=regressor,
            other_motion=other_motion,
            wrench_rows=self.problem.layout.wrench_rows,
            sensor_rows=self.problem.layout.sensor_rows,
            **sums,
        )

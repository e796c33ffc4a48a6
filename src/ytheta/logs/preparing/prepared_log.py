"""Preparing a log: computing q, qd, qdd and tau at equal time steps, all low-passed in the same way.

``prepare_log`` prepares a whole log. ``prepare_pieces`` does the same piece by piece in constant memory; the result
does not depend on the size of the pieces. To process pieces in parallel, call ``prepare_span`` on each piece of a
Preparation.

Positions, torques and recorded velocities are low-passed in the same way; derivatives are computed only at the samples
that are kept. No sample depends on samples of another segment. At the ends of a segment, samples affected by filter
transients are trimmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ytheta.findings import Finding
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import SAMPLES_PER_PIECE, Preparation, choose_preparation
from ytheta.logs.preparing.settings import DEFAULT_SETTINGS, PreparationSettings
from ytheta.shapes import ChannelsBySample, Float, Int, JointsByGrid, PerSample, SamplesByJoint


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """Low-passed motion and torques at equal time steps.

    ``raw_tau`` is the torque before the low-pass. ``rows`` are the numbers of the recorded rows nearest to the samples.
    ``direction`` contains the low-passed drive directions; None if they were not requested.
    """

    t: PerSample
    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint
    tau: SamplesByJoint | None
    raw_tau: SamplesByJoint | None
    rows: Int[np.ndarray, "samples"]
    direction: Float[np.ndarray, "samples drives"] | None = None

    def __len__(self) -> int:
        return len(self.t)

    def select(self, start: int, stop: int) -> MotionSamples:
        """Return samples ``start:stop``."""
        chosen = slice(start, stop)
        return MotionSamples(
            self.t[chosen],
            self.q[chosen],
            self.qd[chosen],
            self.qdd[chosen],
            None if self.tau is None else self.tau[chosen],
            None if self.raw_tau is None else self.raw_tau[chosen],
            self.rows[chosen],
            None if self.direction is None else self.direction[chosen],
        )


@dataclass(frozen=True, eq=False)
class PreparedLog:
    """The prepared motion of a whole log; ``segments`` are the ranges (start, stop) of samples between gaps."""

    motion: MotionSamples
    segments: tuple[tuple[int, int], ...]
    rate: float
    band: float | None  # Hz; None if the cut-off was set or no joint moves
    settings: PreparationSettings
    findings: tuple[Finding, ...]


def prepare_span(
    preparation: Preparation, segment: tuple[int, int], span: Span, directions: DriveDirections | None = None
) -> MotionSamples:
    """Prepare one piece of a log.

    If ``directions`` are given, the span needs twice the margin, because drive directions are computed from low-passed
    velocities and then low-passed again.
    """
    log, differentiator = preparation.log, preparation.differentiator
    kept = slice(span.core.start, span.core.stop, preparation.decimate)

    # Quantities are sampled one at a time, since all samples need many times the memory of the samples that are kept.
    def sample(signal: SamplesByJoint) -> JointsByGrid:
        return preparation.grid.sample(log, segment, span.start, span.stop, (signal,))[0]

    smooth = differentiator.smooth(sample(log.q))
    q, qd, qdd = (differentiator.differentiate(smooth, order, kept) for order in range(3))
    recorded = np.flatnonzero(preparation.uses_recorded_velocity)
    if len(recorded) and log.qd is not None:
        smooth = differentiator.smooth(sample(log.qd)[recorded])
        qd[recorded], qdd[recorded] = (differentiator.differentiate(smooth, order, kept) for order in range(2))
    del smooth
    direction = None
    if directions is not None:
        signs = directions.evaluate(_compute_velocity_for_directions(preparation, sample))
        direction = _transpose(differentiator.differentiate(differentiator.smooth(signs), 0, kept))
    tau = raw_tau = None
    if log.tau is not None:
        torque = sample(log.tau)
        raw_tau = _transpose(torque[:, kept])
        tau = _transpose(differentiator.differentiate(differentiator.smooth(torque), 0, kept))
    decimated = slice(0, None, preparation.decimate)  # results are copied: a view would keep all samples in memory
    return MotionSamples(
        t=preparation.grid.compute_times(log, segment, span.core_start, span.core_stop)[decimated].copy(),
        q=_transpose(q),
        qd=_transpose(qd),
        qdd=_transpose(qdd),
        tau=tau,
        raw_tau=raw_tau,
        rows=preparation.grid.find_nearest_rows(log, segment, span.core_start, span.core_stop)[decimated].copy(),
        direction=direction,
    )


def prepare_pieces(
    log: Log, settings: PreparationSettings = DEFAULT_SETTINGS, size: int = SAMPLES_PER_PIECE
) -> Iterator[MotionSamples]:
    """Yield the prepared motion of a log piece by piece."""
    preparation = choose_preparation(log, settings)
    for segment, span in preparation.iterate_pieces(size):
        yield prepare_span(preparation, segment, span)


def prepare_log(
    log: Log, settings: PreparationSettings = DEFAULT_SETTINGS, size: int = SAMPLES_PER_PIECE
) -> PreparedLog:
    """Return the prepared motion of a log; use ``prepare_pieces`` for logs that do not fit into memory."""
    preparation = choose_preparation(log, settings)
    parts: list[MotionSamples] = []
    lengths: dict[tuple[int, int], int] = {}
    for segment, span in preparation.iterate_pieces(size):
        parts.append(prepare_span(preparation, segment, span))
        lengths[segment] = lengths.get(segment, 0) + len(parts[-1])
    ends = np.cumsum([0, *lengths.values()]).tolist()
    return PreparedLog(
        motion=concatenate_motion(parts),
        segments=tuple(pairwise(ends)),
        rate=preparation.rate,
        band=preparation.band,
        settings=preparation.settings,
        findings=preparation.findings,
    )


def _compute_velocity_for_directions(
    preparation: Preparation, sample: Callable[[SamplesByJoint], JointsByGrid]
) -> JointsByGrid:
    """Return velocities at all samples of a piece, low-passed with the higher cut-off of ``drive_directions``."""
    log, differentiator = preparation.log, preparation.direction_differentiator
    smooth = differentiator.smooth(sample(log.q))
    all_samples = slice(0, smooth.shape[1])
    velocity = differentiator.differentiate(smooth, 1, all_samples)
    recorded = np.flatnonzero(preparation.uses_recorded_velocity)
    if len(recorded) and log.qd is not None:
        velocity[recorded] = differentiator.differentiate(
            differentiator.smooth(sample(log.qd)[recorded]), 0, all_samples
        )
    return velocity


def _transpose(channels: ChannelsBySample) -> SamplesByJoint:
    return np.ascontiguousarray(channels.T)


def concatenate_motion(parts: Sequence[MotionSamples]) -> MotionSamples:
    """Return the motion of successive pieces as one."""

    def concatenate_recorded(arrays: list[np.ndarray | None]) -> np.ndarray | None:
        recorded = [array for array in arrays if array is not None]
        return np.concatenate(recorded) if recorded else None

    return MotionSamples(
        t=np.concatenate([part.t for part in parts]),
        q=np.concatenate([part.q for part in parts]),
        qd=np.concatenate([part.qd for part in parts]),
        qdd=np.concatenate([part.qdd for part in parts]),
        tau=concatenate_recorded([part.tau for part in parts]),
        raw_tau=concatenate_recorded([part.raw_tau for part in parts]),
        rows=np.concatenate([part.rows for part in parts]),
        direction=concatenate_recorded([part.direction for part in parts]),
    )

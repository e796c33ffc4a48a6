"""Preparing a log: computing q, qd, qdd and tau at equal time steps, all low-passed in the same way.

``prepare_log`` prepares a whole log. ``prepare_pieces`` does the same piece by piece in constant memory; the result
does not depend on the size of the pieces. To process pieces in parallel, call ``prepare_span`` on each piece of a
Preparation.

Positions, torques and recorded velocities are low-passed in the same way; derivatives are computed only at the samples
that are kept. No sample depends on samples of another segment. At the ends of a segment, samples affected by filter
transients are trimmed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.findings import Finding
from ytheta.logs.log import Log, allocate_like, allocate_temporary
from ytheta.logs.preparing.drives import AnyDirections, PoseDirections, RestRule
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import (
    DEFAULT_SETTINGS,
    SAMPLES_PER_PIECE,
    Preparation,
    PreparationSettings,
    choose_preparation,
)
from ytheta.robot.floating import compute_twist
from ytheta.shapes import Bool, ChannelsBySample, Float, Int, PerSample, SamplesByJoint

OneByGrid = Float[np.ndarray, "1 grid"]


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """Low-passed motion and torques at equal time steps.

    ``raw_tau`` is the torque before the low-pass. ``rows`` are the numbers of the recorded rows nearest to the samples.
    ``direction`` contains the low-passed drive directions, with loops times velocity ratios; None if they were not
    requested. ``resting`` is True at the samples at which a drive that acts on the joint rests (see ``rest``); None if
    this was not requested.
    """

    t: PerSample
    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint
    tau: SamplesByJoint | None
    raw_tau: SamplesByJoint | None
    rows: Int[np.ndarray, " samples"]
    direction: Float[np.ndarray, "samples drives"] | None = None
    resting: Bool[np.ndarray, "samples joints"] | None = None

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
            None if self.resting is None else self.resting[chosen],
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
    preparation: Preparation,
    segment: tuple[int, int],
    span: Span,
    directions: AnyDirections | None = None,
    rest: RestRule | None = None,
) -> MotionSamples:
    """Prepare one piece of a log.

    If ``directions`` or a rule of ``rest`` are given, the span needs the larger ``direction_margin`` of the
    preparation, because drive directions are computed from low-passed velocities and then low-passed again.
    """
    log, differentiator = preparation.log, preparation.differentiator
    inner = span.limit_margins(differentiator.memory)
    kept = slice(inner.core.start, inner.core.stop, preparation.decimate)

    # Channels are sampled one at a time, since all samples need many times the memory of the samples that are kept.
    def sample(signal: SamplesByJoint, joint: int, part: Span = inner) -> OneByGrid:
        return preparation.grid.sample(log, segment, part.start, part.stop, (signal[:, joint : joint + 1],))[0]

    joints, count = log.q.shape[1], len(range(kept.start, kept.stop, kept.step))
    q, qd, qdd = np.empty((3, joints, count))
    for joint in range(joints):
        if preparation.uses_recorded_velocity[joint] and log.qd is not None:
            (q[joint],) = differentiator.evaluate(sample(log.q, joint), (0,), kept)
            qd[joint], qdd[joint] = differentiator.evaluate(sample(log.qd, joint), (0, 1), kept)
        else:
            q[joint], qd[joint], qdd[joint] = differentiator.evaluate(sample(log.q, joint), (0, 1, 2), kept)
    if log.joints[: len(BASE_COORDINATES)] == BASE_COORDINATES:
        _replace_by_twist(q, qd, qdd)
    direction = resting = None
    if directions is not None or rest is not None:
        velocities = _compute_velocity_for_directions(preparation, lambda signal, joint: sample(signal, joint, span))
        # The arrays of all joints have memory of their own: in that of a thread, they would leave holes behind.
        all_velocities = allocate_temporary(joints * (span.stop - span.start)).reshape(joints, -1)
        for joint, velocity in enumerate(velocities):
            all_velocities[joint] = velocity
        kept_directions = slice(span.core.start, span.core.stop, preparation.decimate)
        if rest is not None:
            resting = np.ascontiguousarray(rest.evaluate(all_velocities)[:, kept_directions].T)
        signs: Iterable[Float[np.ndarray, " grid"]] = ()
        if isinstance(directions, PoseDirections):
            positions = np.concatenate([differentiator.smooth(sample(log.q, k, span)) for k in range(joints)])
            positions = differentiator.differentiate(positions, 0, slice(0, positions.shape[1]))
            rates = directions.interpolate_rates(positions, preparation.decimate)
            signs = directions.evaluate(all_velocities, rates)
        elif directions is not None:
            signs = directions.evaluate(all_velocities)
        del all_velocities
        direction = None if directions is None else np.empty((count, directions.row_count))
        for row, sign in enumerate(signs):
            assert direction is not None
            (direction[:, row],) = differentiator.evaluate(sign[np.newaxis], (0,), kept_directions)[0]
    tau = raw_tau = None
    if log.tau is not None:
        tau, raw_tau = np.empty((count, joints)), np.empty((count, joints))
        for joint in range(joints):
            torque, nearest = _sample_torque(preparation, segment, inner, joint)
            raw_tau[:, joint] = nearest[kept]
            (tau[:, joint],) = differentiator.evaluate(torque, (0,), kept)[0]
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
        resting=resting,
    )


def _sample_torque(
    preparation: Preparation, segment: tuple[int, int], part: Span, joint: int
) -> tuple[OneByGrid, Float[np.ndarray, " grid"]]:
    """Return the torque of a joint without its delay, and the recorded torques that are nearest in time.

    Between samples it is the cubic polynomial through the four nearest ones. Beyond the ends of the segment, the torque
    is that of the end; these samples are trimmed.
    """
    log, grid = preparation.log, preparation.grid
    assert log.tau is not None
    steps = float(preparation.settings.torque_delay) * grid.rate
    whole = math.floor(steps)
    x = steps - whole
    before, after = (0, 0) if steps == 0.0 else (1, 2)
    places = np.arange(part.start + whole - before, part.stop + whole + after)
    places = np.clip(places, 0, grid.count_samples(log, segment) - 1)
    (signal,) = grid.sample(log, segment, int(places[0]), int(places[-1]) + 1, (log.tau[:, joint : joint + 1],))
    if steps == 0.0:
        return signal, signal[0]
    values = signal[0, places - places[0]]
    count = part.stop - part.start
    weights = (
        -x * (x - 1.0) * (x - 2.0) / 6.0,
        (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
        -(x + 1.0) * x * (x - 2.0) / 2.0,
        (x + 1.0) * x * (x - 1.0) / 6.0,
    )
    moved = sum(weight * values[k : k + count] for k, weight in enumerate(weights))
    nearest = 1 + round(x)
    return np.asarray(moved)[np.newaxis], values[nearest : nearest + count]


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
        motion=_concatenate(parts),
        segments=tuple(pairwise(ends)),
        rate=preparation.rate,
        band=preparation.band,
        settings=preparation.settings,
        findings=preparation.findings,
    )


def _compute_velocity_for_directions(
    preparation: Preparation, sample: Callable[[SamplesByJoint, int], OneByGrid]
) -> Iterator[Float[np.ndarray, " grid"]]:
    """Yield the velocity of every joint at all samples of a piece, low-passed with the higher cut-off of directions."""
    log, differentiator = preparation.log, preparation.direction_differentiator
    for joint in range(log.q.shape[1]):
        if preparation.uses_recorded_velocity[joint] and log.qd is not None:
            signal, order = sample(log.qd, joint), 0
        else:
            signal, order = sample(log.q, joint), 1
        smooth = differentiator.smooth(signal)
        yield differentiator.differentiate(smooth, order, slice(0, smooth.shape[1]))[0]


def _replace_by_twist(q: ChannelsBySample, qd: ChannelsBySample, qdd: ChannelsBySample) -> None:
    """Replace the derivatives of the coordinates of a floating base by its twist and the derivative of its twist."""
    base = slice(0, len(BASE_COORDINATES))
    twist, rate = compute_twist(q[base].T, qd[base].T, qdd[base].T)
    qd[base], qdd[base] = twist.T, rate.T


def _transpose(channels: ChannelsBySample) -> SamplesByJoint:
    return np.ascontiguousarray(channels.T)


def make_empty_motion(like: MotionSamples, samples: int) -> MotionSamples:
    """Return motion of this number of samples that are all zero, with the same quantities as ``like``."""
    arrays = _list_arrays(like).items()
    return replace(like, **{name: allocate_like(array, (samples, *array.shape[1:])) for name, array in arrays})


def copy_motion(source: MotionSamples, target: MotionSamples) -> None:
    """Copy all samples to motion of the same number of samples."""
    arrays = _list_arrays(source)
    for name, array in _list_arrays(target).items():
        array[:] = arrays[name]


def count_bytes(motion: MotionSamples) -> int:
    """Return the memory that the samples occupy."""
    return sum(array.nbytes for array in _list_arrays(motion).values())


def _list_arrays(motion: MotionSamples) -> dict[str, np.ndarray]:
    """Return the arrays of the quantities that the motion has."""
    arrays = {entry.name: getattr(motion, entry.name) for entry in fields(MotionSamples)}
    return {name: array for name, array in arrays.items() if array is not None}


def _concatenate(parts: list[MotionSamples]) -> MotionSamples:
    """Return the motion of successive pieces as one."""
    whole, first = make_empty_motion(parts[0], sum(map(len, parts))), 0
    for part in parts:
        copy_motion(part, whole.select(first, first + len(part)))
        first += len(part)
    return whole

"""From a log to motion that a regressor can take: q, qd, qdd and tau at equal steps, low-passed alike.

``blocks`` does the work piece by piece in constant memory, with the same result whatever the size of the pieces;
``prepare`` collects them. Engines that spread the work take ``plan`` and call ``work`` on each of its pieces.

Positions, torques and trusted recorded velocities pass through one smoother; derivatives are read off only at the
samples that are kept. Nothing looks across the end of a segment, and what the filter spoils there is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ytheta.findings import Finding
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, BLOCK, Preparation, PreparationSettings, choose_preparation
from ytheta.shapes import ChannelsBySample, Float, Int, JointsByGrid, PerSample, SamplesByJoint


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """Samples at equal steps. ``raw`` is the torque before the low-pass, ``rows`` the recorded rows nearest to each.

    ``direction`` is that of the drives asked for, low-passed like all else; see ``direction``.
    """

    t: PerSample
    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint
    tau: SamplesByJoint | None
    raw: SamplesByJoint | None
    rows: Int[np.ndarray, "samples"]
    direction: Float[np.ndarray, "samples drives"] | None = None

    def __len__(self) -> int:
        return len(self.t)

    def part(self, first: int, last: int) -> MotionSamples:
        """Samples first, …, last - 1."""
        chosen = slice(first, last)
        return MotionSamples(
            self.t[chosen],
            self.q[chosen],
            self.qd[chosen],
            self.qdd[chosen],
            None if self.tau is None else self.tau[chosen],
            None if self.raw is None else self.raw[chosen],
            self.rows[chosen],
            None if self.direction is None else self.direction[chosen],
        )


@dataclass(frozen=True, eq=False)
class PreparedLog:
    """A whole log as motion; ``segments`` are the ranges of its samples between gaps."""

    motion: MotionSamples
    segments: tuple[tuple[int, int], ...]
    rate: float
    band: float | None  # of the motion in Hz, where the cut-off was left to the log
    settings: PreparationSettings
    findings: tuple[Finding, ...]


def prepare_span(chosen: Preparation, segment: tuple[int, int], span: Span, turning: DriveDirections | None = None) -> MotionSamples:
    """The motion of one piece of a plan. Directions need twice the margin: they are low-passed twice."""
    log, smoother = chosen.log, chosen.smoother
    kept = slice(span.core.start, span.core.stop, chosen.decimate)

    # One quantity after the other: what lies between the samples kept is many times what is kept, and goes at once.
    def sampled(signal: SamplesByJoint) -> JointsByGrid:
        return chosen.grid.sample(log, segment, span.start, span.stop, (signal,))[0]

    smooth = smoother.smooth(sampled(log.q))
    q, qd, qdd = (smoother.derivative(smooth, order, kept) for order in range(3))
    velocities = np.flatnonzero(chosen.recorded)
    if len(velocities) and log.qd is not None:
        smooth = smoother.smooth(sampled(log.qd)[velocities])
        qd[velocities], qdd[velocities] = (smoother.derivative(smooth, order, kept) for order in range(2))
    del smooth
    direction = None
    if turning is not None:
        speed = _sharp_speed(chosen, sampled)
        direction = _rows(smoother.derivative(smoother.smooth(turning.directions(speed)), 0, kept))
    tau = raw = None
    if log.tau is not None:
        torque = sampled(log.tau)
        raw = _rows(torque[:, kept])
        tau = _rows(smoother.derivative(smoother.smooth(torque), 0, kept))
    pick = slice(0, None, chosen.decimate)  # copied, or the samples between would stay in memory
    return MotionSamples(
        t=chosen.grid.times(log, segment, span.first, span.last)[pick].copy(),
        q=_rows(q),
        qd=_rows(qd),
        qdd=_rows(qdd),
        tau=tau,
        raw=raw,
        rows=chosen.grid.rows(log, segment, span.first, span.last)[pick].copy(),
        direction=direction,
    )


def blocks(log: Log, settings: PreparationSettings = DEFAULT_SETTINGS, size: int = BLOCK) -> Iterator[MotionSamples]:
    """The motion of a log, piece by piece."""
    chosen = choose_preparation(log, settings)
    for segment, span in chosen.pieces(size):
        yield prepare_span(chosen, segment, span)


def prepare_log(log: Log, settings: PreparationSettings = DEFAULT_SETTINGS, size: int = BLOCK) -> PreparedLog:
    """The motion of a log in one piece; see ``blocks`` for logs that do not fit into memory."""
    chosen = choose_preparation(log, settings)
    parts: list[MotionSamples] = []
    lengths: dict[tuple[int, int], int] = {}
    for segment, span in chosen.pieces(size):
        parts.append(prepare_span(chosen, segment, span))
        lengths[segment] = lengths.get(segment, 0) + len(parts[-1])
    ends = np.cumsum([0, *lengths.values()]).tolist()
    segments = tuple(pairwise(ends))
    return PreparedLog(_joined(parts), segments, chosen.rate, chosen.band, chosen.settings, chosen.findings)


def _sharp_speed(chosen: Preparation, sampled: Callable[[SamplesByJoint], JointsByGrid]) -> JointsByGrid:
    """The speed at all samples of a piece, less smooth than that of the motion; see ``direction``."""
    log, sharper = chosen.log, chosen.sharper
    smooth = sharper.smooth(sampled(log.q))
    everywhere = slice(0, smooth.shape[1])
    speed = sharper.derivative(smooth, 1, everywhere)
    velocities = np.flatnonzero(chosen.recorded)
    if len(velocities) and log.qd is not None:
        speed[velocities] = sharper.derivative(sharper.smooth(sampled(log.qd)[velocities]), 0, everywhere)
    return speed


def _rows(channels: ChannelsBySample) -> SamplesByJoint:
    return np.ascontiguousarray(channels.T)


def _joined(parts: list[MotionSamples]) -> MotionSamples:
    def torque(pieces: list[np.ndarray | None]) -> np.ndarray | None:
        there = [piece for piece in pieces if piece is not None]
        return np.concatenate(there) if there else None

    return MotionSamples(
        t=np.concatenate([part.t for part in parts]),
        q=np.concatenate([part.q for part in parts]),
        qd=np.concatenate([part.qd for part in parts]),
        qdd=np.concatenate([part.qdd for part in parts]),
        tau=torque([part.tau for part in parts]),
        raw=torque([part.raw for part in parts]),
        rows=np.concatenate([part.rows for part in parts]),
    )

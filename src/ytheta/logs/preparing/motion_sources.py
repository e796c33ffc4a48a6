"""Sources of motion with equal time steps: logs that are prepared piece by piece, arrays, and stored motion.

Motion is requested by segment and range of samples. The motion of a sample does not depend on the requested range.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.drives import AnyDirections, RestRule
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.prepared_log import MotionSamples, copy_motion, count_bytes, make_empty_motion, prepare_span
from ytheta.shapes import Bool, Int

# Samples that are prepared at once: many compared with the margins of a low-pass, and enough pieces for all threads.
# It affects only time and memory.
PREPARED_PIECE_LENGTH = 2048


@runtime_checkable
class Source(Protocol):
    """Segments of motion, each without gaps."""

    @property
    def name(self) -> str: ...
    @property
    def rate(self) -> float: ...
    @property
    def lengths(self) -> tuple[int, ...]: ...
    @property
    def has_torque(self) -> bool: ...
    def motion(self, segment: int, first: int, last: int) -> MotionSamples: ...


@dataclass(frozen=True, eq=False)
class LogSource:
    """A log and its preparation.

    ``directions``: how the low-passed signs of the drive velocities are computed; None if they are not needed.
    ``held``: True for joints that do not move; the velocities and accelerations of these joints are only noise and are
    set to zero. ``rest``: the rule by which drives rest; None if this is not needed.
    """

    preparation: Preparation
    directions: AnyDirections | None = None
    held: Bool[np.ndarray, " joints"] | None = None
    rest: RestRule | None = None

    @property
    def name(self) -> str:
        return self.preparation.log.source or "log"

    @property
    def rate(self) -> float:
        return self.preparation.rate

    @property
    def has_torque(self) -> bool:
        return self.preparation.log.tau is not None

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of kept samples of every segment; 0 if nothing remains after trimming the ends of the segment."""
        preparation = self.preparation
        lengths = (preparation.grid.count_samples(preparation.log, segment) for segment in preparation.log.segments)
        return tuple(
            max(0, -(-(length - 2 * preparation.trimmed_samples) // preparation.decimate)) for length in lengths
        )

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        preparation, step, trimmed = self.preparation, self.preparation.decimate, self.preparation.trimmed_samples
        rows = preparation.log.segments[segment]
        length = preparation.grid.count_samples(preparation.log, rows)
        begin, end = trimmed + first * step, min(trimmed + last * step, length - trimmed)
        is_plain = self.directions is None and self.rest is None
        margin = preparation.differentiator.memory if is_plain else preparation.direction_margin
        span = Span(begin, end, max(0, begin - margin), min(length, end + margin))
        motion = prepare_span(preparation, rows, span, self._moving_directions, self.rest)
        if self.held is None or not self.held.any():
            return motion
        moves = ~self.held
        return replace(motion, qd=motion.qd * moves, qdd=motion.qdd * moves)

    @cached_property
    def _moving_directions(self) -> AnyDirections | None:
        if self.directions is None or self.held is None:
            return self.directions
        return self.directions.without_joints(self.held)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Motion that needs no preparation, such as simulated motion. ``segments`` are ranges of samples."""

    whole: MotionSamples
    rate: float
    segments: tuple[tuple[int, int], ...] = ()
    name: str = "motion"

    def __post_init__(self) -> None:
        if not self.segments:
            object.__setattr__(self, "segments", ((0, len(self.whole)),))
        for array in (self.whole.q, self.whole.qd, self.whole.qdd, self.whole.tau):
            if array is not None and not np.isfinite(array).all():
                raise InputError(f"{self.name}: some values are not finite; drop those samples")

    @property
    def has_torque(self) -> bool:
        return self.whole.tau is not None

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(last - first for first, last in self.segments)

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        start = self.segments[segment][0]
        return self.whole.select(start + first, start + last)


@dataclass(frozen=True, eq=False)
class PieceSource:
    """Some pieces of a source, as segments; ``pieces`` are segment, first and last sample."""

    source: Source
    pieces: tuple[tuple[int, int, int], ...]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def rate(self) -> float:
        return self.source.rate

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(last - first for _, first, last in self.pieces)

    @property
    def has_torque(self) -> bool:
        return self.source.has_torque

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        original, start, _ = self.pieces[segment]
        return self.source.motion(original, start + first, start + last)


@dataclass(frozen=True, eq=False)
class ChangedSource:
    """A source of motion that is changed sample by sample, such as by subtracting a known torque."""

    source: Source
    change: Callable[[MotionSamples], MotionSamples]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def rate(self) -> float:
        return self.source.rate

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.source.lengths

    @property
    def has_torque(self) -> bool:
        return self.source.has_torque

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        return self.change(self.source.motion(segment, first, last))


def select_directions(source: Source, rows: Int[np.ndarray, " rows"]) -> ChangedSource:
    """Return a source with only some of its drive directions, such as those of one of several smoothing speeds."""

    def select(motion: MotionSamples) -> MotionSamples:
        assert motion.direction is not None
        return replace(motion, direction=motion.direction[:, rows])

    return ChangedSource(source, select)


def select_pieces(
    sources: tuple[Source, ...], max_samples: int, piece_length: int = PREPARED_PIECE_LENGTH
) -> tuple[Source, ...]:
    """Return at most ``max_samples`` samples of the sources, in pieces that are evenly distributed over each."""
    total = sum(sum(source.lengths) for source in sources)
    if total <= max_samples:
        return sources
    selected: list[Source] = []
    for source in sources:
        pieces = [
            (segment, first, min(first + piece_length, length))
            for segment, length in enumerate(source.lengths)
            for first in range(0, length, piece_length)
        ]
        if not pieces:
            continue
        count = max(1, int(len(pieces) * max_samples / total))
        places = np.unique(np.linspace(0, len(pieces) - 1, count).round().astype(int))
        selected.append(PieceSource(source, tuple(pieces[k] for k in places)))
    return tuple(selected)


# Motion that is stored between passes.
#
# Preparing a log takes several times longer than all other work of one pass. Therefore identification stores the
# prepared motion, which needs little memory: of raw samples, one in ten to twenty is kept.


# Memory for the prepared motion of all sources. It affects only time and memory.
MAX_CACHED_BYTES = 24 * 2**20


@dataclass(frozen=True, eq=False)
class CachedSource:
    """A source whose motion is stored when it is first requested.

    Motion is requested from the source in pieces of ``piece_length`` samples and stored, up to ``max_bytes`` in total.
    The motion of the samples after these is requested anew each time.
    """

    source: Source
    max_bytes: int = MAX_CACHED_BYTES
    piece_length: int = PREPARED_PIECE_LENGTH
    _locks: dict[tuple[int, int], threading.Lock] = field(default_factory=dict, repr=False)
    _storage_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _stored: set[tuple[int, int]] = field(default_factory=set, repr=False)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def rate(self) -> float:
        return self.source.rate

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.source.lengths

    @property
    def has_torque(self) -> bool:
        return self.source.has_torque

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        size = self.piece_length
        if not self.max_bytes or last > len(self._storage[segment]):
            return self._request(segment, first, last)
        for start in range(first - first % size, last, size):
            self._store(segment, start)
        return self._storage[segment].select(first, last)

    def _request(self, segment: int, first: int, last: int) -> MotionSamples:
        """Return motion that is not stored; preparing it at once would need many times the memory of its samples."""
        size = self.piece_length
        piece = self.source.motion(segment, first, min(first + size, last))
        if len(piece) == last - first:
            return piece
        motion = make_empty_motion(piece, last - first)
        copy_motion(piece, motion.select(0, len(piece)))
        for start in range(first + size, last, size):
            stop = min(start + size, last)
            copy_motion(self.source.motion(segment, start, stop), motion.select(start - first, stop - first))
        return motion

    def _store(self, segment: int, start: int) -> None:
        """Store the piece that begins at ``start``, unless it is stored already."""
        key, storage = (segment, start), self._storage[segment]
        with self._locks.setdefault(key, threading.Lock()):  # else two threads might prepare the same piece
            if key not in self._stored:
                stop = min(start + self.piece_length, len(storage))
                copy_motion(self.source.motion(segment, start, stop), storage.select(start, stop))
                self._stored.add(key)

    @property
    def _storage(self) -> tuple[MotionSamples, ...]:
        """The stored samples of every segment."""
        with self._storage_lock:  # two threads must not each allocate a storage of their own
            return self._allocated

    @cached_property
    def _allocated(self) -> tuple[MotionSamples, ...]:
        """Parts of one array per quantity: small arrays would fragment memory."""
        segment = int(np.argmax(self.lengths))
        piece = self.source.motion(segment, 0, min(self.piece_length, self.lengths[segment]))
        left = self.max_bytes // max(count_bytes(piece.select(0, 1)), 1)
        ends = [0]
        for length in self.lengths:
            # If only a part of a segment fits, it ends with a whole piece.
            count = length if length <= left else left - left % self.piece_length
            ends.append(ends[-1] + count)
            left -= count
        whole = make_empty_motion(piece, ends[-1])
        storage = tuple(whole.select(first, last) for first, last in pairwise(ends))
        if len(piece) <= len(storage[segment]):
            copy_motion(piece, storage[segment].select(0, len(piece)))
            self._stored.add((segment, 0))
        return storage


def cache_sources(
    sources: tuple[Source, ...], max_bytes: int = MAX_CACHED_BYTES, piece_length: int = PREPARED_PIECE_LENGTH
) -> tuple[Source, ...]:
    """Return the sources with a cache; the cache of each is proportional to its number of samples."""
    samples = [sum(source.lengths) for source in sources]
    total = max(sum(samples), 1)
    return tuple(
        CachedSource(source, max_bytes * n // total, piece_length) for source, n in zip(sources, samples, strict=True)
    )

"""Motion that is stored between passes.

Preparing a log takes several times longer than all other work of one pass. Therefore identification stores the prepared
motion, which needs little memory: of raw samples, one in ten to twenty is kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ytheta.identification.equations.motion_sources import PREPARED_PIECE_LENGTH, Source
from ytheta.logs.preparing.prepared_log import MotionSamples, copy_motion, count_bytes, make_empty_motion

MAX_CACHED_BYTES = 24 * 2**20  # of the prepared motion of all sources


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
        if last > len(self._storage[segment]):
            motion = make_empty_motion(self._storage[segment], last - first)
            for start in range(first, last, size):  # preparing a piece needs many times the memory of its samples
                stop = min(start + size, last)
                copy_motion(self.source.motion(segment, start, stop), motion.select(start - first, stop - first))
            return motion
        for start in range(first - first % size, last, size):
            self._store(segment, start)
        return self._storage[segment].select(first, last)

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
        sample = self.source.motion(segment, 0, min(1, self.lengths[segment]))
        left = self.max_bytes // max(count_bytes(sample), 1)
        ends = [0]
        for length in self.lengths:
            # If only a part of a segment fits, it ends with a whole piece.
            count = length if length <= left else left - left % self.piece_length
            ends.append(ends[-1] + count)
            left -= count
        whole = make_empty_motion(sample, ends[-1])
        return tuple(whole.select(first, last) for first, last in pairwise(ends))


def cache_sources(sources: tuple[Source, ...], max_bytes: int = MAX_CACHED_BYTES) -> tuple[Source, ...]:
    """Return the sources with a cache; the cache of each is proportional to its number of samples."""
    samples = [sum(source.lengths) for source in sources]
    total = max(sum(samples), 1)
    return tuple(CachedSource(source, max_bytes * n // total) for source, n in zip(sources, samples, strict=True))

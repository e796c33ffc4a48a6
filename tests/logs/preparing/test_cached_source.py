"""Cached sources: the same motion, prepared once, within the given memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.logs.preparing.motion_sources import ArraySource, CachedSource, Source, cache_sources
from ytheta.logs.preparing.prepared_log import MotionSamples, count_bytes


@dataclass(frozen=True, eq=False)
class CountingSource:
    """A source that notes the requested ranges."""

    source: Source
    requests: list[tuple[int, int, int]] = field(default_factory=list)

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
        self.requests.append((segment, first, last))
        return self.source.motion(segment, first, last)


def assert_same_motion(ours: MotionSamples, theirs: MotionSamples, *, rtol: float = 1e-9) -> None:
    for entry in fields(MotionSamples):
        a, b = getattr(ours, entry.name), getattr(theirs, entry.name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9 * abs(b).max())


def test_motion_is_prepared_once_and_does_not_change() -> None:
    source = known_arm().draw_source(np.random.default_rng(0), 6.0)
    counting = CountingSource(source)
    cached = CachedSource(counting, piece_length=100)
    (length,) = source.lengths
    for first, last in ((0, 100), (30, 250), (length - 7, length), (0, length), (100, 101)):
        assert_same_motion(cached.motion(0, first, last), source.motion(0, first, last))
    assert sorted(counting.requests) == [(0, k, min(k + 100, length)) for k in range(0, length, 100)]
    with pytest.raises(AssertionError):
        assert_same_motion(cached.motion(0, 0, 100), source.motion(0, 1, 101))


def test_samples_beyond_the_memory_are_requested_each_time() -> None:
    source = known_arm().draw_source(np.random.default_rng(0), 6.0)
    counting = CountingSource(source)
    per_sample = count_bytes(source.motion(0, 0, 1))
    cached = CachedSource(counting, max_bytes=250 * per_sample, piece_length=100)
    for _ in range(2):
        assert_same_motion(cached.motion(0, 50, 200), source.motion(0, 50, 200))
        assert_same_motion(cached.motion(0, 150, 300), source.motion(0, 150, 300))
    assert counting.requests.count((0, 150, 250)) == 2  # samples 200 to 299 do not fit
    assert counting.requests.count((0, 0, 100)) == counting.requests.count((0, 100, 200)) == 1


def test_without_memory_motion_is_requested_in_pieces() -> None:
    source = known_arm().draw_source(np.random.default_rng(0), 6.0)
    counting = CountingSource(source)
    cached = CachedSource(counting, max_bytes=0, piece_length=100)
    for _ in range(2):
        assert_same_motion(cached.motion(0, 50, 270), source.motion(0, 50, 270))
    assert counting.requests == 2 * [(0, 50, 150), (0, 150, 250), (0, 250, 270)]


def test_threads_do_not_prepare_a_piece_twice() -> None:
    source = known_arm().draw_source(np.random.default_rng(0), 6.0)
    counting = CountingSource(source)
    cached = CachedSource(counting, piece_length=64)
    (length,) = source.lengths
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: cached.motion(0, 0, length), range(8)))
    for part in parts:
        assert_same_motion(part, parts[0], rtol=0.0)
    assert len(counting.requests) == len(set(counting.requests))


def test_segments_and_sources_share_the_memory() -> None:
    rng = np.random.default_rng(1)
    samples = 90
    q, qd, qdd, tau = rng.normal(size=(4, samples, 2))
    whole = MotionSamples(np.arange(samples) / 100.0, q, qd, qdd, tau, None, np.arange(samples))
    source = ArraySource(whole, 100.0, segments=((0, 40), (45, 45), (50, 90)))
    budget = 60 * count_bytes(whole.select(0, 1))
    for cached in cache_sources((source, source), max_bytes=2 * budget):
        assert isinstance(cached, CachedSource)
        assert cached.max_bytes == budget
    small = CachedSource(source, budget, piece_length=8)
    for segment, length in ((0, 40), (2, 40)):
        assert_same_motion(small.motion(segment, 0, length), source.motion(segment, 0, length), rtol=0.0)

"""Bounds of content compared with its size in the file."""

from __future__ import annotations

from ytheta.logs.reading.sizes.bounds import ExpansionBound


def test_large_content_must_not_be_too_small_in_the_file() -> None:
    bound = ExpansionBound(max_checked_ratio=10, max_unchecked_size=1000)
    assert bound.allows(1000, 0)  # small content may have any ratio
    assert not bound.allows(1001, 0)
    assert bound.allows(5000, 500)
    assert not bound.allows(5001, 500)

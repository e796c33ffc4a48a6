"""Bounds of content compared with its size in the file."""

from __future__ import annotations

import pytest

from ytheta.logs.reading.formats.expansion import ENCODED, RECORDED, ExpansionBound


def test_large_content_must_not_be_too_small_in_the_file() -> None:
    bound = ExpansionBound(max_checked_ratio=10, max_unchecked_size=1000)
    assert bound.allows(1000, 0)  # small content may have any ratio
    assert not bound.allows(1001, 0)
    assert bound.allows(5000, 500)
    assert not bound.allows(5001, 500)


@pytest.mark.parametrize(
    ("bound", "small", "ratio"),
    [(RECORDED, 67_108_864, 100), (ENCODED, 268_435_456, 1000)],
    ids=["recorded", "encoded"],
)
def test_what_logs_may_contain(bound: ExpansionBound, small: int, ratio: int) -> None:
    """Changing these numbers refuses files that are read today, or lets small files take more memory."""
    size_in_file = 10_000_000
    assert bound.allows(small, 1)
    assert not bound.allows(small + 1, 1)
    assert bound.allows(ratio * size_in_file, size_in_file)
    assert not bound.allows(ratio * size_in_file + 1, size_in_file)

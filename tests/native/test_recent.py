"""Values that are found again: which of them are kept."""

from __future__ import annotations

import gc

from ytheta.native.cache import RecentValues


class Value:
    """Something that can be referred to weakly."""


def test_a_value_that_is_found_often_does_not_displace_others() -> None:
    values: RecentValues[Value] = RecentValues(kept=3)
    for key in (b"a", b"b", b"c"):
        values.store(key, Value())
    for _ in range(5):
        assert values.find(b"a") is not None
    values.store(b"d", Value())  # displaces b, which was not used for the longest time
    gc.collect()
    assert [key for key in (b"a", b"b", b"c", b"d") if values.find(key)] == [b"a", b"c", b"d"]


def test_a_used_value_is_found_though_others_are_more_recent() -> None:
    values: RecentValues[Value] = RecentValues(kept=1)
    used = Value()
    values.store(b"a", used)
    values.store(b"b", Value())
    assert values.find(b"a") is used
    assert values.find(b"b") is None  # a is the most recent value again
    values.clear()
    assert values.find(b"a") is None

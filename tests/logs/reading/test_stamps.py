"""Seconds and nanoseconds in two columns are one time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, codes_above_notes
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log

START = 1_700_000_000
NANOSECONDS = np.round(1e9 * ARM_LOG.t).astype(np.int64)
SECONDS, REST = START + NANOSECONDS // 10**9, NANOSECONDS % 10**9
VALUES = {name: values for name, values in ARM_COLUMNS.items() if name != "t"}


@pytest.mark.parametrize(
    ("seconds", "nanoseconds", "prefix"),
    [
        ("sec", "nanosec", ""),
        ("secs", "nsecs", ""),
        ("timestamp_sec", "timestamp_nanosec", ""),
        ("stamp_s", "stamp_ns", ""),
        ("header.stamp.sec", "header.stamp.nanosec", ""),
        ("/js/header/stamp/sec", "/js/header/stamp/nanosec", "/js/"),
        ("data.header.stamp.secs", "data.header.stamp.nsecs", "data."),
    ],
)
def test_seconds_and_nanoseconds_are_joined(seconds: str, nanoseconds: str, prefix: str) -> None:
    values = {prefix + name: column for name, column in VALUES.items()}
    log = read_log({seconds: SECONDS, nanoseconds: REST, **values}, ARM)
    np.testing.assert_allclose(log.t, ARM_LOG.t, atol=1e-9)
    assert not codes_above_notes(log)
    assert log.origin is not None
    assert log.origin.columns[0].column == f"{prefix}time"
    assert not log.origin.unused
    # Columns keep their numbers.
    mapped = read_log({seconds: SECONDS, nanoseconds: REST, **values}, ARM, mapping={"columns": {"q": [2, 3]}})
    np.testing.assert_array_equal(mapped.q, ARM_LOG.q)


def test_another_time_at_the_same_place_comes_first() -> None:
    log = read_log({"header.stamp.sec": SECONDS, "header.stamp.nanosec": REST, "time": 2.0 + ARM_LOG.t, **VALUES}, ARM)
    np.testing.assert_array_equal(log.t, 2.0 + ARM_LOG.t)
    with pytest.raises(InputError, match="no time column"):
        read_log({"sec": SECONDS, "other_nanosec": REST, **VALUES}, ARM)

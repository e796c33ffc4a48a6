"""Times since 1970 in milliseconds, microseconds and nanoseconds are recognized by their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, codes_above_notes
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.reading.mapping import find_epoch_unit
from ytheta.logs.reading.read import read_log

START = 1_772_366_400.0  # s; in March 2026
PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9}


@pytest.mark.parametrize("unit", PER_SECOND)
def test_the_unit_of_times_since_1970(unit: str) -> None:
    log = read_log(ARM_COLUMNS | {"t": (START + ARM_LOG.t) * PER_SECOND[unit]}, ARM)
    np.testing.assert_allclose(log.t - START, ARM_LOG.t, atol=1e-6)
    assert not codes_above_notes(log)
    assert log.origin is not None
    assert log.origin.columns[0].unit == unit
    note = next(finding for finding in log.findings if finding.code == "units")
    assert note.severity is Severity.NOTE
    assert note.fields["unit"] == unit
    # A unit that is given or named is not judged again.
    named = {("t_" + unit if name == "t" else name): values for name, values in ARM_COLUMNS.items()}
    log = read_log(named | {"t_" + unit: (START + ARM_LOG.t) * PER_SECOND[unit]}, ARM)
    np.testing.assert_allclose(log.t - START, ARM_LOG.t, atol=1e-6)
    columns = ARM_COLUMNS | {"t": (START + ARM_LOG.t) * PER_SECOND[unit]}
    with pytest.raises(InputError, match="velocity"):
        read_log(columns, ARM, mapping={"scale": {"t": "s"}}, strict=True)


def test_other_times_are_left_as_they_are() -> None:
    steps = np.arange(100.0)
    assert find_epoch_unit(START + 0.01 * steps) == ""  # seconds
    assert find_epoch_unit(0.01 * steps) == find_epoch_unit(10.0 * steps) == ""
    assert find_epoch_unit(1.7e12 + 4e6 * steps) == ""  # nanoseconds since the start of a computer, 28 minutes ago
    assert find_epoch_unit(np.full(100, 1.7e12)) == find_epoch_unit(np.full(100, np.nan)) == ""
    assert find_epoch_unit(1.7e12 + np.array([np.nan, 0.0, 4.0, 4.0, 8.0])) == "ms"

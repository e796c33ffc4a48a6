"""Log: its representation, and its arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.log_files import ARM_LOG


def test_a_log_is_printed_on_one_line() -> None:
    assert repr(ARM_LOG) == "Log(made: 150 samples, 1.49 s at 100 Hz; q, qd, tau of 2 joints)"
    assert "in 2 segments" in repr(replace(ARM_LOG, segments=((0, 70), (70, 150))))
    empty = replace(ARM_LOG.select_rows(0, 0), source="", qd=None)
    assert repr(empty) == "Log(unnamed: 0 samples, 0 s at 0 Hz; q, tau of 2 joints)"


def test_arrays_are_read_only_views() -> None:
    q = ARM_LOG.q.copy()
    log = replace(ARM_LOG, q=q)
    assert np.shares_memory(log.q, q)
    q[0] = 0.0  # the caller's own array stays writable
    assert log.select_rows(0, 10).q.base is not None
    for array in (log.t, log.q, log.qd, log.tau, log.select_rows(0, 10).q):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0

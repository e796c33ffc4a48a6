"""Recursive filters give the numbers of scipy.signal without importing it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.signal import butter, sosfilt, sosfilt_zi, sosfreqz

from ytheta.logs.preparing import second_order_sections
from ytheta.logs.preparing.second_order_sections import compute_steady_state, design_butterworth, filter_in_place

CUTOFFS = (0.05, 1.0, 6.25, 40.0, 449.0)


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("order", [2, 4, 6])
def test_design_and_steady_state_are_those_of_scipy(order: int, cutoff: float) -> None:
    theirs = butter(order, cutoff, fs=1000.0, output="sos")
    np.testing.assert_allclose(design_butterworth(order, cutoff, 1000.0), theirs, rtol=1e-14)
    np.testing.assert_allclose(compute_steady_state(theirs), sosfilt_zi(theirs), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 3, 5])
def test_odd_orders_have_the_same_gain(order: int) -> None:
    ours, theirs = design_butterworth(order, 40.0, 1000.0), butter(order, 40.0, fs=1000.0, output="sos")
    np.testing.assert_allclose(sosfreqz(ours)[1], sosfreqz(theirs)[1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("public", [False, True])
def test_filtering_is_that_of_scipy(public: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if public:
        monkeypatch.setattr(second_order_sections, "_LOOP", second_order_sections._filter_with_scipy)
    else:
        # The compiled loop was found in this version of SciPy.
        assert second_order_sections._LOOP is not second_order_sections._filter_with_scipy
    rng = np.random.default_rng(0)
    channels, states = rng.normal(size=(3, 500)), rng.normal(size=(3, 2, 2))
    design = design_butterworth(4, 40.0, 1000.0)
    expected, after = sosfilt(design, channels, axis=1, zi=states.swapaxes(0, 1))
    filter_in_place(design, channels, states)
    np.testing.assert_array_equal(channels, expected)
    np.testing.assert_array_equal(states, after.swapaxes(0, 1))


def test_reading_and_preparing_do_not_import_scipy_signal_nor_break_it() -> None:
    code = """
import sys
import ytheta.logs.reading.read, ytheta.logs.preparing.prepared_log, ytheta.logs.checking.repeated_motion
from ytheta.logs.preparing.filters import Lowpass
assert not {"scipy.signal", "scipy.stats", "scipy.optimize"} & set(sys.modules)
import numpy as np
ours = Lowpass(10.0, 100.0).apply(np.arange(50.0))
from scipy.signal import sosfilt
assert sosfilt(Lowpass(10.0, 100.0).sections, np.ones(5)).shape == (5,)
"""
    subprocess.run([sys.executable, "-c", code], check=True)

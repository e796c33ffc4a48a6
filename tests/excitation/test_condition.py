"""Smooth condition numbers of matrices without full rank."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ytheta.excitation.criteria import MIN_EIGENVALUE_RATIO, smooth_log_condition


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_value_without_full_rank_is_bounded_at_any_scale(scale: float) -> None:
    """The bound is relative to the largest eigenvalue, so the unit of the torques does not change the value."""
    value, slopes = smooth_log_condition(scale * np.diag([0.0, 1e-3, 1.0]), 2000.0)
    assert value == pytest.approx(-0.5 * math.log(MIN_EIGENVALUE_RATIO), abs=1e-2)
    assert np.isfinite(slopes).all()

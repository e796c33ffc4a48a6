"""Logarithm of the normal distribution function against SciPy."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from ytheta.identification.model_choice import compute_log_normal_cdf


def test_values_are_those_of_scipy() -> None:
    arguments = np.concatenate([np.linspace(-45.0, 10.0, 551), [-1e150, -1e6, -30.0, -29.999, 0.0, 40.0]])
    values = np.array([compute_log_normal_cdf(x) for x in arguments.tolist()])
    np.testing.assert_allclose(values, log_ndtr(arguments), rtol=1e-12)
    # The twin: without the series, only the leading term remains far below zero.
    assert abs(compute_log_normal_cdf(-40.0) + 0.5 * 40.0**2 + math.log(40.0 * math.sqrt(2.0 * math.pi))) > 1e-4

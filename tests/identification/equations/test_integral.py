"""The integral form: its equations against adaptive quadrature, its quadrature weights, and refused windows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad_vec

from tests.support.form_cases import RATE, negated_momentum_regressor, planar_arm, stacked_rows, weighted_equations
from ytheta.errors import InputError
from ytheta.identification.equations import windows
from ytheta.identification.equations.integral import END_REACH, Integral, compute_quadrature_weights


def test_rows_equal_adaptive_quadrature(monkeypatch: pytest.MonkeyPatch) -> None:
    base, motion = planar_arm()
    window, start = 0.1, END_REACH / RATE
    count = int((len(motion) - 1 - 2 * END_REACH) / (window * RATE))
    ends = [(start + k * window, start + (k + 1) * window) for k in range(count)]
    expected = np.array([quad_vec(weighted_equations(lambda _: 1.0 / window), *each)[0] for each in ends])
    rows = stacked_rows(Integral(base))
    assert len(rows) == len(expected)
    assert len(rows) >= 7
    assert abs(rows - expected).max() < 1e-8 * abs(expected).max()
    monkeypatch.setattr(windows, "momentum_regressor", negated_momentum_regressor)
    assert abs(stacked_rows(Integral(base)) - expected).max() > 1e-2 * abs(expected).max()  # the twin


@pytest.mark.parametrize("steps", [1, 3, 12, 51])
def test_quadrature_is_exact_up_to_degree_9_with_almost_equal_weights(steps: int) -> None:
    weights, t = compute_quadrature_weights(steps), np.arange(-END_REACH, steps + END_REACH + 1) - 0.5 * steps
    half = 0.5 * steps + END_REACH
    for degree in range(10):
        exact = (0.5**degree if degree % 2 == 0 else 0.0) * (steps / half) ** (degree + 1) / (degree + 1)
        assert weights @ (t / half) ** degree / half == pytest.approx(exact, rel=1e-9, abs=1e-13)
    trapezoids = np.where(abs(t) < 0.5 * steps, 1.0, np.where(abs(t) == 0.5 * steps, 0.5, 0.0))  # the twin
    assert trapezoids @ t**2 != pytest.approx(steps**3 / 12.0, rel=1e-5)
    assert np.sum(weights**2) < 1.2 * steps + 0.3


def test_impossible_windows_are_refused() -> None:
    base, _ = planar_arm()
    for window in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="give its length in seconds"):
            Integral(base, window)
    with pytest.raises(InputError, match=r"shorter than the 0\.01 s between samples"):
        Integral(base, 0.004).count_steps(100.0)
    assert list(Integral(base).split(0, 20, RATE, 10)) == []
    assert Integral(base).count_steps(1000.0) == 100
    assert Integral(base).count_steps(80.0) == 12

"""The momentum form: its equations against adaptive quadrature, its corner, and refused corners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad_vec

from tests.support.form_cases import RATE, negated_momentum_regressor, planar_arm, stacked_rows, weighted_equations
from ytheta.errors import InputError
from ytheta.identification.equations import windows
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.momentum import Momentum
from ytheta.logs.preparing.motion_sources import ArraySource


def test_rows_equal_adaptive_quadrature(monkeypatch: pytest.MonkeyPatch) -> None:
    base, motion = planar_arm()
    corner = 10.0
    sigma = np.sqrt(2.0 * np.log(2.0)) / (2.0 * np.pi * corner)
    reach, hop = np.ceil(7.434 * sigma * RATE) / RATE, round(1.5 * sigma * RATE) / RATE
    centers = np.arange(reach, motion.t[-1] - reach + 1e-9, hop)

    def average(center: float) -> np.ndarray:
        def gaussian(t: float) -> float:
            return float(np.exp(-0.5 * ((t - center) / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi)))

        return quad_vec(weighted_equations(gaussian), center - reach, center + reach, epsabs=1e-12)[0]

    expected = np.array([average(center) for center in centers])
    rows = stacked_rows(Momentum(base, corner=corner))
    assert len(rows) == len(expected)
    assert len(rows) >= 7
    assert abs(rows - expected).max() < 1e-8 * abs(expected).max()
    monkeypatch.setattr(windows, "momentum_regressor", negated_momentum_regressor)
    assert abs(stacked_rows(Momentum(base, corner=corner)) - expected).max() > 1e-2 * abs(expected).max()  # the twin


def test_the_gain_at_the_corner_is_one_half() -> None:
    base, motion = planar_arm()
    form = Momentum(base, corner=12.0)
    wave = np.cos(2.0 * np.pi * 12.0 * motion.t)
    source = ArraySource(replace(motion, tau=np.column_stack([wave, np.ones_like(wave)])), RATE)
    tau = np.concatenate([rows.tau for rows in EstimationProblem(form, (source,)).rows()], axis=1)
    span = 2 * int(np.ceil(7.434 * form.compute_width(RATE))) + 1
    center = span // 2 + np.arange(tau.shape[1]) * round(1.5 * form.compute_width(RATE))
    assert np.allclose(tau, [0.5 * wave[center], np.ones(len(center))], rtol=0.0, atol=1e-10)


def test_impossible_corners_are_refused() -> None:
    base, _ = planar_arm()
    with pytest.raises(InputError, match="give a frequency above 0"):
        Momentum(base, 0.0)
    with pytest.raises(InputError, match=r"too high for 100 samples per second; choose at most 12\.5 Hz"):
        Momentum(base, 20.0).compute_width(100.0)

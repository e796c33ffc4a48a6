"""Fourier series and B-splines: derivatives, periods and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.basis_cases import BASES
from ytheta.excitation.trajectories import Basis

STEP = 1e-4  # s


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("order", range(5))
def test_derivatives_agree_with_differences(name: str, order: int) -> None:
    basis: Basis = BASES[name]
    t = np.random.default_rng(1).uniform(0.1, 7.9, 50)
    numeric = (basis.evaluate(t + STEP, order) - basis.evaluate(t - STEP, order)) / (2.0 * STEP)
    exact = basis.evaluate(t, order + 1)
    # The fourth derivative of a spline is piecewise linear, so a difference across a knot is off by its kink.
    assert abs(numeric - exact).max() < 2e-3 * abs(exact).max()
    assert abs(numeric - 1.01 * exact).max() > 5e-3 * abs(exact).max()


@pytest.mark.parametrize("name", BASES)
def test_functions_are_periodic_and_span_constants(name: str) -> None:
    basis: Basis = BASES[name]
    t = np.linspace(0.0, 8.0, 33)
    for order in range(4):
        assert basis.evaluate(t, order) == pytest.approx(basis.evaluate(t + 8.0, order), abs=1e-8)
    assert basis.evaluate(t, 0) != pytest.approx(basis.evaluate(t + 7.9, 0), abs=1e-3)
    constant = np.linalg.lstsq(basis.evaluate(t, 0), np.ones(33), rcond=None)[0]
    assert basis.evaluate(t, 0) @ constant == pytest.approx(np.ones(33), abs=1e-12)
    assert basis.evaluate(t, 1) @ constant == pytest.approx(np.zeros(33), abs=1e-10)


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("order", range(6))
def test_bounds_hold_at_all_times(name: str, order: int) -> None:
    basis: Basis = BASES[name]
    coefficients = np.random.default_rng(2).normal(size=(basis.size, 40))
    largest = abs(basis.evaluate(np.linspace(0.0, 8.0, 4000), order) @ coefficients).max(axis=0)
    bound = basis.bound(coefficients, order)
    assert (largest <= bound * (1.0 + 1e-9)).all()
    assert (largest > 0.2 * bound).all()  # the bound is not useless


@pytest.mark.parametrize("name", BASES)
def test_another_period_changes_derivatives_only(name: str) -> None:
    basis: Basis = BASES[name]
    slow = basis.retime(16.0)
    t = np.linspace(0.0, 8.0, 20)
    for order in range(4):
        assert slow.evaluate(2.0 * t, order) * 2.0**order == pytest.approx(basis.evaluate(t, order), abs=1e-9)


def test_via_points_are_interpolated() -> None:
    basis = BASES["b-spline"]
    assert basis.evaluate(np.arange(11) * 8.0 / 11.0, 0) == pytest.approx(np.eye(11), abs=1e-12)

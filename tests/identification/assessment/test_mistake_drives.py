"""What drives explain, against bounded least squares on the samples themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from ytheta.identification.assessment.mistake_errors import DRIVE_COUNT, DriveEquations, compute_relative_errors

JOINTS, SAMPLES = 3, 200
BOUNDS = ([0.0, 0.0, 0.0, -np.inf], [np.inf] * 4)


def draw_samples(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return drive columns, described torques and recorded torques; some best coefficients are negative."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(JOINTS, SAMPLES, DRIVE_COUNT)) * [1.0, 1.0, 50.0, 1.0]
    columns[:, :, -1] = 1.0
    described = rng.normal(size=(JOINTS, SAMPLES))
    drive = np.einsum("jsc,jc->js", columns, rng.normal(size=(JOINTS, DRIVE_COUNT)) * [1.0, 1.0, 0.02, 1.0])
    return columns, described, (0.7 * described + drive + 0.1 * rng.normal(size=described.shape)).T


def make_equations(columns: np.ndarray, described: np.ndarray, tau: np.ndarray) -> DriveEquations:
    everything = [
        np.column_stack([own, link, tau, np.ones(SAMPLES)]) for own, link in zip(columns, described, strict=True)
    ]
    return DriveEquations(np.stack([each.T @ each for each in everything]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_residuals_are_those_of_bounded_least_squares(seed: int, share: float) -> None:
    columns, described, tau = draw_samples(seed)
    rows = np.column_stack([np.eye(JOINTS), np.zeros(JOINTS)])
    residuals = make_equations(columns, described, tau).compute_residuals(rows, share=share)
    free = np.zeros(JOINTS)
    for j in range(JOINTS):
        target = tau[:, j] - share * described[j]
        assert residuals[j] == pytest.approx(2.0 * lsq_linear(columns[j], target, BOUNDS).cost, rel=1e-8)
        free[j] = np.linalg.lstsq(columns[j], target, rcond=None)[1][0]
    assert (residuals > 1.01 * free).any()  # the twin: without bounds, drives explain more


def test_a_joint_at_rest_and_dependent_columns() -> None:
    columns, described, tau = draw_samples(0)
    columns[0, :, :3] = 0.0
    columns[1, :, 2] = 3.0 * columns[1, :, 0]
    rows = np.column_stack([np.eye(JOINTS), np.zeros(JOINTS)])
    residuals = make_equations(columns, described, tau).compute_residuals(rows, share=0.0)
    assert residuals[0] == pytest.approx(SAMPLES * tau[:, 0].var(), rel=1e-9)
    expected = 2.0 * lsq_linear(columns[1], tau[:, 1], BOUNDS).cost
    assert residuals[1] == pytest.approx(expected, rel=1e-8)


def test_described_scales() -> None:
    columns, described, tau = draw_samples(0)
    scales = make_equations(columns, described, tau).fit_described_scales()
    for j in range(JOINTS):
        x = np.linalg.lstsq(np.column_stack([columns[j], described[j]]), tau[:, j], rcond=None)[0]
        assert scales[j] == pytest.approx(x[-1], rel=1e-8)
    assert scales == pytest.approx(np.full(JOINTS, 0.7), abs=0.05)


def test_a_joint_without_torque_has_no_error() -> None:
    errors = compute_relative_errors(np.array([4.0, -1e-20, 1.0, 1e30]), np.array([1.0, 1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(errors, [2.0, 0.0, 0.0, 1e9])

"""Every criterion: its derivatives against central differences, its value against an independent computation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ytheta as yt
from ytheta.excitation.criteria import (
    CRITERIA,
    Criterion,
    MotionInformation,
    compute_grams,
    compute_std,
    make_criterion,
)
from ytheta.identifiability.base_parameters import BaseParameters

SAMPLES = 60
NOISE = np.array([0.5, 1.0, 0.2, 0.1])


@pytest.fixture(scope="module")
def base() -> BaseParameters:
    return yt.base_parameters(yt.load("lu-puma4"))


@pytest.fixture(scope="module")
def motion(base: BaseParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    q, qd, qdd = (rng.normal(size=(SAMPLES, len(base.robot.actuated))) for _ in range(3))
    return q, qd, qdd


@pytest.fixture(scope="module")
def Y(base: BaseParameters, motion: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    return yt.regressor(base.robot, base)(*motion)


def make(name: str, base: BaseParameters, reference: tuple[float, float] | None = (-9.0, -9.0)) -> Criterion:
    joints = len(base.robot.actuated)
    fisher = MotionInformation(SAMPLES / NOISE[:joints] ** 2, np.zeros((len(base), len(base))))
    return make_criterion(name, base, MotionInformation.unweighted(joints, len(base)), fisher, reference)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("sharpness", [1.0, 8.0])
def test_derivatives_agree_with_differences(name: str, sharpness: float, base: BaseParameters, Y: np.ndarray) -> None:
    criterion = make(name, base)
    _, slopes = criterion.evaluate(compute_grams(Y), sharpness)
    direction = np.random.default_rng(8).normal(size=Y.shape)
    # dG_j = (Y_jᵀ dY_j + dY_jᵀ Y_j) / samples
    predicted = 2.0 / SAMPLES * np.einsum("sjb,jbc,sjc->", Y, slopes, direction)
    sides = [criterion.evaluate(compute_grams(Y + step * direction), sharpness)[0] for step in (1e-5, -1e-5)]
    numeric = (sides[0] - sides[1]) / 2e-5
    assert predicted == pytest.approx(numeric, rel=1e-5)
    assert 1.001 * predicted != pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize("name", CRITERIA)
def test_smooth_values_approach_the_exact_one_from_above(name: str, base: BaseParameters, Y: np.ndarray) -> None:
    criterion, grams = make(name, base), compute_grams(Y)
    exact = criterion.measure(grams)
    values = [criterion.evaluate(grams, sharpness)[0] for sharpness in (2.0, 20.0, 2000.0)]
    assert values[0] >= values[1] >= values[2] >= exact - 1e-6
    assert values[2] == pytest.approx(exact, abs=0.02)


def test_values_are_those_of_the_stacked_regressor(base: BaseParameters, Y: np.ndarray) -> None:
    W, grams = Y.reshape(-1, len(base)), compute_grams(Y)
    assert math.exp(make("plain", base).measure(grams)) == pytest.approx(np.linalg.cond(W), rel=1e-6)
    scaled = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert math.exp(make("scaled", base).measure(grams)) == pytest.approx(scaled, rel=1e-6)
    assert np.linalg.cond(W) > 1.1 * scaled
    weighted = (Y / NOISE[: Y.shape[1], None]).reshape(-1, len(base))
    covariance = np.linalg.inv(weighted.T @ weighted)
    count = len(base)
    assert make("d", base).measure(grams) == pytest.approx(np.linalg.slogdet(covariance)[1] / (2 * count), abs=1e-9)
    assert make("a", base).measure(grams) == pytest.approx(0.5 * math.log(np.trace(covariance) / count), abs=1e-9)
    largest = 0.5 * math.log(np.linalg.eigvalsh(covariance)[-1])
    assert make("e", base).measure(grams) == pytest.approx(largest, abs=1e-4)
    assert make("e", base).measure(grams) != pytest.approx(make("a", base).measure(grams), abs=1e-3)


def test_lin_is_the_largest_condition_number_of_a_joint(
    base: BaseParameters, Y: np.ndarray, motion: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    expected = yt.assess_persistent_excitation(base.robot, motion).condition_number
    assert math.exp(make("lin", base).measure(compute_grams(Y))) == pytest.approx(expected, rel=1e-6)
    assert math.exp(make("lin", base).measure(compute_grams(Y[:20]))) != pytest.approx(expected, rel=1e-3)


def test_the_guard_grows_with_the_distance_from_the_reference(base: BaseParameters, Y: np.ndarray) -> None:
    grams = compute_grams(Y)
    without = make("balanced", base, None).measure(grams)
    log = np.log(MotionInformation(SAMPLES / NOISE[: Y.shape[1]] ** 2, np.zeros((len(base),) * 2)).expect_std(grams))
    at_limit = make("balanced", base, (log.mean() - math.log(1.29), log.max() - math.log(1.29))).measure(grams)
    beyond = make("balanced", base, (log.mean() - math.log(1.6), log.max())).measure(grams)
    assert at_limit == pytest.approx(without, abs=1e-9)
    assert beyond > without + 0.01


def test_information_that_is_missing_gives_infinite_deviations() -> None:
    std = compute_std(np.diag([4.0, 0.0, 1.0]))
    assert std[[0, 2]] == pytest.approx([0.5, 1.0])
    assert np.isinf(std[1])

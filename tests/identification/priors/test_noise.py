"""Noise: how many equations count as one, against dense formulas and against repeated simulations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import toeplitz

from tests.support.known_arm import RATE, known_arm
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalDecomposition
from ytheta.identification.priors.noise import (
    MAX_PIECES,
    MAX_PRODUCT_PIECES,
    Noise,
    compute_mean_inflation,
    estimate_correlation,
    estimate_inflation,
    estimate_variances,
)
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples

SAMPLES = 2000
NOISE_STD = np.array([2.0, 0.3])  # Nm
LAGS = np.arange(SAMPLES)
AUTOCORRELATIONS = {  # of the noise, by lag
    "white": (LAGS == 0).astype(float),
    "first order": 0.9**LAGS,
    "moving average": np.maximum(0.0, 1.0 - LAGS / 12.0),
}


def draw_noise(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Noise of two joints with one of the autocorrelations, by recursion or convolution."""
    drive = rng.normal(size=(SAMPLES + 200, 2))
    if kind == "white":
        noise = drive
    elif kind == "first order":
        noise = np.zeros_like(drive)
        for k in range(1, len(drive)):
            noise[k] = 0.9 * noise[k - 1] + np.sqrt(1.0 - 0.81) * drive[k]
    else:
        noise = np.stack([np.convolve(x, np.ones(12) / np.sqrt(12.0), mode="same") for x in drive.T], axis=1)
    return NOISE_STD * noise[100:-100]


@dataclass(frozen=True, eq=False)
class CountingSource:
    """Motion of an array that counts how many samples were requested."""

    source: ArraySource
    requests: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def rate(self) -> float:
        return self.source.rate

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.source.lengths

    @property
    def has_torque(self) -> bool:
        return True

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        self.requests.append(last - first)
        return self.source.motion(segment, first, last)


@cache
def make_motion(*, smooth: bool) -> MotionSamples:
    """The first samples of the known arm; not smooth: in random order, so that only offsets are correlated in time."""
    motion = known_arm().motion
    rows = np.arange(SAMPLES) if smooth else np.random.default_rng(5).permutation(len(motion.q))[:SAMPLES]
    q, qd, qdd, tau = (array[rows] for array in (motion.q, motion.qd, motion.qdd, known_arm().tau))
    return MotionSamples(motion.t[:SAMPLES], q, qd, qdd, tau, None, np.arange(SAMPLES))


def make_problem(noise: np.ndarray, *, smooth: bool = True, piece_length: int = SAMPLES) -> EstimationProblem:
    motion = make_motion(smooth=smooth)
    assert motion.tau is not None
    source = ArraySource(replace(motion, tau=motion.tau + noise), RATE)
    return EstimationProblem(known_arm().form, (source,), threads=1, piece_length=piece_length)


WEIGHTS = NOISE_STD**-2.0


def solve(problem: EstimationProblem) -> tuple[NormalDecomposition, np.ndarray]:
    equations = problem.normal_equations()
    decomposition = NormalDecomposition.of(equations.matrix(WEIGHTS))
    return decomposition, decomposition.solve(equations.right_side(WEIGHTS))


def estimate(problem: EstimationProblem) -> float:
    """The estimated inflation, averaged over all directions."""
    decomposition, beta = solve(problem)
    inflation = estimate_inflation(problem, estimate_correlation(problem, beta), WEIGHTS, decomposition)
    return compute_mean_inflation(inflation)


@cache
def compute_regressor(*, smooth: bool) -> np.ndarray:
    """Y / std of the noise: (joints, samples, base)."""
    motion = make_motion(smooth=smooth)
    Y = known_arm().form.kernel(motion.q, motion.qd, motion.qdd) / NOISE_STD[:, None]
    return np.asarray(Y.transpose(1, 0, 2))


def compute_covariance(kind: str, *, smooth: bool = True) -> np.ndarray:
    """The exact covariance N⁻¹ Yᵀ Γ Y N⁻¹ of least squares."""
    Y, correlation = compute_regressor(smooth=smooth), toeplitz(AUTOCORRELATIONS[kind])
    inverse = np.linalg.inv(sum(A.T @ A for A in Y))
    return np.asarray(inverse @ sum(A.T @ correlation @ A for A in Y) @ inverse)


def compute_inflation(kind: str, *, smooth: bool = True) -> float:
    """The mean variance of estimates in units of their variance with white noise."""
    N = sum(A.T @ A for A in compute_regressor(smooth=smooth))
    return float(np.trace(N @ compute_covariance(kind, smooth=smooth)) / len(N))


@pytest.mark.parametrize("kind", AUTOCORRELATIONS)
def test_inflation_against_the_exact_sum(kind: str) -> None:
    rng, expected = np.random.default_rng(1), compute_inflation(kind)
    estimates = [estimate(make_problem(draw_noise(kind, rng))) for _ in range(4)]
    # 2000 samples with up to 19 of them as one; four of such estimates have a standard deviation of about 5 %.
    assert np.mean(estimates) == pytest.approx(expected, rel=0.2)
    if kind == "white":
        assert expected == pytest.approx(1.0)
    else:
        assert np.mean(estimates) > 3.0  # the twin: correlated noise is not white


@pytest.mark.parametrize("smooth", [True, False])
def test_information_is_the_inverse_covariance_of_least_squares(smooth: bool) -> None:
    """With the exact correlations: offsets suffer from slow noise, and columns that are white do not."""
    problem = make_problem(draw_noise("first order", np.random.default_rng(2)), smooth=smooth)
    decomposition, _ = solve(problem)
    correlation = np.repeat(AUTOCORRELATIONS["first order"][:200, None], 2, axis=1)
    noise = Noise(NOISE_STD**2, estimate_inflation(problem, correlation, WEIGHTS, decomposition))
    factor = noise.compute_factor(decomposition)
    std = np.sqrt(np.diag(np.linalg.inv(factor @ factor.T)))
    expected = np.sqrt(np.diag(compute_covariance("first order", smooth=smooth)))
    # No direction has less noise than with white residuals: some deviations are too large, but none is too small.
    assert (std > 0.99 * expected).all()
    assert np.median(std / expected) < 1.1
    if not smooth:
        white = np.sqrt(np.diag(compute_covariance("white", smooth=smooth)))
        ratios = dict(zip(known_arm().form.base.independent, std / white, strict=True))
        assert min(ratios["joint1.fo"], ratios["joint2.fo"]) > 1.5
        assert max(ratios["joint1.fv"], ratios["joint2.fv"]) < 1.2  # the twin: the same noise beside a white column


def test_inflation_is_the_variance_of_repeated_estimates() -> None:
    """300 draws of noise: their variances are those of the estimated information."""
    rng, Y = np.random.default_rng(3), compute_regressor(smooth=True)
    inverse = np.linalg.inv(sum(A.T @ A for A in Y))
    errors = [
        inverse
        @ sum(A.T @ noise for A, noise in zip(Y, (draw_noise("moving average", rng) / NOISE_STD).T, strict=True))
        for _ in range(300)
    ]
    problem = make_problem(draw_noise("moving average", rng))
    decomposition, beta = solve(problem)
    inflation = estimate_inflation(problem, estimate_correlation(problem, beta), WEIGHTS, decomposition)
    factor = Noise(NOISE_STD**2, inflation).compute_factor(decomposition)
    ratios = np.std(errors, axis=0) / np.sqrt(np.diag(np.linalg.inv(factor @ factor.T)))
    np.testing.assert_allclose(ratios, 1.0, atol=0.25)
    white = np.std(errors, axis=0) / np.sqrt(np.diag(inverse))
    assert np.median(white) > 1.5  # the twin: without correlations, deviations are too small


def test_the_correlation_is_that_of_the_noise() -> None:
    problem = make_problem(draw_noise("first order", np.random.default_rng(7)))
    correlation = estimate_correlation(problem, known_arm().beta)
    np.testing.assert_array_equal(correlation[0], 1.0)
    np.testing.assert_allclose(correlation[:6], 0.9 ** np.arange(6)[:, None] * np.ones(2), atol=0.1)
    assert not correlation[150:].any()  # the sum ends where only noise is left


def test_the_cost_does_not_depend_on_the_length_of_the_log() -> None:
    problem = make_problem(draw_noise("white", np.random.default_rng(4)), piece_length=10)
    (source,) = problem.sources
    assert isinstance(source, ArraySource)
    counting = CountingSource(source)
    counted = replace(problem, sources=(counting,))
    decomposition, beta = solve(counted)
    assert len(counting.requests) == SAMPLES // 10 > MAX_PIECES + MAX_PRODUCT_PIECES
    counting.requests.clear()
    correlation = estimate_correlation(counted, beta)
    assert len(counting.requests) <= MAX_PIECES
    estimate_inflation(counted, correlation, WEIGHTS, decomposition)
    assert len(counting.requests) <= MAX_PIECES + MAX_PRODUCT_PIECES


def test_variances() -> None:
    problem = make_problem(draw_noise("white", np.random.default_rng(6)))
    equations, beta = problem.normal_equations(), known_arm().beta
    variances = estimate_variances(equations, beta, np.zeros(2), 1.0)
    np.testing.assert_allclose(np.sqrt(variances), NOISE_STD, rtol=0.05)
    residual = equations.residual_squares(beta)
    np.testing.assert_allclose(
        estimate_variances(equations, beta, np.array([10.0, 20.0]), 5.0), residual / [1950.0, 1900.0]
    )
    # At least a fifth of the equations remains.
    np.testing.assert_allclose(estimate_variances(equations, beta, np.full(2, 30.0), 100.0), residual / 400.0)


def test_weights() -> None:
    noise = Noise(np.array([4.0, 0.0, 0.5]), np.diag([1.0, 3.0]))
    np.testing.assert_allclose(noise.weights, [0.25, 0.0, 2.0])
    assert compute_mean_inflation(noise.inflation) == 2.0

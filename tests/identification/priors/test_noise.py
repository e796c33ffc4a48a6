"""Noise: the number of equations that count as one, against dense formulas and against repeated simulations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import toeplitz

from tests.support.known_arm import RATE, known_arm
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.priors.noise import MAX_PIECES, Noise, estimate_inflation, estimate_variances
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


def estimate(problem: EstimationProblem) -> float:
    weights = NOISE_STD**-2.0
    equations = problem.normal_equations()
    decomposition = NormalDecomposition.of(equations.matrix(weights))
    beta = decomposition.solve(equations.right_side(weights))
    return estimate_inflation(problem, beta, weights, decomposition)


@cache
def compute_whitened_regressor(*, smooth: bool) -> np.ndarray:
    """Y / std of the noise, times N^-½: (joints, samples, base)."""
    motion = make_motion(smooth=smooth)
    Y = known_arm().form.kernel(motion.q, motion.qd, motion.qdd) / NOISE_STD[:, None]
    root = np.linalg.cholesky(np.linalg.inv(np.einsum("sja,sjb->ab", Y, Y)))
    return np.asarray((Y @ root).transpose(1, 0, 2))


def compute_inflation(kind: str, *, smooth: bool = True) -> float:
    """tr(N^-½ Yᵀ Γ Y N^-½) / base: the exact mean variance of estimates relative to that with white noise."""
    whitened, correlation = compute_whitened_regressor(smooth=smooth), toeplitz(AUTOCORRELATIONS[kind])
    return float(sum(np.sum(A * (correlation @ A)) for A in whitened) / whitened.shape[2])


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


def test_correlated_noise_matters_only_beside_correlated_columns() -> None:
    rng = np.random.default_rng(2)
    expected = compute_inflation("first order", smooth=False)
    estimates = [estimate(make_problem(draw_noise("first order", rng), smooth=False)) for _ in range(4)]
    # Only the two offsets are correlated in time. Of so few directions, eight probes find the trace to about half.
    assert np.mean(estimates) == pytest.approx(expected, rel=0.5)
    assert expected < 0.3 * compute_inflation("first order")  # the twin: the same noise beside smooth columns


def test_inflation_is_the_variance_of_repeated_estimates() -> None:
    """300 draws of noise: the variance of N^½ (beta - truth) is c, with a relative error of about 3 %."""
    rng, whitened = np.random.default_rng(3), compute_whitened_regressor(smooth=True)
    errors = []
    for _ in range(300):
        noise = draw_noise("moving average", rng) / NOISE_STD
        errors.append(sum(A.T @ noise[:, j] for j, A in enumerate(whitened)))
    variance = float(np.mean(np.square(errors)))
    assert variance == pytest.approx(compute_inflation("moving average"), rel=0.15)
    estimates = [estimate(make_problem(draw_noise("moving average", rng))) for _ in range(4)]
    assert np.mean(estimates) == pytest.approx(variance, rel=0.25)


def test_the_cost_does_not_depend_on_the_length_of_the_log() -> None:
    problem = make_problem(draw_noise("white", np.random.default_rng(4)), piece_length=10)
    (source,) = problem.sources
    assert isinstance(source, ArraySource)
    counting = CountingSource(source)
    counted = replace(problem, sources=(counting,), _block_equations={})
    equations = counted.normal_equations()
    assert len(counting.requests) == SAMPLES // 10 > MAX_PIECES
    counting.requests.clear()
    weights = NOISE_STD**-2.0
    decomposition = NormalDecomposition.of(equations.matrix(weights))
    beta = decomposition.solve(equations.right_side(weights))
    estimate_inflation(counted, beta, weights, decomposition)
    assert len(counting.requests) <= MAX_PIECES


def test_no_information_gives_one() -> None:
    problem = make_problem(draw_noise("white", np.random.default_rng(4)))
    decomposition = NormalDecomposition.of(problem.normal_equations().matrix(NOISE_STD**-2.0))
    assert estimate_inflation(problem, known_arm().beta, np.zeros(2), decomposition) == 1.0


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
    np.testing.assert_allclose(Noise(np.array([4.0, 0.0, 0.5]), 2.0).weights, [0.125, 0.0, 1.0])

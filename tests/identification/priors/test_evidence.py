"""Evidence and posterior against dense formulas, also if data or prior are extremely strong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, t

from tests.support.evidence_cases import compute_dense_posterior, draw_evidence, make_posterior
from ytheta.identification.priors.evidence import DataInformation, Evidence, IdentityFactor, Posterior
from ytheta.identification.priors.prior import Family

HYPER = np.array([-0.7, 0.4, -1.2])
SEEDS = range(4)


def compute_dense_evidence(evidence: Evidence, hyper: np.ndarray) -> float:
    """log N(beta_hat; K mean, N⁻¹ + K A S² Aᵀ Kᵀ) and the density of the hyperparameters, without constants."""
    factor, prior = evidence.information.factor, evidence.prior
    N = factor @ factor.T
    effect = evidence.K @ prior.axes * np.exp(prior.offset + prior.design @ hyper)
    distribution = multivariate_normal(evidence.K @ prior.mean, np.linalg.inv(N) + effect @ effect.T)
    without_prior = multivariate_normal(np.zeros(len(N)), np.linalg.inv(N))
    own = 0.0
    for h, each in zip(hyper, prior.hyper, strict=True):
        distance = (h - each.mean) / each.std
        heavy = t(1.0 / each.tail) if each.tail else None
        own += heavy.logpdf(distance) - heavy.logpdf(0.0) if heavy else -0.5 * distance**2
    value = distribution.logpdf(evidence.information.beta) - without_prior.logpdf(np.zeros(len(N)))
    return float(value + own)


@pytest.mark.parametrize("seed", SEEDS)
def test_value_is_the_density_of_the_estimate(seed: int) -> None:
    evidence = draw_evidence(seed)
    for hyper in (HYPER, HYPER + 1.0, HYPER - 2.0):
        assert evidence.compute(hyper)[0] == pytest.approx(compute_dense_evidence(evidence, hyper), rel=1e-9)
    other = replace(evidence, prior=replace(evidence.prior, mean=evidence.prior.mean + 0.1))
    assert other.compute(HYPER)[0] != pytest.approx(compute_dense_evidence(evidence, HYPER), rel=1e-3)  # the twin


def with_tails(evidence: Evidence, *tails: float) -> Evidence:
    hyper = tuple(replace(each, tail=tail) for each, tail in zip(evidence.prior.hyper, tails, strict=True))
    return replace(evidence, prior=replace(evidence.prior, hyper=hyper))


@pytest.mark.parametrize("seed", SEEDS)
def test_heavy_tails_are_those_of_student(seed: int) -> None:
    evidence = draw_evidence(seed)
    heavy = with_tails(evidence, 0.0, 1.0, float(np.random.default_rng(seed).uniform(0.1, 0.9)))
    for hyper in (HYPER, HYPER + 3.0):
        assert heavy.compute(hyper)[0] == pytest.approx(compute_dense_evidence(heavy, hyper), rel=1e-9)
        assert heavy.compute(hyper)[0] != pytest.approx(evidence.compute(hyper)[0], rel=1e-3)  # the twin
    assert heavy.compute(HYPER + 3.0)[0] > evidence.compute(HYPER + 3.0)[0] + 1.0  # far away, it allows more


def test_hyperparameters_stay_within_their_bounds() -> None:
    evidence = draw_evidence(1)
    free = evidence.maximize().hyper
    for k in range(len(free)):
        own, lower, upper = evidence.prior.hyper[k], float(free[k]) - 0.3, float(free[k]) + 0.3
        for bounded, bound in ((replace(own, maximum=lower), lower), (replace(own, minimum=upper), upper)):
            hyper = (*evidence.prior.hyper[:k], bounded, *evidence.prior.hyper[k + 1 :])
            found = replace(evidence, prior=replace(evidence.prior, hyper=hyper)).maximize().hyper
            assert found[k] == pytest.approx(bound)


def compute_numerical_gradient(evidence: Evidence, hyper: np.ndarray, step: float = 1e-5) -> np.ndarray:
    steps = step * np.eye(len(hyper))
    return np.array([(evidence.compute(hyper + s)[0] - evidence.compute(hyper - s)[0]) / (2.0 * step) for s in steps])


@pytest.mark.parametrize("tails", [(0.0, 0.0, 0.0), (0.0, 1.0, 0.4)])
@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_against_finite_differences(seed: int, tails: tuple[float, ...]) -> None:
    evidence = with_tails(draw_evidence(seed, rank=5), *tails)
    for hyper in (HYPER, HYPER + 2.0, HYPER - 3.0):
        value, gradient, _ = evidence.compute(hyper)
        numerical = compute_numerical_gradient(evidence, hyper)
        np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-6 * max(1.0, abs(value)))
        with pytest.raises(AssertionError):  # the twin: a factor of two, as if scales were their squares
            np.testing.assert_allclose(0.5 * gradient, numerical, rtol=1e-3)


@pytest.mark.parametrize("tails", [(0.0, 0.0, 0.0), (0.0, 1.0, 0.4)])
@pytest.mark.parametrize("seed", SEEDS)
def test_second_derivatives_against_finite_differences(seed: int, tails: tuple[float, ...]) -> None:
    evidence = with_tails(draw_evidence(seed, rank=5), *tails)
    step = 1e-5
    for hyper in (HYPER, HYPER + 2.0, HYPER - 3.0):
        curvature = evidence.compute(hyper)[2]
        steps = step * np.eye(len(hyper))
        differences = [evidence.compute(hyper + s)[1] - evidence.compute(hyper - s)[1] for s in steps]
        numerical = np.array(differences) / (2.0 * step)
        np.testing.assert_allclose(curvature, numerical, rtol=1e-6, atol=1e-6 * max(1.0, abs(curvature).max()))
        with pytest.raises(AssertionError):  # the twin: without the products of different scales
            np.testing.assert_allclose(np.diag(np.diag(curvature)), numerical, rtol=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_posterior_is_that_of_bayesian_regression(seed: int) -> None:
    evidence = draw_evidence(seed)
    posterior = make_posterior(evidence, HYPER)
    np.testing.assert_allclose(posterior.scales, evidence.prior.compute_scales(HYPER))
    mean, covariance = compute_dense_posterior(posterior)
    np.testing.assert_allclose(posterior.theta, mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(posterior.theta_std, np.sqrt(np.diag(covariance)), rtol=1e-8)
    np.testing.assert_allclose(posterior.beta, evidence.K @ mean, rtol=1e-9, atol=1e-10)
    change = evidence.information.beta - evidence.prior_beta
    np.testing.assert_allclose(posterior.gain @ change, posterior.beta - evidence.prior_beta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(posterior.theta_std, np.sqrt(np.diag(covariance)), rtol=1e-7, atol=1e-10)
    twin, _ = compute_dense_posterior(make_posterior(evidence, HYPER + 0.5))
    assert abs(posterior.theta - twin).max() > 1e-3


def test_maximum_is_not_below_that_of_a_grid() -> None:
    for seed in SEEDS:
        evidence = draw_evidence(seed)
        best = evidence.maximize()
        grid = np.stack(np.meshgrid(*[np.linspace(-5.0, 3.0, 13)] * 3), axis=-1).reshape(-1, 3)
        highest = max(evidence.compute(hyper)[0] for hyper in grid)
        assert evidence.compute(best.hyper)[0] >= highest - 1e-6
        inside = abs(best.hyper - [each.mean for each in evidence.prior.hyper]) < 8.9
        np.testing.assert_allclose(evidence.compute(best.hyper)[1][inside], 0.0, atol=1e-2)


def integrate(evidence: Evidence) -> float:
    """log of the integral of Z over the distribution of a single hyperparameter, by quadrature."""
    (hyper,) = evidence.prior.hyper
    grid = hyper.mean + hyper.std * np.linspace(-10.0, 10.0, 1001)
    values = np.array([evidence.compute(np.array([h]))[0] for h in grid])
    density = values - np.log(hyper.std * np.sqrt(2.0 * np.pi))
    return float(density.max() + np.log(np.exp(density - density.max()).sum() * (grid[1] - grid[0])))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_a_model_is_integrated_over_its_hyperparameters(seed: int) -> None:
    """Laplace's approximation is good to a fraction of one, although these distributions are far from normal."""
    evidence = draw_evidence(seed)
    prior = evidence.prior.with_scale(Family.LINK, 0.5).without([Family.FLAT])
    wide = replace(prior, hyper=(replace(prior.hyper[0], std=5.0),))  # the peak is high above the prior's own density
    posterior = replace(evidence, prior=wide).maximize()
    expected = integrate(posterior.evidence)
    assert posterior.log_evidence == pytest.approx(expected, abs=0.5)
    peak = posterior.evidence.compute(posterior.hyper)[0]
    assert abs(peak - expected) > 2.0 * abs(posterior.log_evidence - expected)  # the twin: the peak alone


def test_scales_are_means_over_uncertain_hyperparameters() -> None:
    """The variance of a coordinate is E[s²] of log-normal scales, here by sampling."""
    evidence = draw_evidence()
    covariance = np.array([[0.3, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.0, 0.1]])
    posterior = Posterior(evidence, HYPER, covariance)
    samples = np.random.default_rng(0).multivariate_normal(HYPER, covariance, size=200_000)
    scales = np.exp(evidence.prior.offset + samples @ evidence.prior.design.T)
    np.testing.assert_allclose(posterior.scales, np.sqrt(np.mean(scales**2, axis=0)), rtol=0.03)
    assert not np.allclose(posterior.scales[:5], evidence.prior.compute_scales(HYPER)[:5], rtol=0.2)  # the twin


def test_the_covariance_of_hyperparameters_is_the_inverse_curvature() -> None:
    evidence = draw_evidence(1)
    hyper = evidence.maximize().hyper
    step = 1e-3
    steps = step * np.eye(3)
    curvature = -np.array(
        [(evidence.compute(hyper + s)[1] - evidence.compute(hyper - s)[1]) / (2.0 * step) for s in steps]
    )
    values = np.linalg.eigvalsh(0.5 * (curvature + curvature.T))
    covariance = evidence.compute_hyper_covariance(hyper)
    # Nothing is less certain than the widest of the hyperparameters' own distributions.
    floor = min(each.std**-2.0 for each in evidence.prior.hyper)
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance), np.sort(1.0 / np.maximum(values, floor)), rtol=1e-3)


def test_a_search_can_start_from_a_similar_model() -> None:
    evidence = draw_evidence(2)
    best = evidence.maximize()
    again = evidence.maximize(best.hyper_by_name)
    np.testing.assert_allclose(again.hyper, best.hyper, atol=1e-3)
    assert set(best.hyper_by_name) == {each.name for each in evidence.prior.hyper}


def test_a_prior_without_hyperparameters_needs_no_search() -> None:
    evidence = draw_evidence()
    fixed = evidence.prior.with_scale(Family.LINK, 0.2).with_scale(Family.ROTOR, 0.1)
    posterior = replace(evidence, prior=fixed).maximize()
    assert posterior.hyper.shape == (0,)
    mean, _ = compute_dense_posterior(posterior)
    np.testing.assert_allclose(posterior.theta, mean, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("strength", [1e7, 1e-7])
def test_extremely_strong_and_weak_data(strength: float) -> None:
    evidence = draw_evidence(strength=strength)
    for hyper in (HYPER, HYPER + 9.0, HYPER - 9.0):
        posterior = make_posterior(evidence, hyper)
        value, gradient, curvature = evidence.compute(hyper)
        assert np.isfinite([value, *gradient, *curvature.ravel(), *posterior.theta, *posterior.theta_std]).all()
        assert (posterior.theta_std <= np.linalg.norm(evidence.prior.axes * posterior.scales, axis=1)).all()
    expected = evidence.information.beta if strength > 1.0 else evidence.prior_beta
    np.testing.assert_allclose(make_posterior(evidence, HYPER).beta, expected, rtol=1e-8, atol=1e-8)
    other = evidence.prior_beta if strength > 1.0 else evidence.information.beta
    assert abs(make_posterior(evidence, HYPER).beta - other).max() > 0.1  # the twin


def test_accuracy_beside_strong_data() -> None:
    """The gain is the identity to 1e-12 if the data are 1e10 times as precise as the prior."""
    evidence = draw_evidence(strength=1e10)
    np.testing.assert_allclose(make_posterior(evidence, HYPER).gain, np.eye(6), atol=1e-10)
    flat = HYPER + np.array([9.0, 0.0, 9.0])
    np.testing.assert_allclose(make_posterior(evidence, flat).beta, evidence.information.beta, rtol=1e-12)


@pytest.mark.parametrize("rank", [0, 2, 5])
def test_directions_without_data_keep_the_prior(rank: int) -> None:
    evidence = draw_evidence(rank=rank)
    posterior = evidence.maximize()
    mean, covariance = compute_dense_posterior(posterior)
    np.testing.assert_allclose(posterior.theta, mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(posterior.theta_std, np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert np.linalg.matrix_rank(posterior.gain, tol=1e-9) == rank
    if not rank:
        np.testing.assert_allclose(posterior.theta, evidence.prior.mean, atol=1e-12)
        np.testing.assert_allclose(posterior.hyper[:2], [each.mean for each in evidence.prior.hyper[:2]], atol=1e-3)


def test_half_inverse_of_parameters_of_different_size() -> None:
    rng = np.random.default_rng(2)
    sizes = np.array([1e-6, 1.0, 1e6, 1e3])[:, None]
    information = DataInformation(np.zeros(4), sizes * rng.normal(size=(4, 4)))
    np.testing.assert_allclose(information.half_inverse.T @ information.factor, np.eye(4), atol=1e-9)


def test_the_identity_is_not_lost_to_rounding() -> None:
    GS = np.array([[1e12, 0.0, 0.0], [0.0, 1e-12, 0.0]])
    np.testing.assert_allclose(abs(np.diag(IdentityFactor.of(GS).R)), [1e12, 1.0], rtol=1e-12)
    rng = np.random.default_rng(0)
    GS = rng.normal(size=(3, 5))
    factor = IdentityFactor.of(GS)
    np.testing.assert_allclose(factor.R.T @ factor.R, np.eye(3) + GS @ GS.T, atol=1e-12)
    np.testing.assert_allclose(factor.inverse, np.linalg.inv(factor.R), atol=1e-12)
    np.testing.assert_allclose(factor.Q, GS.T @ np.linalg.inv(factor.R), atol=1e-12)
    assert abs(factor.Q - GS.T).max() > 0.1  # the twin

"""Empirical Bayes: with much data the estimate is that of weighted least squares; with poor motion the prior helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.known_arm import RATE, known_arm
from tests.support.wrong_descriptions import simulate_case
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import Weighted
from ytheta.identification.priors.prior import PriorSettings
from ytheta.logs.preparing.motion_sources import ArraySource

NOISE = np.array([2.0, 0.3])  # Nm


def make_problem(*, repetitions: int = 1, noise: float = 1.0, seed: int = 0) -> EstimationProblem:
    """Short motion of the known arm, with bodies that are not those described and new noise each time."""
    arm = known_arm()
    short = arm.motion.select(0, 300)
    assert short.tau is not None
    rng = np.random.default_rng(seed)
    inertial = short.tau + 0.2 * arm.form.kernel(short.q, short.qd, short.qdd)[:, :, :4].sum(axis=2)
    sources = tuple(
        ArraySource(replace(short, tau=inertial + noise * NOISE * rng.normal(size=inertial.shape)), RATE)
        for _ in range(repetitions)
    )
    return EstimationProblem(arm.form, sources, threads=1)


def compute_prior_share(problem: EstimationProblem) -> tuple[float, float]:
    """Mean share of the prior in the estimate, and the RMS torque between it and least squares, in units of NOISE."""
    estimate, plain = EmpiricalBayes().fit(problem), Weighted().fit(problem)
    assert estimate.posterior is not None
    share = 1.0 - np.trace(estimate.posterior.gain) / len(estimate.beta)
    change, equations = estimate.beta - plain.beta, problem.normal_equations()
    squares = change @ equations.matrix(NOISE**-2.0) @ change / equations.counts.sum()
    return float(share), float(np.sqrt(squares))


@pytest.mark.parametrize("growth", ["repetitions", "noise"])
def test_the_weight_of_the_prior_goes_to_zero(growth: str) -> None:
    # Distances of single logs are random; those of three logs decide.
    seeds = range(3)
    problems = {
        "repetitions": [[make_problem(repetitions=count, seed=seed) for seed in seeds] for count in (1, 16, 256)],
        "noise": [[make_problem(noise=factor, seed=seed) for seed in seeds] for factor in (1.0, 0.25, 0.01)],
    }[growth]
    shares, distances = np.mean([[compute_prior_share(each) for each in row] for row in problems], axis=1).T
    assert shares[0] > 0.05
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.2 * shares[0]
    assert distances[2] < 0.1 * distances[0]
    # The twin: a prior of fixed infinite strength would not let go.
    fixed = EmpiricalBayes(PriorSettings(strength=1e6)).fit(problems[2][0])
    assert fixed.posterior is not None
    assert 1.0 - np.trace(fixed.posterior.gain) / len(fixed.beta) > 3.0 * shares[2]


def test_a_flat_prior_gives_least_squares() -> None:
    problem = make_problem()
    flat, plain = EmpiricalBayes(PriorSettings(flat=True)).fit(problem), Weighted().fit(problem)
    std = np.sqrt(np.diag(plain.covariance(NOISE**2)))
    assert np.linalg.norm((flat.beta - plain.beta) / std) < 0.1
    strong = EmpiricalBayes(PriorSettings(strength=50.0)).fit(problem)
    assert np.linalg.norm((strong.beta - plain.beta) / std) > 1.0  # the twin


def test_the_spread_is_that_of_noise_and_prior() -> None:
    """The noise leaves T N⁻¹ Tᵀ, and the prior (1 - T) K Sigma Kᵀ (1 - T)ᵀ."""
    problem = make_problem()
    estimate: Estimate = EmpiricalBayes().fit(problem)
    posterior = estimate.posterior
    assert posterior is not None
    assert estimate.prior_spread is not None
    rest = np.eye(len(estimate.beta)) - posterior.gain
    effect = posterior.evidence.K @ posterior.prior.axes * posterior.scales
    np.testing.assert_allclose(estimate.prior_spread, rest @ effect @ effect.T @ rest.T, atol=1e-10)
    # Noise and prior together are the posterior covariance of the model, here by its own formula.
    factor = posterior.evidence.information.factor
    N = factor @ factor.T
    expected = np.linalg.inv(N + np.linalg.inv(effect @ effect.T))
    data = posterior.gain @ np.linalg.inv(N) @ posterior.gain.T
    np.testing.assert_allclose(data + estimate.prior_spread, expected, rtol=1e-6, atol=1e-9)


def test_unknown_geometry_has_no_prior() -> None:
    arm = known_arm()
    fit = yt.identify(yt.load("lu-two-link"), arm.log(), unknown_geometry=True)
    plain = yt.identify(yt.load("lu-two-link"), arm.log(), unknown_geometry=True, estimator="weighted")
    np.testing.assert_allclose(fit.beta, plain.beta, rtol=1e-9)
    assert any("there is no prior" in finding.statement for finding in fit.findings)


def test_the_prior_helps_on_new_motion_after_poor_motion() -> None:
    """A UR10 whose description is off by 20 %: at least twice as good on average, and never clearly worse."""
    ratios = []
    for seed in range(4):
        case = simulate_case("ur10", seed, rich=False)
        with_prior, without = (
            yt.identify(case.description, case.fit, validate=case.validation, **options)
            for options in ({"rotor_inertia": False}, {"estimator": "weighted"})
        )
        percents = [fit.consistency_cost.validation_estimate_percent for fit in (with_prior, without)]  # type: ignore[union-attr]
        ratios.append(percents[0] / percents[1])  # type: ignore[operator]
    assert max(ratios) < 1.05
    assert np.exp(np.mean(np.log(ratios))) < 0.5

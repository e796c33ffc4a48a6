"""The evidence of an interpretation, against its definition on the samples themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import multivariate_normal

from tests.support.diagnosis_runs import Run, simulate_run
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment import interpretation as interpretation_module
from ytheta.identification.assessment.interpretation import (
    DEVIATION_STD,
    LINK_DEVIATION_STD,
    MIN_ERROR,
    Interpretation,
    compute_correlation_times,
)
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.preparing.motion_sources import ArraySource


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate_run("lu-two-link", friction=1.0)


def interpret(run: Run) -> Interpretation:
    form = Differential(base_parameters(run.robot, friction=run.friction))
    return Interpretation.of(EstimationProblem(form, (ArraySource(run.motion, run.rate),)))


def compute_evidence(interpretation: Interpretation, signs: np.ndarray) -> float:
    """Return log N(tau; Y mean, noise + Y C Yᵀ) with the noise and the deviations of the fit, up to constants."""
    fit = interpretation.equations.fit(np.diag(signs))
    expected, samples = interpretation.expectation, interpretation.samples
    tau, counts = samples.tau * signs, interpretation.counts
    axes = expected.links * np.exp(expected.design @ fit.deviations)
    C = axes @ axes.T + expected.drives @ expected.drives.T
    rows, targets, variances = [], [], []
    value = 0.0
    for j, (columns, values) in enumerate(interpretation.compute_rows(samples)):
        Y = np.zeros((values.shape[1], len(expected.mean)))
        Y[:, columns] = values.T
        residual, variation = tau[:, j] - Y @ fit.beta, len(tau) * tau[:, j].var()
        Q = residual @ residual + MIN_ERROR**2 * variation
        variance = Q / counts[j]  # of one equation, if n of N are independent
        rows.append(Y)
        targets.append(tau[:, j])
        variances.append(np.full(len(tau), variance))
        # The definition counts n equations with the noise of the residuals; the normal distribution counts all of them.
        value += 0.5 * (residual @ residual) / variance + 0.5 * len(tau) * np.log(2.0 * np.pi * variance)
        value -= 0.5 * counts[j] * np.log(Q / variation)
    Y, target, noise = np.concatenate(rows), np.concatenate(targets), np.concatenate(variances)
    covariance = np.diag(noise) + Y @ C @ Y.T
    value += float(multivariate_normal(Y @ expected.mean, covariance).logpdf(target))
    A = np.linalg.inv(C) + Y.T @ (Y / noise[:, None])
    friction = interpretation.equations.friction
    std = np.sqrt(np.einsum("fk,kl,fl->f", friction, np.linalg.inv(A), friction))
    value += float(log_ndtr(friction @ fit.beta / std).sum())
    stds = np.array([DEVIATION_STD, *[LINK_DEVIATION_STD] * (len(fit.deviations) - 1)])
    return value - 0.5 * float(np.sum((fit.deviations / stds) ** 2))


@pytest.mark.parametrize("signs", [(1.0, 1.0), (1.0, -1.0)])
def test_the_evidence_is_that_of_a_normal_distribution_of_all_torques(
    run: Run, signs: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpretation_module, "ROUNDS", 60)  # the definition holds for noise that no longer changes
    motion = run.motion.select(0, 400)
    interpretation = interpret(replace(run, motion=motion))
    fit = interpretation.equations.fit(np.diag(signs))
    # Noise and parameters of a wrong interpretation are not fully converged; 18 decide.
    assert fit.log_evidence == pytest.approx(compute_evidence(interpretation, np.array(signs)), rel=0.0, abs=2.0)


def test_the_evidence_does_not_depend_on_the_unit_of_torques_without_masses(run: Run) -> None:
    """The twin: the described masses tell the unit."""
    interpretation = interpret(run)
    described = interpretation.fit.log_evidence - interpretation.equations.fit(1e3 * np.eye(2)).log_evidence
    assert described > 20.0
    free = replace(
        interpretation.expectation,
        mean=0.0 * interpretation.expectation.mean,
        links=np.zeros((len(interpretation.expectation.mean), 0)),
        bodies=np.zeros((0, 0)),
        drives=np.diag(np.sqrt(np.einsum("jkk->jk", interpretation.equations.gram).max(axis=0)) ** -1.0),
        drive_joints=np.einsum("jkk->jk", interpretation.equations.gram).argmax(axis=0),
    )
    equations = replace(interpretation, expectation=free).equations
    assert equations.fit(np.eye(2)).log_evidence == pytest.approx(equations.fit(1e3 * np.eye(2)).log_evidence, abs=0.5)


def test_correlated_residuals_count_less() -> None:
    rng = np.random.default_rng(0)
    white = rng.normal(size=(4000, 1))
    slow = np.convolve(white[:, 0], np.ones(20), mode="same")[:, None]
    assert compute_correlation_times(white)[0] == pytest.approx(1.0, abs=0.3)
    assert compute_correlation_times(slow)[0] == pytest.approx(20.0, rel=0.3)

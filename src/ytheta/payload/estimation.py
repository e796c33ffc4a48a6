"""Estimation of a payload from the equations of logs: noise and payload in turn, until both agree.

The noise of the equations is that of ``identification.priors.noise``: variances per joint, and for every direction the
number of correlated equations that count as one. It is estimated from the residuals of the posterior, so that torques
that neither a payload nor the errors of the model explain make the standard deviations larger.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ytheta.identification.equations.cached_source import cache_sources
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import Source
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.least_squares import compute_spread, refine, solve_weighted
from ytheta.identification.estimators.weighted import MIN_RELATIVE_RESIDUAL, solve_reweighted
from ytheta.identification.priors.noise import (
    PREPARATION_ERROR,
    Noise,
    compute_mean_inflation,
    estimate_correlation,
    estimate_inflation,
    estimate_variances,
)
from ytheta.payload.columns import PayloadEquations
from ytheta.payload.posterior import LogInformation, Posterior, compute_posterior
from ytheta.robot.inertia import Ten
from ytheta.shapes import Float, PerJoint

NOISE_ROUNDS = 3  # of noise and payload in turn
MAX_LOAD_ROUNDS = 12  # of friction that depends on the payload; each removes about 90 % of its error
MAX_LOAD_CHANGE = 0.01  # in standard deviations, of the payload from one such round to the next


@dataclass(frozen=True, eq=False)
class PayloadFit:
    """The posterior of a payload, and what remains of the torques.

    Attributes
    ----------
    posterior      payload and errors of the model
    free           the posterior without the known mass; the same if no mass is known
    counts         number of equations of each joint
    unexplained    sums of squares of each joint's torque that the model does not explain
    residual       sums of squares of what remains after payload and errors of the model
    inflation      number of equations that count as one, on average
    """

    posterior: Posterior
    free: Posterior
    counts: PerJoint
    unexplained: PerJoint
    residual: PerJoint
    inflation: float


@dataclass(frozen=True, eq=False)
class _WeighedLogs:
    """What the logs of one kind say about the unknowns, given their noise.

    Attributes
    ----------
    information  J and J x_hat of ``posterior``
    gain         derivative of ``information.right_side`` with respect to the right side of the normal equations
    noise        the noise of the equations
    """

    information: LogInformation
    gain: Float[np.ndarray, "unknown columns"]
    noise: Noise


@dataclass(frozen=True, eq=False)
class _Problem:
    """The equations of logs of one kind; ``M`` maps the unknowns (payload, z) to their columns."""

    problem: EstimationProblem
    M: Float[np.ndarray, "columns unknown"]

    @property
    def equations(self) -> NormalEquations:
        return self.problem.normal_equations()

    def start(self) -> tuple[Float[np.ndarray, "columns"], PerJoint]:
        """Return the estimate without priors, and the variances of its residuals."""
        equations = self.equations
        weights, solution, _ = solve_reweighted(equations, np.zeros(equations.base_count))
        _, degrees = compute_spread(equations, weights, solution.decomposition.inverse)
        return solution.beta, self._floor(estimate_variances(equations, solution.beta, degrees, 1.0))

    def weigh(self, columns: Float[np.ndarray, "columns"], variances: PerJoint) -> _WeighedLogs:
        """Return what the logs say, given the residuals at these values of the columns."""
        correlation = estimate_correlation(self.problem, columns)
        weights = Noise(variances, np.eye(0)).weights
        solution = solve_weighted(self.equations, weights, np.zeros(len(columns)))
        estimate = refine(self.problem, weights, solution)
        noise = Noise(variances, estimate_inflation(self.problem, correlation, weights, solution.decomposition))
        F = self.M.T @ (half := noise.compute_factor(solution.decomposition))
        information = LogInformation(F @ F.T, F @ (half.T @ estimate))
        return _WeighedLogs(information, F @ half.T @ solution.decomposition.inverse, noise)

    def update_variances(
        self, x: Float[np.ndarray, "unknown"], gain: Float[np.ndarray, "unknown columns"], noise: Noise
    ) -> PerJoint:
        """Return the variances of the residuals of the unknowns x, of which ``gain`` is linear in the torques."""
        _, degrees = compute_spread(self.equations, noise.weights, self.M @ gain)
        inflation = compute_mean_inflation(noise.inflation)
        return self._floor(estimate_variances(self.equations, self.M @ x, degrees, inflation))

    def _floor(self, variances: PerJoint) -> PerJoint:
        squares, counts = self.equations.reference_squares, np.maximum(self.equations.counts, 1.0)
        floor = MIN_RELATIVE_RESIDUAL**2 * squares / counts
        return np.where(squares > 0.0, np.maximum(variances, floor), np.inf)


def estimate_payload(
    equations: PayloadEquations,
    factor: Float[np.ndarray, "base errors"],
    loaded: tuple[Source, ...],
    unloaded: tuple[Source, ...],
    *,
    torque_squares: PerJoint,
    arm_mass: float,
    mass: float | None,
    threads: int | None,
    report: Callable[[str], None],
) -> PayloadFit:
    """Estimate the payload of ``loaded``; ``unloaded`` are logs without it, which correct the model.

    ``factor``: B of ``model_errors``. ``torque_squares``: sums of the squared torques of each joint, with which errors
    of the preparation are compared.
    """
    loaded, unloaded = cache_sources(loaded), cache_sources(unloaded) if unloaded else ()
    theta: Ten = np.zeros(10)
    for number in range(MAX_LOAD_ROUNDS):
        report("estimating the payload" if not number else f"estimating load-dependent friction, round {number}")
        problems = _make_problems(equations, factor, loaded, unloaded, theta, threads)
        fit = _estimate(problems, torque_squares, arm_mass, mass)
        change = abs(fit.posterior.theta - theta)
        theta = fit.posterior.theta
        std = np.sqrt(np.diag(fit.posterior.theta_covariance))
        if not equations.depends_on_load or (change <= MAX_LOAD_CHANGE * std).all():
            break
    return fit


def _make_problems(
    equations: PayloadEquations,
    factor: Float[np.ndarray, "base errors"],
    loaded: tuple[Source, ...],
    unloaded: tuple[Source, ...],
    theta: Ten,
    threads: int | None,
) -> list[_Problem]:
    base, errors = factor.shape
    M = np.zeros((10 + base, 10 + errors))
    M[:10, :10], M[10:, 10:] = np.eye(10), factor
    sources = equations.subtract_model(loaded, theta)
    problems = [_Problem(EstimationProblem(equations.make_form(theta), sources, threads=threads), M)]
    if unloaded and errors:
        sources = equations.subtract_model(unloaded, np.zeros(10))
        problem = EstimationProblem(equations.make_unloaded_form(), sources, threads=threads)
        problems.append(_Problem(problem, M[10:]))
    return problems


def _estimate(problems: list[_Problem], torque_squares: PerJoint, arm_mass: float, mass: float | None) -> PayloadFit:
    columns, variances = map(list, zip(*(problem.start() for problem in problems), strict=True))
    for _ in range(NOISE_ROUNDS):
        parts = [
            problem.weigh(values, variance)
            for problem, values, variance in zip(problems, columns, variances, strict=True)
        ]
        information = reduce(operator.add, (part.information for part in parts))
        posterior = compute_posterior(information, arm_mass=arm_mass, mass=mass)
        x = np.concatenate([posterior.theta, posterior.z])
        columns = [problem.M @ x for problem in problems]
        gains = [posterior.covariance @ part.gain for part in parts]
        variances = [
            problem.update_variances(x, gain, part.noise)
            for problem, gain, part in zip(problems, gains, parts, strict=True)
        ]
    equations = problems[0].equations  # of the logs with the payload
    free = posterior if mass is None else compute_posterior(information, arm_mass=arm_mass, mass=None)
    posterior, free = (
        _add_preparation_error(each, problems[0], parts[0], torque_squares) for each in (posterior, free)
    )
    return PayloadFit(
        posterior=posterior,
        free=free,
        counts=equations.counts,
        unexplained=equations.torque_squares,
        residual=np.maximum(equations.residual_squares(columns[0]), 0.0),
        inflation=compute_mean_inflation(parts[0].noise.inflation),
    )


def _add_preparation_error(
    posterior: Posterior, problem: _Problem, part: _WeighedLogs, torque_squares: PerJoint
) -> Posterior:
    """Return the posterior with the variance of the payload that errors of the preparation of the logs add."""
    gain = problem.M @ (posterior.covariance @ part.gain)
    spread, _ = compute_spread(problem.equations, part.noise.weights, gain)
    covariance = posterior.covariance.copy()
    covariance[:10, :10] += np.einsum("j,jkl->kl", PREPARATION_ERROR**2 * torque_squares, spread[:, :10, :10])
    return replace(posterior, covariance=covariance)

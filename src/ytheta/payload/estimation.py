"""Estimation of a payload from the equations of logs: noise and payload in turn, until both agree.

The noise of the equations is that of ``identification.priors.noise``: variances per joint, and for every direction the
number of correlated equations that count as one. It is estimated from the residuals of the posterior, so that torques
that neither a payload nor the errors of the model explain make the standard deviations larger.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters, without_regrouping
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.least_squares import (
    MIN_RELATIVE_RESIDUAL,
    compute_spread,
    refine,
    solve_reweighted,
    solve_weighted,
)
from ytheta.identification.priors.noise import (
    PREPARATION_ERROR,
    Noise,
    compute_mean_inflation,
    estimate_correlation,
    estimate_inflation,
    estimate_variances,
)
from ytheta.identification.torque_model import TorqueModel
from ytheta.logs.preparing.motion_sources import Source, cache_sources
from ytheta.payload.columns import PayloadEquations
from ytheta.payload.posterior import LogInformation, PayloadPosterior, compute_posterior
from ytheta.robot.inertia import Ten
from ytheta.robot.parameters import FRICTION_PARAMETERS, find_absent_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase, PerJoint

# Rounds in which noise and payload are estimated in turn. Chosen on: rule of thumb.
NOISE_ROUNDS = 3
# Largest number of rounds of friction that depends on the payload. Chosen on: reasoning; each removes about 90 % of
# its error.
MAX_LOAD_ROUNDS = 12
# Change of the payload from one such round to the next, in standard deviations, at which they end. Chosen on: rule of
# thumb.
MAX_LOAD_CHANGE = 0.01


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

    posterior: PayloadPosterior
    free: PayloadPosterior
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

    def start(self) -> tuple[Float[np.ndarray, " columns"], PerJoint]:
        """Return the estimate without priors, and the variances of its residuals."""
        equations = self.equations
        weights, solution, _ = solve_reweighted(equations, np.zeros(equations.base_count))
        _, degrees = compute_spread(equations, weights, solution.decomposition.inverse)
        return solution.beta, self._floor(estimate_variances(equations, solution.beta, degrees, 1.0))

    def weigh(self, columns: Float[np.ndarray, " columns"], variances: PerJoint) -> _WeighedLogs:
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
        self, x: Float[np.ndarray, " unknown"], gain: Float[np.ndarray, "unknown columns"], noise: Noise
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

    ``factor``: B of the errors of the model, see below. ``torque_squares``: sums of the squared torques of each joint,
    with which errors of the preparation are compared.
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
    posterior: PayloadPosterior, problem: _Problem, part: _WeighedLogs, torque_squares: PerJoint
) -> PayloadPosterior:
    """Return the posterior with the variance of the payload that errors of the preparation of the logs add."""
    gain = problem.M @ (posterior.covariance @ part.gain)
    spread, _ = compute_spread(problem.equations, part.noise.weights, gain)
    covariance = posterior.covariance.copy()
    covariance[:10, :10] += np.einsum("j,jkl->kl", PREPARATION_ERROR**2 * torque_squares, spread[:, :10, :10])
    return replace(posterior, covariance=covariance)


# Errors of the model without payload: its parameters are uncertain, and friction has changed since then.
#
# Identity      delta = B z,   z ~ N(0, 1),   B Bᵀ = C + D
# Notation      code    meaning
#               delta   errors of the parameters of the model
#               C       their covariance, from the identification; zero for a description, which does not state it
#               D       diagonal: changes of friction with temperature, load and time, ``friction_drift`` times the
#                       value; offsets change by as much as Coulomb friction. Unless friction does not change, Coulomb
#                       friction changes at least by the variation between logs, see ``identification.between_logs``
#
# The torques of a log may have a wrong scale. Those of an identified model have the same one, since the same drives
# measured them; those of a description do not: B then has a column with all parameters times ``torque_scale``.


# Standard deviation of friction relative to its value. Chosen on: reasoning; a gear that warms up loses 10 to 40 % of
# its friction.
FRICTION_DRIFT = 0.2
# Standard deviation of friction in SI units, if it is estimated anew. Chosen on: reasoning; far more than the
# friction of any drive.
FREE_FRICTION = 1e3
# Standard deviation of parameters that the model does not know, relative to its largest parameter. Chosen on: rule of
# thumb.
UNIDENTIFIED_FACTOR = 10.0
BASIC_SYMBOLS = tuple(FRICTION_PARAMETERS[kind] for kind in ("viscous", "coulomb", "offset"))


@dataclass(frozen=True, eq=False)
class ModelErrors:
    """The parameters of a model that may be wrong, and B of the module docstring."""

    base: BaseParameters
    factor: Float[np.ndarray, "base errors"]


def make_model_errors(model: TorqueModel, friction_drift: float, torque_scale: float = 0.0) -> ModelErrors | None:
    """Return the errors of a model; None if it has neither a covariance nor friction or a scale that may differ."""
    robot, identified = model.base.robot, model.identified
    if identified is None:
        return _make_description_errors(robot, friction_drift, torque_scale)
    base = identified.base.standard_combinations
    assert base is not None
    drift = _compute_drift(base.independent, identified.beta, friction_drift)
    if identified.uncertainty.between_logs is not None and friction_drift > 0.0:
        coulomb = FRICTION_PARAMETERS["coulomb"]
        between = dict(zip(robot.actuated, identified.uncertainty.between_logs.tolist(), strict=True))
        named = [name.rpartition(".") for name in base.independent]
        drift = np.maximum(drift, [between.get(own, 0.0) if kind == coulomb else 0.0 for own, _, kind in named])
    covariance = identified.uncertainty.covariance + np.diag(drift**2)
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    unknown = UNIDENTIFIED_FACTOR * abs(identified.beta).max(initial=1.0) * identified.uncertainty.unidentified
    return ModelErrors(base, np.hstack([scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)), unknown]))


def _make_description_errors(robot: Robot, friction_drift: float, torque_scale: float) -> ModelErrors | None:
    """Return the errors of a description: those of its friction, and the scale of the torques relative to it."""
    absent = find_absent_parameters(robot)
    names = [name for name in robot.parameter_names if name.rpartition(".")[2] in FRICTION_PARAMETERS.values()]
    values = dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True))
    kept = [name for name in names if name not in absent]
    drift = _compute_drift(kept, np.array([values[name] for name in kept]), friction_drift)
    drifts = {name: std for name, std in zip(kept, drift.tolist(), strict=True) if std > 0.0}
    scaled = [name for name, value in values.items() if torque_scale > 0.0 and value != 0.0]
    kept = [name for name in robot.parameter_names if name in drifts or name in scaled]
    if not kept:
        return None
    columns = [np.array([std if name == own else 0.0 for name in kept]) for own, std in drifts.items()]
    if scaled:
        columns.append(torque_scale * np.array([values[name] for name in kept]))
    return ModelErrors(without_regrouping(robot, kept), np.stack(columns, axis=1))


def _compute_drift(names: list[str] | tuple[str, ...], values: PerBase, friction_drift: float) -> PerBase:
    """Return the standard deviations of the change of each parameter; zero for parameters other than friction."""
    by_name = dict(zip(names, values.tolist(), strict=True))
    drift = np.zeros(len(names))
    for k, name in enumerate(names):
        owner, _, symbol = name.rpartition(".")
        if symbol not in FRICTION_PARAMETERS.values():
            continue
        if math.isinf(friction_drift):
            drift[k] = FREE_FRICTION if symbol in BASIC_SYMBOLS else 0.0
            continue
        is_offset = symbol == FRICTION_PARAMETERS["offset"]
        size = abs(by_name.get(f"{owner}.{FRICTION_PARAMETERS['coulomb']}", 0.0)) if is_offset else abs(by_name[name])
        drift[k] = friction_drift * size
    return drift

"""Transition speeds of Coulomb friction: how gradually it changes its sign, chosen by the data.

Friction is proportional to v / sqrt(v² + s²). It is not linear in the transition speed s, so the equations are solved
for several s, all other parameters being linear. For every joint, s is chosen by the likelihood of its residuals:

Identity      log likelihood = -½ (n_j / c_j) log |r_j|² + const,   r_j = tau_j - Y_j beta
Notation      n_j    number of equations of joint j
              c_j    number of equations that count as one: 1 + 2 sum_k rho_j(k), see ``priors.noise``
              x      logarithms of s; J = dr / dx, with beta solved for anew at each x
Reference     G. H. Golub and V. Pereyra, "Separable nonlinear least squares: the variable projection method and its
              applications", Inverse Problems 19 (2003) R1-R26
Differs from  the reference in: J is a finite difference, and x has a wide prior around the best of the speeds tried,
              where a drive stays whose friction the data do not show

A speed other than the lowest needs much more than strong evidence, as a friction law does, the likelihood must have its
maximum between the speeds tried, and the speed must explain at least half of the squares of the residuals. Then
Gauss-Newton steps improve it. If a drive acts on several joints, all drives have the same multiple of their highest
speeds before these steps. The uncertainty of s is part of that of the parameters: d(beta)/dx (JᵀJ)⁻¹ d(beta)/dxᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import COULOMB
from ytheta.identification.equations.friction_laws import supports_load_friction
from ytheta.identification.equations.model_equations import LogEquations, SpeedsByDrive
from ytheta.identification.estimators.least_squares import solve_reweighted, solve_weighted
from ytheta.identification.priors.noise import estimate_correlation
from ytheta.identification.priors.prior import Family
from ytheta.shapes import BaseByBase, Float, JointsBySample, PerBase, PerJoint

# Transition speeds that are tried, as multiples of the lowest speed, which is a thousandth of the highest speed of
# the log. Chosen on: reasoning; half a decade between neighbours, and the last one is not a transition any more, but
# friction that is proportional to the speed up to a third of the highest.
MULTIPLES = tuple(10.0 ** (0.5 * k) for k in range(1, 6))
# Logarithm of the likelihood ratio from which on a transition is gradual. Chosen on: the same argument as for
# friction laws, see ``model_choice``.
MIN_LOG_LIKELIHOOD_RATIO = 10.0
# Share of the squares of a joint's residuals that a gradual transition may leave. If more remains, most of the error
# has another cause, such as stiction, and a gradual transition would be a makeshift. Chosen on: recorded logs, of
# which other motion was then predicted slightly worse.
MAX_REMAINING_SHARE = 0.5
# Step of a finite difference with respect to log s. Chosen on: rule of thumb.
LOG_STEP = 0.02
# Standard deviation of log s around the best of the speeds tried; also the largest step. Chosen on: rule of thumb;
# one decade.
PRIOR_DEVIATION = float(np.log(10.0))
# Largest number of Gauss-Newton steps. Chosen on: rule of thumb.
MAX_ROUNDS = 8
# Decrease of the weighted squares of the residuals; a step with a smaller one is the last. Chosen on: rule of thumb.
MIN_RELATIVE_DECREASE = 1e-3


def choose_transition_speeds(logs: LogEquations, families: Sequence[Family]) -> dict[str, float]:
    """Return the transition speed of every drive, of a model with these families of parameters."""
    start = _multiply(logs.lowest_speeds, _scan(logs, families))
    return improve_transition_speeds(logs, families, start)


def improve_transition_speeds(logs: LogEquations, families: Sequence[Family], start: SpeedsByDrive) -> dict[str, float]:
    """Return the speeds after Gauss-Newton steps from ``start``; drives that have the lowest speed keep it."""
    robot, lowest = logs.settings.robot, logs.lowest_speeds
    gradual = [name for name, speed in start.items() if speed > lowest[name]]
    if not gradual:
        return dict(start)
    (problem,) = logs.make_alternatives(families, [start], [[0] * len(robot.moving)])
    # A drive whose friction is grouped with that of others has no column of its own.
    drives = [name for name in gradual if f"{name}{COULOMB}" in problem.base.independent]
    if not drives:
        return dict(start)
    improved = dict(start) | _improve(logs, families, start, drives)
    for name, partner in _find_partners(problem.base, gradual):  # drives that turn together, at a constant ratio
        improved[name] = improved[partner] * lowest[name] / lowest[partner]
    return improved


def compute_transition_covariance(
    logs: LogEquations, families: Sequence[Family], chosen: SpeedsByDrive
) -> BaseByBase | None:
    """Return the covariance of beta that the uncertainty of the chosen speeds causes; None if all are the lowest."""
    drives = [name for name, speed in chosen.items() if speed > logs.lowest_speeds[name]]
    if not drives:
        return None
    step = _compute_step(logs, families, chosen, drives, np.zeros(len(drives)))
    return np.asarray(step.effect @ step.covariance @ step.effect.T)


def _find_partners(parameters: ModelParameters, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield drives whose Coulomb friction has no column of its own, each with a drive whose column contains it."""
    base = parameters.standard_combinations
    if base is None:
        return
    columns = {name: k for k, name in enumerate(base.robot.parameter_names)}
    owners = [(k, name.removesuffix(COULOMB)) for k, name in enumerate(base.independent) if name.endswith(COULOMB)]
    for name in names:
        grouped = [owner for k, owner in owners if base.K[k, columns[f"{name}{COULOMB}"]]]
        if grouped and name not in grouped:
            yield name, grouped[0]


def _scan(logs: LogEquations, families: Sequence[Family]) -> dict[str, float]:
    """Return the best multiples of the lowest speeds, for the drives whose transition is gradual."""
    robot, lowest = logs.settings.robot, logs.lowest_speeds
    alternatives = [_multiply(lowest, dict.fromkeys(lowest, multiple)) for multiple in (1.0, *MULTIPLES)]
    choices = [[k] * len(robot.moving) for k in range(len(alternatives))]
    problems = logs.make_alternatives(families, alternatives, choices)
    equations = [problem.normal_equations() for problem in problems]
    beta = [
        solve_reweighted(each, problem.base.beta)[1].beta for each, problem in zip(equations, problems, strict=True)
    ]
    squares = np.array([each.residual_squares(values) for each, values in zip(equations, beta, strict=True)])
    scale = _compute_independent_equations(problems[0], beta[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.nan_to_num(0.5 * scale * np.log(squares[0] / squares), nan=0.0, posinf=0.0, neginf=0.0)
    explains = squares.min(axis=0) <= MAX_REMAINING_SHARE * squares[0]
    if not supports_load_friction(robot):
        shared = _choose_multiples(gains.sum(axis=1, keepdims=True))[0]
        return dict.fromkeys(lowest, float(shared)) if shared > 1.0 and explains.any() else {}
    chosen = zip(robot.actuated, _choose_multiples(gains).tolist(), explains, strict=True)
    return {name: multiple for name, multiple, is_cause in chosen if multiple > 1.0 and is_cause}


def _choose_multiples(gains: Float[np.ndarray, "multiples joints"]) -> PerJoint:
    """Return the multiple with the largest gain of every joint, or 1 if no gain is large enough.

    Between the multiples that were tried, the gain is a parabola in their logarithm.
    """
    tried = np.log([1.0, *MULTIPLES])
    chosen = np.ones(gains.shape[1])
    for joint, gain in enumerate(gains.T):
        best = int(np.argmax(gain))
        if gain[best] < MIN_LOG_LIKELIHOOD_RATIO or best == len(tried) - 1:
            continue
        before, at, after = gain[best - 1 : best + 2]
        exponent = tried[best] + 0.5 * (tried[best + 1] - tried[best]) * (after - before) / (2.0 * at - before - after)
        chosen[joint] = np.exp(exponent)
    return chosen


def _improve(
    logs: LogEquations, families: Sequence[Family], start: SpeedsByDrive, drives: Sequence[str]
) -> dict[str, float]:
    """Return the speeds of these drives after Gauss-Newton steps."""
    x = x0 = np.log([start[name] for name in drives])
    for _ in range(MAX_ROUNDS):
        speeds = dict(start) | dict(zip(drives, np.exp(x).tolist(), strict=True))
        step = _compute_step(logs, families, speeds, drives, x0 - x)
        x = x + step.change
        if step.relative_decrease < MIN_RELATIVE_DECREASE:
            break
    return dict(zip(drives, np.exp(x).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Step:
    """A Gauss-Newton step of x, and the decrease of the squares of the residuals that it is expected to cause.

    ``covariance`` is that of x, and ``effect`` is d(beta) / dx.
    """

    change: Float[np.ndarray, " drives"]
    relative_decrease: float
    covariance: Float[np.ndarray, "drives drives"]
    effect: Float[np.ndarray, "base drives"]


def _compute_step(
    logs: LogEquations,
    families: Sequence[Family],
    speeds: SpeedsByDrive,
    drives: Sequence[str],
    from_prior: Float[np.ndarray, " drives"],
) -> _Step:
    changed = _multiply(speeds, dict.fromkeys(drives, float(np.exp(LOG_STEP))))
    moving = logs.settings.robot.moving
    choices = [[0] * len(moving), *([int(name == drive) for name in moving] for drive in drives)]
    problems = logs.make_alternatives(families, [speeds, changed], choices)
    equations = problems[0].normal_equations()
    weights, solution, _ = solve_reweighted(equations, problems[0].base.beta)
    squares = equations.residual_squares(solution.beta)
    scale = _compute_independent_equations(problems[0], solution.beta)
    information = np.sqrt(np.where(squares > 0.0, scale / np.where(squares > 0.0, squares, 1.0), 0.0))[:, np.newaxis]
    beta, *changed_beta = (solve_weighted(each.normal_equations(), weights, solution.beta).beta for each in problems)
    residual, *others = (
        information * _compute_residuals(each, values)
        for each, values in zip(problems, (beta, *changed_beta), strict=True)
    )
    J = np.stack([(other - residual).ravel() for other in others]) / LOG_STEP
    H = J @ J.T + np.eye(len(J)) / PRIOR_DEVIATION**2
    gradient = J @ residual.ravel() - from_prior / PRIOR_DEVIATION**2
    change = -np.linalg.solve(H, gradient)
    decrease = float(-gradient @ change) / float((residual**2).sum() or 1.0)
    effect = np.stack([values - beta for values in changed_beta], axis=1) / LOG_STEP
    return _Step(np.clip(change, -PRIOR_DEVIATION, PRIOR_DEVIATION), decrease, np.linalg.inv(H), effect)


def _compute_residuals(problem: EstimationProblem, beta: PerBase) -> JointsBySample:
    return np.concatenate([residual for _, residual in problem.residuals(beta)], axis=1)


def _compute_independent_equations(problem: EstimationProblem, beta: PerBase) -> PerJoint:
    """Return the number of equations of each joint, divided by the number that counts as one; ``beta``: the fit."""
    correlation = estimate_correlation(problem, beta)
    return problem.normal_equations().counts / np.maximum(2.0 * correlation.sum(axis=0) - 1.0, 1.0)


def _multiply(speeds: SpeedsByDrive, multiples: Mapping[str, float]) -> dict[str, float]:
    return {name: speed * multiples.get(name, 1.0) for name, speed in speeds.items()}

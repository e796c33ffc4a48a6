"""Transition speeds of Coulomb friction: how gradually it changes its sign, chosen by the data.

Friction is proportional to v / sqrt(v² + s²). It is not linear in the transition speed s, so the equations are solved
for several s, all other parameters being linear. For every joint, s is chosen by the likelihood of its residuals:

Identity      log likelihood = -½ (n_j / c_j) log |tau_j - Y_j beta|² + const
Notation      n_j    number of equations of joint j
              c_j    number of equations that count as one: 1 + 2 sum_k rho_j(k), see ``priors.noise``

A speed other than the lowest needs very strong evidence. If a drive acts on several joints, all drives have the same
multiple of their highest speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import supports_load_friction
from ytheta.identification.estimators.weighted import solve_reweighted
from ytheta.identification.priors.noise import estimate_correlation
from ytheta.shapes import Float, PerJoint

# Of the lowest speed, which is a thousandth of the highest speed of the log: half a decade between neighbours.
MULTIPLES = tuple(10.0 ** (0.5 * k) for k in range(1, 5))
MIN_LOG_LIKELIHOOD_RATIO = 5.0

MakeSmoothProblem = Callable[[Mapping[str, float]], EstimationProblem]  # transition speeds → equations


def choose_transition_speeds(make_problem: MakeSmoothProblem, lowest: Mapping[str, float]) -> dict[str, float]:
    """Return the transition speed of every drive; ``lowest`` are the speeds from which the search starts."""
    problem = make_problem(lowest)
    squares, scale = _compute_residual_squares(problem), _compute_independent_equations(problem)
    gains = [np.zeros(len(squares))]
    for multiple in MULTIPLES:
        other = _compute_residual_squares(make_problem(_multiply(lowest, dict.fromkeys(lowest, multiple))))
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = 0.5 * scale * np.log(squares / other)
        gains.append(np.nan_to_num(gain, nan=0.0, posinf=0.0, neginf=0.0))
    chosen = _choose_multiples(np.array(gains))
    robot = problem.base.robot
    if supports_load_friction(robot):
        return _multiply(lowest, dict(zip(robot.actuated, chosen.tolist(), strict=True)))
    shared = _choose_multiples(np.array(gains).sum(axis=1, keepdims=True))[0]
    return _multiply(lowest, dict.fromkeys(lowest, float(shared)))


def _choose_multiples(gains: Float[np.ndarray, "multiples joints"]) -> PerJoint:
    """Return the multiple with the largest gain of every joint, or 1 if no gain is large enough.

    Between the multiples that were tried, the gain is a parabola in their logarithm.
    """
    tried = np.log([1.0, *MULTIPLES])
    chosen = np.ones(gains.shape[1])
    for joint, gain in enumerate(gains.T):
        best = int(np.argmax(gain))
        if gain[best] < MIN_LOG_LIKELIHOOD_RATIO:
            continue
        exponent = tried[best]
        if best < len(tried) - 1:
            before, at, after = gain[best - 1 : best + 2]
            exponent += 0.5 * (tried[best + 1] - tried[best]) * (after - before) / (2.0 * at - before - after)
        chosen[joint] = np.exp(exponent)
    return chosen


def _compute_residual_squares(problem: EstimationProblem) -> PerJoint:
    equations = problem.normal_equations()
    _, solution, _ = solve_reweighted(equations, problem.base.beta)
    return equations.residual_squares(solution.beta)


def _compute_independent_equations(problem: EstimationProblem) -> PerJoint:
    """Return the number of equations of each joint, divided by the number that counts as one."""
    equations = problem.normal_equations()
    _, solution, _ = solve_reweighted(equations, problem.base.beta)
    correlation = estimate_correlation(problem, solution.beta)
    return equations.counts / np.maximum(2.0 * correlation.sum(axis=0) - 1.0, 1.0)


def _multiply(speeds: Mapping[str, float], multiples: Mapping[str, float]) -> dict[str, float]:
    return {name: speed * multiples.get(name, 1.0) for name, speed in speeds.items()}

"""The delay between recorded torques and the motion, estimated together with the parameters.

A controller holds a torque until the next one, so that a torque that is recorded when it is commanded acts half a
period later on average; filters and buses delay what they report. Such a delay looks like friction: the gravity torque
g(q(t - d)) is g(q) - d g' qd. A quarter of a millisecond can change viscous friction by ten standard deviations, and
leaves hardly any residual. Therefore all torques have one unknown delay d, with a prior around zero whose width is half
a recorded sample: a log says nothing about the time within a sample.

Identity      tau_j(t) = y_j(t - d) + noise,   y_j = Y_j beta,   so r_j = -d_j s_j + Y_j (change of beta) + noise
              H d = g with H_jk = w_j s_j·s_j [j = k] - w_j w_k (Y_jᵀ s_j)ᵀ N⁻¹ (Y_kᵀ s_k),   g_j = -w_j s_j·r_j
              d = 1ᵀg / 1ᵀH1 for the same delay of all joints
Notation      r_j        residuals of the weighted fit
              s_j        time derivative of the torque of links and rotors. That of friction is left out: when a joint
                         reverses, friction jumps, and stiction makes it jump at another time than the velocity
              w_j        inverse variance of an independent equation, N = sum_j w_j Y_jᵀ Y_j
Reference     G. H. Golub and V. Pereyra, Inverse Problems 19 (2003) R1-R26: one step with beta eliminated
              R. T. Birge, Physical Review 40 (1932) 207-227: if the joints contradict each other, the variance of the
              common value is multiplied by chi² per degree of freedom
Differs from  the first reference in: there are at most two steps, since the delay is short compared with the motion

If the data show a delay, torques are moved by it wherever a log is prepared, also for errors and predictions. Otherwise
they stay as recorded. What remains unknown is part of the covariance: d(beta)/dd var(d) d(beta)/ddᵀ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.suspects import USUAL_DELAY
from ytheta.identification.equations.differential import Differential, KnownTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import TorqueSource
from ytheta.identification.equations.model_equations import MAX_SCAN_SAMPLES, LogEquations
from ytheta.identification.equations.normal_equations import NormalDecomposition
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import solve_reweighted, solve_weighted
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.model_choice import make_rigid_torque
from ytheta.identification.plan import PreparationPlan, TorqueDelay
from ytheta.identification.priors.noise import bound_preparation_errors, estimate_correlation
from ytheta.identification.priors.prior import Family
from ytheta.logs.preparing.motion_sources import ChangedSource, select_pieces
from ytheta.logs.preparing.preparation import AUTO, PreparationSettings
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import BaseByBase, JointsBySample, PerBase, PerJoint, SquareMatrix

# Standard deviation of the delay before the data, in recorded samples. Chosen on: reasoning; a torque that is held for
# a sample acts half a sample late.
PRIOR_SAMPLES = 0.5
# Eigenvalue of H, with a diagonal of one before beta is eliminated, from which on it counts in chi². Chosen on:
# reasoning; smaller ones are rounding errors of sums.
MIN_EIGENVALUE = 1e-6
# Delay beyond which a log is not right but mistaken, in s. Chosen on: the usual deviation, of which it is five.
MAX_DELAY = 5.0 * USUAL_DELAY
# Delay in standard deviations from which on torques are moved; chance alone moves one log in 400. Chosen on: twelve
# splits of recorded logs; moving by any estimate raised the error of the UR10e by 3 %, for a delay of one deviation.
MIN_DEVIATIONS = 3.0


def align_torques(plan: PreparationPlan, logs: LogEquations, settings: PreparationSettings) -> PreparationPlan:
    """Return the plan with the delay of the settings or, if it is "auto", with the one that the data show."""
    if settings.torque_delay != AUTO:
        return plan  # the preparations have it already
    return plan.with_torque_delay(estimate_torque_delay(logs))


def estimate_torque_delay(logs: LogEquations) -> TorqueDelay:
    """Return the delay of the torques of the logs of the fit; zero with its uncertainty if they do not show one."""
    prior = PRIOR_SAMPLES * max(each.grid.step for each in logs.fit)
    value, variance = _measure_delay(logs)
    if MIN_DEVIATIONS**2 * variance < value**2 <= MAX_DELAY**2:  # its own residuals have made it uncertain
        more, variance = _measure_delay(
            replace(logs, fit=tuple(preparation.with_torque_delay(value) for preparation in logs.fit))
        )
        value += more
    if not abs(value) <= MAX_DELAY:  # not a delay of a right log; ``diagnose`` names it if it is one
        return TorqueDelay(0.0, prior)
    share = prior**2 / (prior**2 + variance)
    value, std = share * value, prior * float(np.sqrt(1.0 - share))
    is_shown = abs(value) > MIN_DEVIATIONS * std
    return TorqueDelay(value, std) if is_shown else TorqueDelay(0.0, float(np.hypot(value, std)))


def _measure_delay(logs: LogEquations) -> tuple[float, float]:
    """Return the delay that the data show without a prior, and its variance."""
    robot, settings = logs.settings.robot, logs.settings
    families = [each for each in (*settings.considered, *settings.selection.forced) if each is not Family.LOAD]
    (problem,) = logs.make_alternatives(families, [logs.lowest_speeds], [[0] * len(robot.moving)])
    equations = problem.normal_equations()
    informative = (equations.counts > 0.0) & (equations.reference_squares > 0.0)
    if not informative.any():
        return 0.0, np.inf
    beta = solve_reweighted(equations, problem.base.beta)[1].beta
    times = np.maximum(2.0 * estimate_correlation(problem, beta).sum(axis=0) - 1.0, 1.0)
    variances = times * equations.residual_squares(beta) / np.maximum(equations.counts, 1.0)
    variances += bound_preparation_errors(equations)
    weights = np.where(informative, 1.0 / np.where(informative, variances, 1.0), 0.0)
    solution = solve_weighted(equations, weights, beta)
    return _estimate_common_delay(problem, weights, solution.beta, solution.decomposition)


def compute_delay_covariance(problem: EstimationProblem, estimate: Estimate, delay: TorqueDelay) -> BaseByBase:
    """Return the part of the covariance of beta that is due to the uncertainty of the delay."""
    part = replace(problem, sources=select_pieces(problem.sources, MAX_SCAN_SAMPLES))
    rates = make_rate_problem(part, _ModelTorque.of(problem, estimate.beta)).normal_equations()
    weights = estimate.weights
    if estimate.gain is None:
        effect = solve_weighted(rates, weights, np.zeros(rates.base_count)).beta
    else:
        effect = estimate.gain @ rates.right_side(weights) * problem.sample_count / max(part.sample_count, 1)
    return np.asarray(delay.std**2 * np.outer(effect, effect))


def describe_torque_delay(delay: TorqueDelay) -> Iterator[Finding]:
    """Yield a note about a delay that the data show."""
    if delay.value and delay.std:
        when = "after" if delay.value > 0.0 else "before"
        yield Finding(
            FitFindingCode.TORQUE_DELAY,
            Severity.NOTE,
            f"torques were recorded {1e3 * abs(delay.value):.2g} ± {1e3 * delay.std:.1g} ms {when} the motion that "
            "belongs to them",
            "they were moved by this time",
            fields={"delay": delay.value, "std": delay.std},
        )


def make_rate_problem(problem: EstimationProblem, torque: TorqueSource) -> EstimationProblem:
    """Return the equations in which the measured torque is replaced by the time derivative of a computed torque."""

    def differentiate(motion: MotionSamples) -> MotionSamples:
        if len(motion) < 2:
            return replace(motion, tau=np.zeros_like(motion.q))
        return replace(motion, tau=np.gradient(torque.torque(motion).T, motion.t[1] - motion.t[0], axis=0))

    return replace(problem, sources=tuple(ChangedSource(source, differentiate) for source in problem.sources))


@dataclass(frozen=True, eq=False)
class _ModelTorque:
    """Y beta and the known torque."""

    form: Differential
    beta: PerBase
    known: KnownTorque

    @classmethod
    def of(cls, problem: EstimationProblem, beta: PerBase) -> _ModelTorque:
        form = problem.form if isinstance(problem.form, Differential) else Differential(problem.base)
        return cls(form, beta, KnownTorque(problem.base))

    def torque(self, motion: MotionSamples) -> JointsBySample:
        torque = self.form.torque(motion, self.beta)
        return torque + self.known.torque(motion) if self.known else torque


def _estimate_common_delay(
    problem: EstimationProblem, weights: PerJoint, beta: PerBase, decomposition: NormalDecomposition
) -> tuple[float, float]:
    """Return the delay of all joints and its variance; infinite if the data do not show it."""
    rate_problem = make_rate_problem(problem, make_rigid_torque(problem, beta))
    rates = rate_problem.normal_equations()
    cross = np.zeros(len(weights))
    for task, residual in problem.residuals(beta):
        tau = rate_problem.motion(task).tau
        assert tau is not None
        cross += np.einsum("js,sj->j", residual, tau)
    sides = np.stack(
        [rates.right_side(np.where(np.arange(len(weights)) == j, weights, 0.0)) for j in range(len(cross))]
    )
    H = np.diag(weights * rates.torque_squares) - sides @ decomposition.inverse @ sides.T
    g = -weights * cross
    information = float(H.sum())
    scale = np.sqrt(weights * rates.torque_squares)
    if information <= MIN_EIGENVALUE * float(scale @ scale):
        return 0.0, np.inf
    common = float(g.sum()) / information
    scale = np.where(scale > 0.0, scale, np.inf)
    return common, _compute_birge_ratio(H / np.outer(scale, scale), (g - common * H.sum(axis=1)) / scale) / information


def _compute_birge_ratio(H: SquareMatrix, gradient: PerJoint) -> float:
    """Return chi² per degree of freedom of the joints' delays around the common one, at least 1.

    ``gradient`` is that at the common delay; H and ``gradient`` are scaled to a diagonal of one.
    """
    values, vectors = np.linalg.eigh(H)
    counted = values > MIN_EIGENVALUE
    projected = (vectors.T @ gradient)[counted]
    freedom = max(int(np.count_nonzero(counted)) - 1, 1)
    return max(float(projected @ (projected / values[counted])) / freedom, 1.0)

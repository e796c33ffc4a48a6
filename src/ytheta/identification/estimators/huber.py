"""Huber's M-estimator: equations whose residuals are too large for noise get smaller weights.

Identity      sum_j sum_t psi(r_jt / s_j) Y_jt / s_j = 0,   psi(x) = max(-k, min(k, x)),   r = tau - Y beta
Reference     P. J. Huber, "Robust Statistics", Wiley 1981, ch. 7: sec. 7.6 covariance, sec. 7.8 modified weights
Accepts       every robot and form
Notation      code          book    meaning
              bound         k       |x| above which psi is constant; k = 1.345 gives 95 % efficiency for normal noise
              scales        s_j     1.4826 times the median of a joint's |r|: the standard deviation of normal noise
              inside_share  E psi'  share of a joint's residuals below k s_j
              weights       w       psi(x) / x
Differs from  the book in: one scale per joint; the scale is read from a histogram with logarithmic bins of 0.1 %, which
              needs one pass, constant memory and no order of the samples; the scale is fixed once it changes by less
              than 0.1 %, so that the remaining problem is convex and the iteration converges; the factor K of the
              covariance, which is 1 + O(p/n), is left out
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.normal_equations import NormalDecomposition, WeightFunction
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import MIN_RELATIVE_RESIDUAL, refine, solve_weighted
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.shapes import JointsBySample, PerBase, PerJoint

# Standard deviation of a normal variable, relative to the median of its magnitude. Fixed by: the normal distribution.
DEVIATION_PER_MEDIAN = 1.482602218505602
# Bins of the histogram per octave: a bin is 0.1 % wide. Chosen on: reasoning; scales need no more digits.
BINS_PER_OCTAVE = 693
# Range of the histogram, which starts at the smallest scale. Chosen on: reasoning; fourteen decades.
OCTAVES = 48
# The scales are kept fixed once their relative change falls below this value. Chosen on: the width of a histogram
# bin.
SCALE_TOLERANCE = 1e-3
# The iteration ends once the step of beta, in standard deviations, falls below this value. Chosen on: rule of thumb.
STEP_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Huber:
    """Least squares with one weight per equation, computed from its residual; reweighted at most ``rounds`` times."""

    bound: float = 1.345
    rounds: int = 50

    def __post_init__(self) -> None:
        if not self.bound > 0.0:
            raise InputError(f"bound is {self.bound}; give a positive number of standard deviations")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "huber"

    def fit(self, problem: EstimationProblem) -> Estimate:
        equations = problem.normal_equations()
        ones = np.ones(len(equations.joints))
        beta = refine(problem, ones, solve_weighted(equations, ones, problem.base.beta))
        torque = np.sqrt(equations.torque_squares / np.maximum(equations.counts, 1.0))
        min_scales = MIN_RELATIVE_RESIDUAL * np.maximum(torque, torque.max(initial=np.finfo(float).tiny ** 0.25))
        scales, fixed, rounds = ones, False, 0
        findings: tuple[Finding, ...] = ()
        for rounds in range(1, self.rounds + 1):
            if not fixed:
                before, scales = scales, estimate_scales(problem, beta, min_scales)
                fixed = rounds > 1 and bool(np.all(abs(scales - before) <= SCALE_TOLERANCE * scales))
            weighted = problem.normal_equations(around=beta, weigh=_make_weight_function(self.bound * scales))
            N = weighted.matrix(scales**-2.0)
            step = NormalDecomposition.of(N).solve(weighted.right_side(scales**-2.0))
            beta = beta + step
            if fixed and step @ N @ step <= STEP_TOLERANCE**2 * len(beta):
                break
        else:
            findings = (_make_convergence_finding(self.rounds),)
        return self._make_estimate(problem, beta, scales, rounds, findings)

    def _make_estimate(
        self, problem: EstimationProblem, beta: PerBase, scales: PerJoint, rounds: int, findings: tuple[Finding, ...]
    ) -> Estimate:
        """Compute P_j of sec. 7.6, to be multiplied by v_j, the mean square of *all* residuals of joint j."""
        limits = self.bound * scales[:, None]

        def compute_sums(residuals: np.ndarray, mask: np.ndarray) -> np.ndarray:
            sizes = abs(residuals)
            terms = np.stack([(sizes <= limits).astype(float), np.minimum(sizes, limits) ** 2, sizes**2])
            return np.asarray((terms * mask).sum(axis=2))

        equations = problem.normal_equations()
        inside, clipped, squares = _sum_over_residuals(problem, compute_sums, beta)
        inside_share = inside / np.maximum(equations.counts, 1.0)
        ratios = np.where(squares > 0.0, clipped / np.where(squares > 0.0, squares, 1.0), 1.0)
        weights = scales**-2.0
        decomposition = NormalDecomposition.of(equations.matrix(inside_share * weights))
        spread = np.zeros((len(scales), len(beta), len(beta)))
        degrees_of_freedom = np.zeros(len(scales))
        for j, joint in enumerate(equations.joints):
            gain = decomposition.inverse[:, joint.columns]
            spread[j] = ratios[j] * weights[j] ** 2 * gain @ joint.gram @ gain.T
            degrees_of_freedom[j] = inside_share[j] * weights[j] * float(np.sum(gain[joint.columns] * joint.gram))
        relative_weights = np.median(scales) ** 2 * weights
        unidentified = decomposition.null_space
        return Estimate(beta, spread, degrees_of_freedom, relative_weights, unidentified, rounds, findings)


def _make_convergence_finding(rounds: int) -> Finding:
    statement = f"huber did not converge in {rounds} round{'s' if rounds > 1 else ''}"
    remedy = "allow more rounds, or inspect the residuals"
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, fields={"rounds": rounds})


def _make_weight_function(bounds: PerJoint) -> WeightFunction:
    """Return the function that computes the weights psi(x) / x = min(1, k s / |r|)."""

    def weigh(residuals: JointsBySample) -> JointsBySample:
        limits = bounds[:, None]
        return np.asarray(limits / np.maximum(abs(residuals), limits))

    return weigh


def estimate_scales(problem: EstimationProblem, beta: PerBase, min_scales: PerJoint) -> PerJoint:
    """Return 1.4826 times the median of |r| for every joint, but at least ``min_scales``."""

    def count_sizes(residuals: np.ndarray, mask: np.ndarray) -> np.ndarray:
        octaves = np.log2(np.maximum(abs(residuals) * (DEVIATION_PER_MEDIAN / min_scales[:, None]), 1.0))
        bins = np.minimum(octaves * BINS_PER_OCTAVE, OCTAVES * BINS_PER_OCTAVE - 1.0).astype(np.intp)
        return np.stack([np.bincount(*each, OCTAVES * BINS_PER_OCTAVE) for each in zip(bins, mask, strict=True)])

    scales = min_scales.copy()
    for j, count in enumerate(_sum_over_residuals(problem, count_sizes, beta)):
        total = np.cumsum(count)
        k = int(np.searchsorted(total, 0.5 * total[-1]))
        if count[k] > 0.0:
            inside = (0.5 * total[-1] - (total[k] - count[k])) / count[k]
            scales[j] *= 2.0 ** ((k + inside if k else 0.0) / BINS_PER_OCTAVE)
    return scales


def _sum_over_residuals(
    problem: EstimationProblem, measure: Callable[[np.ndarray, np.ndarray], np.ndarray], beta: PerBase
) -> np.ndarray:
    """Return the sum of ``measure(residuals, mask)`` over all equations."""

    def work(task: SourceRange) -> np.ndarray:
        residuals: list[np.ndarray] = []
        masks: list[np.ndarray] = []
        for rows in problem.rows_of(task):
            residuals.append(problem.layout.residual(rows, beta))
            masks.append(np.ones_like(rows.tau) if rows.mask is None else rows.mask)
        return measure(np.concatenate(residuals, axis=1), np.concatenate(masks, axis=1))

    return np.asarray(sum(map_in_order(work, problem.tasks(), threads=problem.threads)))

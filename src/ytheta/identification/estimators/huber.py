"""Huber's M-estimator: equations whose residuals are too large to be noise count less.

Identity      sum_j sum_t psi(r_jt / s_j) Y_jt / s_j = 0,   psi(x) = max(-k, min(k, x)),   r = tau - Y beta
Reference     P. J. Huber, "Robust Statistics", Wiley 1981, ch. 7: sec. 7.6 covariance, sec. 7.8 modified weights
Accepts       every robot and form
Notation      code        book    meaning
              bound       k       where psi bends, in units of the scale: 1.345 has 95 % efficiency under normal noise
              scales      s_j     1.4826 times the median of a joint's |r|, its standard deviation if noise is normal
              kept_share  E psi'  part of a joint's residuals below k s_j
              weights     w       psi(x) / x
Differs from  the book in: one scale per joint; the scale is read off a histogram with logarithmic bins, 0.1 % wide, so
              that it needs one pass, constant memory, and no order of the samples; it is fixed after the round in
              which it moves by less than 0.1 %, so that the rest is a convex problem and the rounds come to an end;
              the factor K of its covariance, which is 1 + O(p/n), is left out
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import in_order
from ytheta.errors import InputError
from ytheta.identification.equations.normal_equations import NormalEquations, Weigh
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.estimators.least_squares import refined, solved
from ytheta.shapes import Float, PerBase, PerJoint

NORMAL = 1.482602218505602  # standard deviation of a normal variable over the median of its size
BINS = 693  # per octave: 0.1 %
OCTAVES = 48  # from the smallest scale on
SETTLED = 1e-3  # relative change of a scale that is none: the width of a bin
STEP = 1e-4  # of a standard deviation: a step of beta that is not worth another round
SMALLEST = 1e-10  # of a joint's torque: residuals below it are rounding, and no measure of its noise


@dataclass(frozen=True)
class Huber:
    """Weights per equation from its residual, ``rounds`` times at most."""

    bound: float = 1.345
    rounds: int = 50

    def __post_init__(self) -> None:
        if not self.bound > 0.0:
            raise InputError(f"bound is {self.bound}; it is a positive number of standard deviations")
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "huber"

    def fit(self, problem: EstimationProblem) -> Estimate:
        sums = problem.sums()
        ones = np.ones(len(sums.joints))
        beta = refined(problem, ones, solved(sums, ones, problem.base.beta))
        torque = np.sqrt(sums.squares / np.maximum(sums.counts, 1.0))
        smallest = SMALLEST * np.maximum(torque, torque.max(initial=np.finfo(float).tiny ** 0.25))
        scales, fixed, done = ones, False, 0
        notes: tuple[str, ...] = ()
        for done in range(1, self.rounds + 1):
            if not fixed:
                before, scales = scales, _scales(problem, beta, smallest)
                fixed = done > 1 and bool(np.all(abs(scales - before) <= SETTLED * scales))
            weighed = problem.sums(around=beta, weigh=_weights(self.bound * scales))
            N = weighed.normal(scales**-2.0)
            step = NormalDecomposition.of(N).solve(weighed.moment(scales**-2.0))
            beta = beta + step
            if fixed and step @ N @ step <= STEP**2 * len(beta):
                break
        else:
            notes = (f"huber has not settled after {self.rounds} rounds; give it more, or look at the residuals",)
        return self._estimate(problem, sums, beta, scales, done, notes)

    def _estimate(
        self, problem: EstimationProblem, sums: NormalEquations, beta: PerBase, scales: PerJoint, done: int, notes: tuple[str, ...]
    ) -> Estimate:
        """Sec. 7.6 joint by joint. P_j is for v_j = the mean square of *all* its residuals, outliers included."""
        limits = self.bound * scales[:, None]

        def tally(residuals: np.ndarray, kept: np.ndarray) -> np.ndarray:
            sizes = abs(residuals)
            each = np.stack([(sizes <= limits).astype(float), np.minimum(sizes, limits) ** 2, sizes**2])
            return np.asarray((each * kept).sum(axis=2))

        inside, clipped, squares = _added(problem, tally, beta)
        kept_share = inside / np.maximum(sums.counts, 1.0)
        ratios = np.where(squares > 0.0, clipped / np.where(squares > 0.0, squares, 1.0), 1.0)
        pulls = scales**-2.0
        normal = NormalDecomposition.of(sums.normal(kept_share * pulls))
        spread = np.zeros((len(scales), len(beta), len(beta)))
        used = np.zeros(len(scales))
        for j, joint in enumerate(sums.joints):
            gain = normal.inverse[:, joint.columns]
            spread[j] = ratios[j] * pulls[j] ** 2 * gain @ joint.gram @ gain.T
            used[j] = kept_share[j] * pulls[j] * float(np.sum(gain[joint.columns] * joint.gram))
        return Estimate(beta, spread, used, np.median(scales) ** 2 * pulls, normal.unseen, done, notes)


def _weights(bounds: PerJoint) -> Weigh:
    """psi(x) / x = min(1, k s / |r|)."""

    def weigh(residuals: Float[np.ndarray, "joints samples"]) -> Float[np.ndarray, "joints samples"]:
        limits = bounds[:, None]
        return np.asarray(limits / np.maximum(abs(residuals), limits))

    return weigh


def _scales(problem: EstimationProblem, beta: PerBase, smallest: PerJoint) -> PerJoint:
    """1.4826 times the median of |r| of every joint, and at least ``smallest``."""

    def histogram(residuals: np.ndarray, kept: np.ndarray) -> np.ndarray:
        octaves = np.log2(np.maximum(abs(residuals) * (NORMAL / smallest[:, None]), 1.0))
        bins = np.minimum(octaves * BINS, OCTAVES * BINS - 1.0).astype(np.intp)
        return np.stack([np.bincount(*each, OCTAVES * BINS) for each in zip(bins, kept, strict=True)])

    scales = smallest.copy()
    for j, count in enumerate(_added(problem, histogram, beta)):
        total = np.cumsum(count)
        k = int(np.searchsorted(total, 0.5 * total[-1]))
        if count[k] > 0.0:
            inside = (0.5 * total[-1] - (total[k] - count[k])) / count[k]
            scales[j] *= 2.0 ** ((k + inside if k else 0.0) / BINS)
    return scales


def _added(problem: EstimationProblem, measure: Callable[[np.ndarray, np.ndarray], np.ndarray], beta: PerBase) -> np.ndarray:
    """A measure of the residuals and of what they count, added up over all equations."""

    def work(task: Task) -> np.ndarray:
        residuals: list[np.ndarray] = []
        kept: list[np.ndarray] = []
        for rows in problem.rows_of(task):
            residuals.append(rows.tau - problem.layout.torque(rows.values, beta))
            kept.append(np.ones_like(rows.tau) if rows.kept is None else rows.kept)
        return measure(np.concatenate(residuals, axis=1), np.concatenate(kept, axis=1))

    return np.asarray(sum(in_order(work, problem.tasks(), threads=problem.threads)))

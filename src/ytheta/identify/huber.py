"""Huber's M-estimator: equations whose residuals are too large to be noise count less.

Identity      sum_j sum_t psi(r_jt / s_j) Y_jt / s_j = 0,   psi(x) = max(-k, min(k, x)),   r = tau - Y beta
Reference     P. J. Huber, "Robust Statistics", Wiley 1981, ch. 7: (5.3) psi, sec. 7.8 iterated weights, (6.5) covariance
Accepts       every robot and form
Notation      code        book    meaning
              bound       k       where psi bends, in units of the scale: 1.345 has 95 % efficiency under normal noise
              scales      s_j     1.4826 times the median of a joint's |r|, its standard deviation if noise is normal
              kept_share  E psi'  part of a joint's residuals below k s_j
              weights     w       psi(x) / x
Differs from  the book in: one scale per joint; the scale is read off a histogram with logarithmic bins, 0.1 % wide, so
              that it needs one pass, constant memory, and no order of the samples; it is fixed after the round in
              which it moves by less than 0.1 %, so that the rest is a convex problem and the rounds come to an end;
              K of (6.5), which is 1 + O(p/n), is left out
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import in_order
from ytheta.errors import InputError
from ytheta.identify.estimate import Estimate
from ytheta.identify.least_squares import refined, solved
from ytheta.identify.problem import Problem, Task
from ytheta.identify.rows import Beta
from ytheta.identify.solve import Normal
from ytheta.identify.sums import Sums, Weigh
from ytheta.shapes import Float

PerJoint = Float[np.ndarray, "joints"]

NORMAL = 1.482602218505602  # standard deviation of a normal variable over the median of its size
BINS = 693  # per octave: 0.1 %
LOWEST = -1074  # the octave of the smallest number there is
OCTAVES = 2100
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

    def fit(self, problem: Problem) -> Estimate:
        sums = problem.sums()
        ones = np.ones(len(sums.joints))
        beta = refined(problem, sums, ones, solved(sums, ones, problem.base.beta))
        smallest = SMALLEST * np.sqrt(sums.squares / np.maximum(sums.counts, 1.0)) + np.finfo(float).tiny**0.5
        scales, fixed, notes, done = ones, False, (), 0
        for done in range(1, self.rounds + 1):
            if not fixed:
                before, scales = scales, np.maximum(_scales(problem, beta), smallest)
                fixed = done > 1 and bool(np.all(abs(scales - before) <= SETTLED * scales))
            weighed = problem.sums(around=beta, weigh=_weights(self.bound * scales))
            N = weighed.normal(scales**-2.0)
            step = Normal.of(N).solve(weighed.moment(scales**-2.0))
            beta = beta + step
            if fixed and step @ N @ step <= STEP**2 * len(beta):
                break
        else:
            notes = (f"huber has not settled after {self.rounds} rounds; give it more, or look at the residuals",)
        return self._estimate(problem, sums, beta, scales, done, notes)

    def _estimate(
        self, problem: Problem, sums: Sums, beta: Beta, scales: PerJoint, done: int, notes: tuple[str, ...]
    ) -> Estimate:
        """(6.5) joint by joint. P_j is for v_j = the mean square of *all* residuals of joint j, outliers included."""
        tally = _added(problem, lambda residuals, kept: _tally(residuals, kept, self.bound * scales[:, None]), beta)
        inside, clipped, squares = tally
        kept_share = inside / np.maximum(sums.counts, 1.0)
        ratios = np.where(squares > 0.0, clipped / np.where(squares > 0.0, squares, 1.0), 1.0)
        pulls = scales**-2.0
        normal = Normal.of(sums.normal(kept_share * pulls))
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


def _scales(problem: Problem, beta: Beta) -> PerJoint:
    """1.4826 times the median of |r| of every joint."""
    counts = _added(problem, _histogram, beta)
    totals = np.cumsum(counts, axis=1)
    halves = 0.5 * totals[:, -1]
    scales = np.zeros(len(counts))
    for j, (count, total, half) in enumerate(zip(counts, totals, halves, strict=True)):
        k = int(np.searchsorted(total, half))
        if half > 0.0 and k:  # bin 0 holds what is zero
            inside = (half - total[k - 1]) / count[k]
            scales[j] = NORMAL * 2.0 ** (LOWEST + (k - 1 + inside) / BINS)
    return scales


def _histogram(
    residuals: Float[np.ndarray, "joints samples"], kept: Float[np.ndarray, "joints samples"] | None
) -> Float[np.ndarray, "joints bins"]:
    """How many |r| are in each bin: bin 0 for none at all, then ``BINS`` to an octave."""
    counts = np.zeros((len(residuals), OCTAVES * BINS + 1))
    with np.errstate(divide="ignore"):
        places = 1.0 + np.floor((np.log2(abs(residuals)) - LOWEST) * BINS)
    places = np.maximum(places, 0.0).astype(np.intp)
    for j, row in enumerate(places):
        counts[j] = np.bincount(row, None if kept is None else kept[j], counts.shape[1])
    return counts


def _tally(
    residuals: Float[np.ndarray, "joints samples"],
    kept: Float[np.ndarray, "joints samples"] | None,
    limits: Float[np.ndarray, "joints 1"],
) -> Float[np.ndarray, "3 joints"]:
    """Numbers of residuals within the limits, squares of psi, squares of all."""
    sizes = abs(residuals)
    each = np.stack([(sizes <= limits).astype(float), np.minimum(sizes, limits) ** 2, sizes**2])
    return np.asarray((each if kept is None else each * kept).sum(axis=2))


def _added(
    problem: Problem,
    measure: Callable[[np.ndarray, np.ndarray | None], np.ndarray],
    beta: Beta,
) -> np.ndarray:
    """A measure of the residuals, added up over all equations."""

    def work(task: Task) -> np.ndarray:
        layout = problem.layout
        parts = (
            measure(rows.tau - layout.torque(rows.values, beta), rows.kept) for rows in problem.rows_of(task)
        )
        return np.asarray(sum(parts))

    return np.asarray(sum(in_order(work, problem.tasks(), threads=problem.threads)))

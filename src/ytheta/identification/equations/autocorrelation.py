"""Autocorrelation time of residuals: the number of samples that carry the information of one independent sample.

Let rho_k be the autocorrelation of the residuals at lag k, and c = 1 + 2·sum_k rho_k. The mean of n residuals then has
the variance of the mean of n / c independent residuals. The sum ends before the first pair rho_2i + rho_2i+1 that is
not positive, because later estimated autocorrelations are only noise (Geyer 1992, "Practical Markov chain Monte Carlo",
initial positive sequence).

Residuals of a fit contain less slow noise than the torques, because the parameters follow noise that looks like the
motion. Their autocovariances are therefore too small:

Identity      r = (1 - H) e,   E[A(k)] = n g(k) - v c h(k),   A(k) = sum_t r(t) r(t + k),   h(k) = sum_t H(t, t + k)
              v c = sum_k A(k) / (n - sum_k h(k)),   sums over all counted lags, positive and negative
Notation      e, g, v    noise of a joint's n equations, its autocovariances, and its variance g(0)
              H          hat matrix of these equations, see below; h(0) are the degrees of freedom

For lag 0 this is the usual variance from n - c h(0) remaining equations. The identity holds for motion that is slow
compared with the noise, R Y = c Y with the autocorrelations R of the noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.shapes import BaseByBase, Float, JointsBySample, NonzerosBySample, PerBase, PerJoint

# Samples from which autocorrelations are estimated. Chosen on: reasoning; they hold hundreds of times the lags, and
# more would only need more time.
MAX_SAMPLES = 60_000
# Number of lags, in samples. Chosen on: reasoning; with automatic decimation a period of the cut-off frequency has at
# most 16 samples, so the lags cover at least 12 periods.
LAG_COUNT = 200
# Share of the equations that remains for the noise if correlated equations are fewer than the parameters. Chosen on:
# rule of thumb.
MIN_REMAINING_SHARE = 0.2
# Largest number of rounds of finding the last lag that counts. Chosen on: rule of thumb.
MAX_ROUNDS = 20
# Noise bandwidth of the low-pass divided by its cut-off. Fixed by: the integral of 1 / (1 + x^8)² from 0 to infinity.
NOISE_BANDWIDTH = 0.898

PerLagAndJoint = Float[np.ndarray, "lags joints"]


def compute_autocorrelation_time(autocovariance: PerLagAndJoint) -> PerJoint:
    """Return the autocorrelation time c of the module docstring for each joint, in samples; c is at least 1."""
    rho = autocovariance / np.where(autocovariance[0] > 0.0, autocovariance[0], 1.0)
    return np.maximum(2.0 * (rho * find_counted_lags(rho)).sum(axis=0) - 1.0, 1.0)


def find_counted_lags(autocovariance: PerLagAndJoint) -> PerLagAndJoint:
    """Return 1 for lags before the first pair that is not positive, and 0 for later ones."""
    pairs = autocovariance[:-1:2] + autocovariance[1::2]
    return np.repeat(np.cumprod(pairs > 0.0, axis=0), 2, axis=0).astype(float)


def compute_noise_autocovariance(
    autocovariance: PerLagAndJoint, hat: PerLagAndJoint, counts: PerJoint
) -> PerLagAndJoint:
    """Return n g(k) of the module docstring, from those of the residuals; zero for lags that do not count.

    ``hat``: h(k); ``counts``: the number n of equations of each joint. Lags also end where the parameters leave too
    few of the equations at such low frequencies.
    """
    factors = np.full((len(hat), 1), 2.0)  # every lag but 0 counts twice
    factors[0] = 1.0
    limit = (1.0 - MIN_REMAINING_SHARE) * counts
    allowed = np.cumprod(np.cumsum(factors * hat, axis=0)[1::2] <= limit, axis=0)
    allowed[0] = 1
    noise = autocovariance
    counted = np.zeros_like(hat)
    for _ in range(MAX_ROUNDS):
        before, counted = counted, find_counted_lags(noise) * np.repeat(allowed, 2, axis=0)
        if np.array_equal(before, counted):
            break
        remaining = np.maximum(counts - (counted * factors * hat).sum(axis=0), MIN_REMAINING_SHARE * counts)
        power = (counted * factors * autocovariance).sum(axis=0) / np.where(counts > 0.0, remaining, 1.0)
        noise = autocovariance + np.maximum(power, 0.0) * hat
    return noise * counted


def compute_equation_autocorrelation_time(
    problem: EstimationProblem, beta: PerBase, hat: PerLagAndJoint | None = None
) -> PerJoint:
    """Return the autocorrelation time of each joint's noise for any equation form, as a number of equations.

    ``hat``: h(k) of the fit; None if it is not known, for the autocorrelation time of the residuals.
    """
    accumulator = AutocovarianceAccumulator(len(problem.layout.slices))
    tasks = list(problem.tasks())
    step = max(1, min(len(tasks), problem.sample_count // MAX_SAMPLES))
    used = 0
    for k, (task, residual) in enumerate(problem.residuals(beta, tasks[::step])):
        used += residual.shape[1]
        segment = (task.source, task.samples.segment) if step == 1 else (k, 0)  # pieces with gaps between them
        accumulator.add(segment, residual)
    if hat is None:
        return compute_autocorrelation_time(accumulator.autocovariance)
    counts = problem.normal_equations().counts
    all_samples = accumulator.autocovariance * (counts.max(initial=1.0) / max(used, 1) if step > 1 else 1.0)
    return compute_autocorrelation_time(compute_noise_autocovariance(all_samples, hat, counts))


class AutocovarianceAccumulator:
    """Sums of r(t) r(t + k) over all samples t, for each lag k; residuals r are added in the order of time."""

    def __init__(self, joints: int) -> None:
        self.autocovariance = np.zeros((LAG_COUNT, joints))
        self._segment: tuple[int, int] | None = None
        self._tail = np.zeros((joints, 0))

    def add(self, segment: tuple[int, int], residual: JointsBySample) -> None:
        """Add the products of new residuals with those of the same segment at most LAG_COUNT - 1 samples earlier."""
        if segment != self._segment:
            self._tail = residual[:, :0]
        self._segment = segment
        if not residual.size:
            return
        missing = np.zeros((len(residual), LAG_COUNT - 1 - self._tail.shape[1]))  # before the start of the segment
        joined = np.concatenate([missing, self._tail, residual], axis=1)
        for j, (series, new) in enumerate(zip(joined, residual, strict=True)):
            self.autocovariance[:, j] += np.correlate(series, new, "valid")[::-1]  # the largest lag comes first
        known = min(self._tail.shape[1] + residual.shape[1], LAG_COUNT - 1)
        self._tail = joined[:, joined.shape[1] - known :]


# Autocovariances of the hat matrix: how much of the noise a fit takes away from its residuals, by lag.
#
# Identity      h_j(k) = sum_t H_j(t, t + k),   H_j = w_j Y_j ``gain`` Y_jᵀ,   h_j(0): the degrees of freedom of joint j
# Accepts       estimates that are linear in the torques, beta = sum_j w_j ``gain`` Y_jᵀ tau_j
#
# ``autocorrelation`` uses them to find the autocovariances of the noise behind residuals.


# Samples of a piece from which autocovariances of the hat matrix are computed: many times the lags. It affects only
# time and memory.
SAMPLES_PER_PIECE = 2048
# Largest number of such pieces. Chosen on: reasoning; in longer logs parameters take away little of the noise.
MAX_HAT_PIECES = 4


def compute_hat_autocovariance(
    problem: EstimationProblem, weights: PerJoint, gain: BaseByBase, degrees_of_freedom: PerJoint
) -> PerLagAndJoint:
    """Return h(k) of the module docstring for each joint, from some pieces of long motion."""

    def work(task: SourceRange) -> PerLagAndJoint:
        values = np.concatenate(list(iterate_values(problem, task)), axis=1)
        size = 1 << (values.shape[1] + LAG_COUNT - 1).bit_length()  # so long that the ends do not meet
        products = np.empty((LAG_COUNT, len(weights)))
        for joint, (part, columns) in enumerate(zip(problem.layout.slices, problem.layout.columns, strict=True)):
            own = np.fft.rfft(values[part], size, axis=1)
            taken = weights[joint] * gain[np.ix_(columns, columns)] @ own
            products[:, joint] = np.fft.irfft((own.conj() * taken).sum(axis=0), size)[:LAG_COUNT]
        return products

    tasks = select_tasks(problem, MAX_HAT_PIECES)
    total = sum(map_in_order(work, iter(tasks), threads=problem.threads), np.zeros((LAG_COUNT, len(weights))))
    return np.asarray(total * (degrees_of_freedom / np.where(total[0] > 0.0, total[0], np.inf)))


def select_tasks(problem: EstimationProblem, count: int) -> list[SourceRange]:
    """Return at most ``count`` short pieces, evenly distributed over the motion."""
    tasks = [
        SourceRange(k, samples)
        for k, source in enumerate(problem.sources)
        for segment, length in enumerate(source.lengths)
        for samples in problem.form.split(segment, length, source.rate, SAMPLES_PER_PIECE)
    ]
    return [tasks[k] for k in np.unique(np.linspace(0, len(tasks) - 1, count).round().astype(int))]


def iterate_values(problem: EstimationProblem, task: SourceRange) -> Iterator[NonzerosBySample]:
    """Yield copies of the non-zeros of Y, zero for equations that are left out."""
    for rows in problem.rows_of(task):
        values = np.array(rows.values)
        if rows.mask is not None:
            for joint, part in enumerate(problem.layout.slices):
                values[part] *= rows.mask[joint]
        yield values


def compute_expected_autocorrelation_time(rate: float, cutoff: float) -> float:
    """Return the autocorrelation time of low-passed white noise, in samples: rate / (2 · noise bandwidth)."""
    return max(1.0, 0.5 * rate / (NOISE_BANDWIDTH * cutoff))

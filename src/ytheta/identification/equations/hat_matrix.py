"""Autocovariances of the hat matrix: how much of the noise a fit takes away from its residuals, by lag.

Identity      h_j(k) = sum_t H_j(t, t + k),   H_j = w_j Y_j ``gain`` Y_jᵀ,   h_j(0): the degrees of freedom of joint j
Accepts       estimates that are linear in the torques, beta = sum_j w_j ``gain`` Y_jᵀ tau_j

``autocorrelation`` uses them to find the autocovariances of the noise behind residuals.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.autocorrelation import LAG_COUNT, PerLagAndJoint
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.shapes import BaseByBase, NonzerosBySample, PerJoint

SAMPLES_PER_PIECE = 2048  # many times the lags of an autocorrelation, but little memory
MAX_HAT_PIECES = 4  # of the motion; in longer logs parameters take away little


def compute_hat_autocovariance(
    problem: EstimationProblem, weights: PerJoint, gain: BaseByBase, degrees_of_freedom: PerJoint
) -> PerLagAndJoint:
    """Return h(k) of the module docstring for each joint, from some pieces of long motion."""

    def work(task: Task) -> PerLagAndJoint:
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


def select_tasks(problem: EstimationProblem, count: int) -> list[Task]:
    """Return at most ``count`` short pieces, evenly distributed over the motion."""
    tasks = [
        Task(k, samples)
        for k, source in enumerate(problem.sources)
        for segment, length in enumerate(source.lengths)
        for samples in problem.form.split(segment, length, source.rate, SAMPLES_PER_PIECE)
    ]
    return [tasks[k] for k in np.unique(np.linspace(0, len(tasks) - 1, count).round().astype(int))]


def iterate_values(problem: EstimationProblem, task: Task) -> Iterator[NonzerosBySample]:
    """Yield copies of the non-zeros of Y, zero for equations that are left out."""
    for rows in problem.rows_of(task):
        values = np.array(rows.values)
        if rows.mask is not None:
            for joint, part in enumerate(problem.layout.slices):
                values[part] *= rows.mask[joint]
        yield values

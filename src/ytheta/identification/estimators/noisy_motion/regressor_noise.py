"""Noise of the motion: its standard deviations, and the covariance of the noise that it causes in the regressor.

Identity      C_j = mean over samples of sum_c s_c² (dY_j/dc)ᵀ (dY_j/dc),   c: q, qd and qdd of every joint

The standard deviations s_c are computed from the content of the log above the band of the motion (``spectrum``), where
joints do not move. Noise within the band is not counted, so that s_c is rather too small; vibrations
that the torque sees as well are counted, although they are no noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.estimators.noisy_motion.spectrum import choose_bands, compute_noise, iterate_segments
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float, NonzerosBySample, PerJoint

MAX_SAMPLES = 2000  # number of samples, equally spaced in the logs, over which the covariance is averaged

QUANTITIES = ("q", "qd", "qdd")


@dataclass(frozen=True, eq=False)
class MotionNoise:
    """Standard deviations of the noise of every joint's position, velocity and acceleration."""

    q: PerJoint
    qd: PerJoint
    qdd: PerJoint


def estimate_motion_noise(problem: EstimationProblem) -> MotionNoise:
    """Estimate the noise of all logs; see the module docstring."""
    squares, count = np.zeros((len(QUANTITIES), len(problem.base.robot.actuated))), 0
    for part in iterate_segments(problem):
        squares += len(part.q) * compute_noise(part, choose_bands(part)) ** 2
        count += len(part.q)
    q, qd, qdd = np.sqrt(squares / max(count, 1))
    return MotionNoise(q, qd, qdd)


def propagate_motion_noise(
    problem: EstimationProblem, form: Differential, noise: MotionNoise
) -> tuple[Float[np.ndarray, "own own"], ...]:
    """Return C_j of every joint, for the base parameters that occur in the joint's equations.

    Derivatives are central differences with steps of one standard deviation. Low-passed drive directions count as
    exact.
    """
    layout, stride = problem.layout, -(-problem.sample_count // MAX_SAMPLES)
    sizes = [len(columns) for columns in layout.columns]

    def work(task: Task) -> tuple[list[np.ndarray], PerJoint]:
        motion = _select_every(problem.motion(task), -task.samples.first % stride, stride)
        mask = form.mask(motion)
        weights = np.ones((len(sizes), len(motion))) if mask is None else mask
        sums = [np.zeros((n, n)) for n in sizes]
        for first, changes in _compute_changes(form, motion, noise):
            kept = weights[:, first : first + changes.shape[1]]
            for total, part, used in zip(sums, layout.slices, kept, strict=True):
                total += (changes[part] * used) @ changes[part].T
        return sums, weights.sum(axis=1)

    totals, counts = [np.zeros((n, n)) for n in sizes], np.zeros(len(sizes))
    for sums, used in map_in_order(work, problem.tasks(), threads=problem.threads):
        totals = [a + b for a, b in zip(totals, sums, strict=True)]
        counts = counts + used
    return tuple(total / max(count, 1.0) for total, count in zip(totals, counts, strict=True))


def _compute_changes(
    form: Differential, motion: MotionSamples, noise: MotionNoise
) -> Iterator[tuple[int, NonzerosBySample]]:
    """Yield for each quantity with noise and each block its first sample and the change of Y by one deviation."""
    for name in QUANTITIES:
        values, deviations = getattr(motion, name), getattr(noise, name)
        for joint in np.flatnonzero(deviations):
            step = np.zeros(values.shape[1])
            step[joint] = deviations[joint]
            upper = form.compute_regressor_blocks(replace(motion, **{name: values + step}))
            lower = form.compute_regressor_blocks(replace(motion, **{name: values - step}))
            for (first, above), (_, below) in zip(upper, lower, strict=True):
                yield first, 0.5 * (above - below)


def _select_every(motion: MotionSamples, first: int, stride: int) -> MotionSamples:
    chosen = slice(first, None, stride)
    return MotionSamples(
        t=motion.t[chosen],
        q=np.ascontiguousarray(motion.q[chosen]),
        qd=np.ascontiguousarray(motion.qd[chosen]),
        qdd=np.ascontiguousarray(motion.qdd[chosen]),
        tau=None,
        raw_tau=None,
        rows=motion.rows[chosen],
        direction=None if motion.direction is None else np.ascontiguousarray(motion.direction[chosen]),
    )

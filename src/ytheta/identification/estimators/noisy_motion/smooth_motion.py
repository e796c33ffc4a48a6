"""Smooth motion: the motion of a log without the noise above the frequency band in which the joints move.

Identity      r = S S q,   S = (I + lambda D₂ᵀ D₂)⁻¹,   D₂: second differences of the positions q of a segment
              gain of S S: 1 / (1 + lambda (2 sin(pi f / rate))⁴)², which is ½ at the frequency ``band``
Reference     E. T. Whittaker, "On a new method of graduation", Proc. Edinburgh Math. Soc. 41 (1923)

Velocities and accelerations are central differences of r. The smoother needs no samples outside the segment, and at the
ends it extrapolates linearly. The noise of r is correlated with that of q only below ``band``, where the noise of
velocities and accelerations is small: differentiating amplifies noise in proportion to f and f².

Drive directions are 0 below a dead speed, and change to -1 or 1 up to twice this speed. At a reversal, noise makes the
measured direction change too early or too late. This error depends on the velocity, so that a direction that is not 0
there would be correlated with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solveh_banded

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.estimators.noisy_motion.spectrum import (
    MIN_SAMPLES,
    RecordedSegment,
    choose_bands,
    compute_noise,
    iterate_segments,
)
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Bool, Float, PerJoint, PerSample, SamplesByJoint

MAX_BAND_PER_RATE = 0.4  # positions are not smoothed above it
# Dead speed of a drive, below which its direction is not certain, in standard deviations of the velocity noise: three
# for noise of the velocity from which directions are computed, which is 2^1.5 times that of the motion (see
# ``drive_directions``). The other values bound it as a share of the highest speed: with a larger dead speed, directions
# would be almost proportional to velocities.
DEAD_SPEED_PER_NOISE = 8.5
MIN_DEAD_SPEED_RATIO, MAX_DEAD_SPEED_RATIO = 0.01, 0.1


@dataclass(frozen=True, eq=False)
class SmoothSegment:
    """Smooth positions of samples ``first``, … of a segment.

    ``held``: joints whose velocity is always zero. ``rates``: drive velocities per unit velocity of the joints; None if
    they depend on the pose. ``dead_speeds``: see the module docstring.
    """

    first: int
    q: SamplesByJoint
    rate: float
    held: Bool[np.ndarray, "joints"]
    rates: Float[np.ndarray, "drives joints"] | None
    dead_speeds: Float[np.ndarray, "drives"]

    def replace_motion(self, motion: MotionSamples, first: int) -> MotionSamples:
        """Return ``motion``, whose first sample is ``first``, with smooth positions and their derivatives."""
        begin = first - self.first
        start, stop = max(0, begin - 2), min(len(self.q), begin + len(motion) + 2)
        q, step, kept = self.q[start:stop], 1.0 / self.rate, slice(begin - start, begin - start + len(motion))
        qd = differentiate(q, step) * ~self.held
        qdd = differentiate(qd, step)
        direction = None if self.rates is None else self._compute_directions(qd[kept])
        return replace(motion, q=q[kept].copy(), qd=qd[kept].copy(), qdd=qdd[kept].copy(), direction=direction)

    def _compute_directions(self, qd: SamplesByJoint) -> Float[np.ndarray, "samples drives"]:
        assert self.rates is not None
        velocity, width = qd @ self.rates.T, np.where(self.dead_speeds > 0.0, self.dead_speeds, np.inf)
        return np.sign(velocity) * np.clip(abs(velocity) / width - 1.0, 0.0, 1.0)


def smooth_motion(problem: EstimationProblem, band: float | None) -> dict[tuple[int, int], SmoothSegment]:
    """Return the smooth motion of every segment, by source and segment; by default, each joint has its own band."""
    directions = make_drive_directions(problem.base.robot)
    rates = directions.rates if isinstance(directions, DriveDirections) else None  # with loops, the kernel's sign
    smooth: dict[tuple[int, int], SmoothSegment] = {}
    for part in iterate_segments(problem):
        chosen = choose_bands(part)
        bands = chosen if band is None else np.full(part.q.shape[1], band)
        q = np.stack([smooth_positions(q, f, part.rate) for q, f in zip(part.q.T, bands, strict=True)], axis=1)
        dead_speeds = np.zeros(0) if rates is None else _choose_dead_speeds(rates, part, chosen)
        held = np.asarray(~part.qd.any(axis=0))
        smooth[part.source, part.segment] = SmoothSegment(part.first, q, part.rate, held, rates, dead_speeds)
    return smooth


def smooth_positions(q: PerSample, band: float, rate: float) -> PerSample:
    """Return r of the module docstring, or q if ``band`` is above ``MAX_BAND_PER_RATE`` or there are few samples."""
    if band > MAX_BAND_PER_RATE * rate or len(q) < MIN_SAMPLES:
        return q
    penalty = (np.sqrt(2.0) - 1.0) / (2.0 * np.sin(np.pi * band / rate)) ** 4
    # The diagonals of D₂ᵀ D₂ are those of [1 -4 6 -4 1], except at the ends.
    diagonals = np.zeros((3, len(q)))
    diagonals[0, 2:] = 1.0
    diagonals[1, 1:] = -4.0
    diagonals[1, [1, -1]] = -2.0
    diagonals[2] = 6.0
    diagonals[2, [0, -1]] = 1.0
    diagonals[2, [1, -2]] = 5.0
    diagonals *= penalty
    diagonals[2] += 1.0
    # A straight line passes unchanged; subtracting it first keeps rounding errors small.
    line = np.linspace(q[0], q[-1], len(q))
    return np.asarray(line + solveh_banded(diagonals, solveh_banded(diagonals, q - line)))


def differentiate(signal: SamplesByJoint, step: float) -> SamplesByJoint:
    """Return central differences; zero if there is only one sample."""
    return np.gradient(signal, step, axis=0) if len(signal) > 1 else np.zeros_like(signal)


def _choose_dead_speeds(
    rates: Float[np.ndarray, "drives joints"], part: RecordedSegment, bands: PerJoint
) -> Float[np.ndarray, "drives"]:
    noise = np.sqrt(rates**2 @ compute_noise(part, bands)[1] ** 2)
    highest = abs(rates @ part.qd.T).max(axis=1, initial=0.0)
    return np.clip(DEAD_SPEED_PER_NOISE * noise, MIN_DEAD_SPEED_RATIO * highest, MAX_DEAD_SPEED_RATIO * highest)

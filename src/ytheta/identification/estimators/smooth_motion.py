"""Smooth motion: the motion of a log without the noise above the frequency band in which the joints move.

Identity      r = S S q,   S = (I + lambda D₂ᵀ D₂)⁻¹,   D₂: second differences of the positions q of a segment
              gain of S S: 1 / (1 + lambda (2 sin(pi f / rate))⁴)², which is ½ at the frequency ``band``
Reference     E. T. Whittaker, "On a new method of graduation", Proc. Edinburgh Math. Soc. 41 (1923)

Velocities and accelerations are central differences of r. The smoother needs no samples outside the segment, and at the
ends it extrapolates linearly. The noise of r is correlated with that of q only below ``band``, where the noise of
velocities and accelerations is small: differentiating amplifies noise in proportion to f and f².
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solveh_banded

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Bool, Float, PerJoint, PerSample, SamplesByJoint

SPEED_SHARE = 0.99  # share of the energy of a joint's velocity at frequencies that count as its motion
BAND_PER_HIGHEST_FREQUENCY = 2.0  # at the highest frequency of the motion, the gain is then 0.95
MIN_SAMPLES = 8  # shorter segments are not smoothed
MIN_PERIODS = 4.0  # of the frequency ``band`` in a segment
MAX_BAND_PER_RATE = 0.4  # positions are not smoothed above it
MIN_PEAK_PER_FLOOR = 10.0  # power relative to the noise floor; below it, a frequency counts as noise
SMOOTH_SPEED_RATIO = 0.01  # smoothing speed of drive directions divided by the highest speed


@dataclass(frozen=True, eq=False)
class SmoothSegment:
    """Smooth positions of samples ``first``, … of a segment; ``held``: joints whose velocity is always zero."""

    first: int
    q: SamplesByJoint
    rate: float
    held: Bool[np.ndarray, "joints"]
    directions: DriveDirections | None

    def replace_motion(self, motion: MotionSamples, first: int) -> MotionSamples:
        """Return ``motion``, whose first sample is ``first``, with smooth positions and their derivatives."""
        begin = first - self.first
        start, stop = max(0, begin - 2), min(len(self.q), begin + len(motion) + 2)
        q, step, kept = self.q[start:stop], 1.0 / self.rate, slice(begin - start, begin - start + len(motion))
        qd = differentiate(q, step) * ~self.held
        qdd = differentiate(qd, step)
        direction = None
        if motion.direction is not None and self.directions is not None:
            direction = np.ascontiguousarray(self.directions.evaluate(qd[kept].T).T)
        return replace(motion, q=q[kept].copy(), qd=qd[kept].copy(), qdd=qdd[kept].copy(), direction=direction)


@dataclass(frozen=True, eq=False)
class RecordedSegment:
    """The prepared motion of the samples ``first``, … of a segment that occur in equations."""

    source: int
    segment: int
    first: int
    rate: float
    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint


def iterate_segments(problem: EstimationProblem) -> Iterator[RecordedSegment]:
    """Yield the motion of each segment as a whole."""
    tasks: dict[tuple[int, int], list[Task]] = {}
    for task in problem.tasks():
        tasks.setdefault((task.source, task.samples.segment), []).append(task)
    joints = len(problem.base.robot.actuated)
    for (source, segment), parts in tasks.items():
        first = min(task.samples.first for task in parts)
        q, qd, qdd = (np.zeros((max(task.samples.last for task in parts) - first, joints)) for _ in range(3))
        motions = map_in_order(problem.motion, parts, threads=problem.threads)
        for task, motion in zip(parts, motions, strict=True):
            chosen = slice(task.samples.first - first, task.samples.last - first)
            q[chosen], qd[chosen], qdd[chosen] = motion.q, motion.qd, motion.qdd
        yield RecordedSegment(source, segment, first, problem.sources[source].rate, q, qd, qdd)


def smooth_motion(problem: EstimationProblem, band: float | None) -> dict[tuple[int, int], SmoothSegment]:
    """Return the smooth motion of every segment, by source and segment; by default, each joint has its own band."""
    directions = make_drive_directions(problem.base.robot)
    smooth: dict[tuple[int, int], SmoothSegment] = {}
    for part in iterate_segments(problem):
        bands = choose_bands(part.q, part.rate) if band is None else np.full(part.q.shape[1], band)
        columns = [smooth_positions(q, f, part.rate) for q, f in zip(part.q.T, bands, strict=True)]
        held = ~part.qd.any(axis=0)
        smoothed = directions and _with_smooth_signs(directions, part.qd)
        q = np.stack(columns, axis=1)
        smooth[part.source, part.segment] = SmoothSegment(part.first, q, part.rate, held, smoothed)
    return smooth


def smooth_positions(q: PerSample, band: float, rate: float) -> PerSample:
    """Return r of the module docstring; q itself if ``band`` is above ``MAX_BAND_PER_RATE`` or there are few samples."""
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


def choose_bands(q: SamplesByJoint, rate: float) -> PerJoint:
    """Return for every joint the frequency in Hz up to which its positions pass; see the constants."""
    if len(q) < MIN_SAMPLES:
        return np.full(q.shape[1], np.inf)
    frequency, power = compute_spectrum(q, rate)
    floor = np.median(power[len(power) // 2 :], axis=0) / np.log(2.0)  # noise power has an exponential distribution
    energy = np.cumsum(frequency[:, None] ** 2 * np.where(power > MIN_PEAK_PER_FLOOR * floor, power, 0.0), axis=0)
    highest = frequency[np.argmax(energy >= SPEED_SHARE * energy[-1], axis=0)]
    return np.maximum(BAND_PER_HIGHEST_FREQUENCY * highest, MIN_PERIODS * rate / len(q))


def compute_spectrum(
    signal: SamplesByJoint, rate: float
) -> tuple[Float[np.ndarray, "frequencies"], Float[np.ndarray, "frequencies joints"]]:
    """Return frequencies and the power at each, so that the sum is the mean square about the mean (Hann window)."""
    count = len(signal)
    window = np.hanning(count + 2)[1:-1, None]
    spectrum = np.fft.rfft(window * (signal - signal.mean(axis=0)), axis=0)
    twice = np.full((len(spectrum), 1), 2.0)
    twice[0] = 1.0
    if count % 2 == 0:
        twice[-1] = 1.0
    return np.fft.rfftfreq(count, 1.0 / rate), twice * abs(spectrum) ** 2 / (count * np.square(window).sum())


def differentiate(signal: SamplesByJoint, step: float) -> SamplesByJoint:
    """Return central differences; zero if there is only one sample."""
    return np.gradient(signal, step, axis=0) if len(signal) > 1 else np.zeros_like(signal)


def _with_smooth_signs(directions: DriveDirections, qd: SamplesByJoint) -> DriveDirections:
    """Return directions that change sign gradually, since the sign of a smooth velocity near zero is arbitrary."""
    speeds = SMOOTH_SPEED_RATIO * abs(directions.rates @ qd.T).max(axis=1, initial=0.0)
    return replace(directions, smooth_speeds=np.maximum(directions.smooth_speeds, speeds))

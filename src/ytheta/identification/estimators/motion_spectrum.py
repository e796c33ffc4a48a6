"""Spectra of the motion of a log: the frequency band in which the joints move, and the noise above it.

Positions of a log are motion and noise. Differentiating amplifies noise in proportion to the frequency, so that
velocities and accelerations contain noise mainly above the band of the motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.shapes import Float, PerJoint, PerSample, SamplesByJoint

# Share of the energy of a joint's position at frequencies that are not searched for noise. Chosen on: rule of thumb.
POSITION_SHARE = 0.999
# Largest ratio of the power in the two halves of an octave that counts as noise. Chosen on: rule of thumb.
MAX_CHANGE_OF_NOISE = 2.0
# Smallest share of an octave in the energy of a joint's acceleration, from which noise is estimated. Chosen on: rule
# of thumb.
MIN_ACCELERATION_SHARE_OF_NOISE = 1e-4
# Share of the energy of a joint's acceleration at frequencies of its motion. Chosen on: rule of thumb.
ACCELERATION_SHARE = 0.99
# Band of the smoother relative to the highest frequency of the motion. Chosen on: reasoning; the gain is then 0.95 at
# the highest frequency.
BAND_PER_HIGHEST_FREQUENCY = 2.0
# Samples of the shortest segment that is smoothed. Chosen on: rule of thumb.
MIN_SAMPLES = 8
# Length of the polynomial that makes a motion periodic, divided by that of the motion. Chosen on: rule of thumb.
MAX_CLOSING_SHARE = 0.25
# Periods of the frequency ``band`` in a segment. Chosen on: rule of thumb.
MIN_PERIODS = 4.0
# Power relative to the noise floor; below it, a frequency counts as noise. Chosen on: rule of thumb.
MIN_PEAK_PER_FLOOR = 10.0
# Frequency relative to the band, above which everything counts as noise. Chosen on: reasoning; three times the
# highest frequency of the motion.
NOISE_FREQUENCY_RATIO = 1.5


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
    tasks: dict[tuple[int, int], list[SourceRange]] = {}
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


def choose_bands(part: RecordedSegment) -> PerJoint:
    """Return for every joint the frequency in Hz up to which its positions pass.

    The band is ``BAND_PER_HIGHEST_FREQUENCY`` times the highest frequency of the motion, which contains nearly all
    acceleration that is not noise. A short transient has power at many frequencies and may count as noise.
    """
    if len(part.q) < MIN_SAMPLES:
        return np.full(part.q.shape[1], np.inf)
    signals = zip(part.q.T, part.qd.T, part.qdd.T, strict=True)
    bands = [_choose_band(close_motion(q, qd, qdd, part.rate), part.rate) for q, qd, qdd in signals]
    return np.maximum(bands, MIN_PERIODS * part.rate / len(part.q))


def _choose_band(q: PerSample, rate: float) -> float:
    frequency, power = compute_spectrum(q[:, None], rate)
    motion = np.where(power[:, 0] > MIN_PEAK_PER_FLOOR * find_noise_floor(power[:, 0]), power[:, 0], 0.0)
    energy = np.cumsum(frequency**4 * motion)
    return BAND_PER_HIGHEST_FREQUENCY * float(frequency[np.argmax(energy >= ACCELERATION_SHARE * energy[-1])])


def find_noise_floor(power: Float[np.ndarray, " frequencies"]) -> float:
    """Return the mean power of a position's noise per frequency; 0 if no noise is found that affects accelerations.

    The power of white noise does not depend on the frequency up to the cut-off of the log, whereas that of motion falls
    steeply. The floor is read in the highest octave in which power changes by less than ``MAX_CHANGE_OF_NOISE``.
    Octaves that hardly contribute to the acceleration are left out: behind the cut-off, only rounding errors remain.
    """
    place = max(int(np.argmax(np.cumsum(power) >= POSITION_SHARE * power.sum())), int(MIN_PERIODS))
    energy = np.cumsum(np.arange(len(power)) ** 4.0 * power)
    floor = 0.0
    while 2 * place < len(power):
        middle = round(np.sqrt(2.0) * place)
        lower, upper = (float(np.median(part)) for part in (power[place:middle], power[middle : 2 * place]))
        matters = energy[2 * place] - energy[place] > MIN_ACCELERATION_SHARE_OF_NOISE * energy[-1]
        if matters and max(lower, upper) < MAX_CHANGE_OF_NOISE * min(lower, upper):
            floor = float(np.median(power[place : 2 * place])) / np.log(2.0)  # the power of noise is exponential
        place = middle
    return floor


def close_motion(q: PerSample, qd: PerSample, qdd: PerSample, rate: float) -> Float[np.ndarray, " closed"]:
    """Return positions of a joint with a quintic polynomial appended that leads from the end back to the start.

    The motion is then periodic, so that its spectrum does not need a window, which would hide the accelerations at the
    start and at the end of a motion. The polynomial takes about one mean period of the motion.
    """
    speed = float(qd.std())
    period = 2.0 * np.pi * float(q.std()) / speed if speed > 0.0 else np.inf
    count = int(np.clip(min(rate * period, MAX_CLOSING_SHARE * len(q)), MIN_SAMPLES, None))
    duration, powers = (count + 1) / rate, np.arange(6)

    def evaluate(places: Float[np.ndarray, "places"], order: int) -> Float[np.ndarray, "places 6"]:
        factors = np.ones(6)
        for k in range(order):
            factors = factors * (powers - k) / duration
        return np.asarray(factors * places[:, None] ** np.maximum(powers - order, 0))

    ends = np.concatenate([evaluate(np.array([0.0, 1.0]), order) for order in range(3)])
    coefficients = np.linalg.solve(ends, np.concatenate([signal[[-1, 0]] for signal in (q, qd, qdd)]))
    places = np.arange(1, count + 1) / (count + 1)
    return np.concatenate([q, evaluate(places, 0) @ coefficients])


def compute_spectrum(
    signal: SamplesByJoint, rate: float
) -> tuple[Float[np.ndarray, " frequencies"], Float[np.ndarray, "frequencies joints"]]:
    """Return frequencies and the power at each; the sum over all frequencies is the variance."""
    count = len(signal)
    spectrum = np.fft.rfft(signal - signal.mean(axis=0), axis=0) / count
    twice = np.full((len(spectrum), 1), 2.0)
    twice[0] = 1.0
    if count % 2 == 0:
        twice[-1] = 1.0
    return np.fft.rfftfreq(count, 1.0 / rate), twice * abs(spectrum) ** 2


def compute_noise(part: RecordedSegment, bands: PerJoint) -> Float[np.ndarray, "3 joints"]:
    """Return the RMS of the content of q, qd and qdd above ``NOISE_FREQUENCY_RATIO`` times the bands.

    A Hann window hides the start and the end of a motion, where high frequencies are not noise.
    """
    if len(part.q) < MIN_SAMPLES:
        return np.zeros((3, part.q.shape[1]))
    window = np.hanning(len(part.q) + 2)[1:-1, None]
    squares: list[PerJoint] = []
    for signal in (part.q, part.qd, part.qdd):
        frequency, power = compute_spectrum(window * (signal - signal.mean(axis=0)), part.rate)
        noise = np.where(frequency[:, None] > NOISE_FREQUENCY_RATIO * bands, power, 0.0)
        squares.append(noise.sum(axis=0) / np.square(window).mean())
    return np.sqrt(squares)

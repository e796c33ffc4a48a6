"""The cut-off of the low-pass, chosen from the positions of a log.

Acceleration's spectrum has two hills: the motion, then noise, which grows with the square of the frequency. What lies
below the valley between them is the robot's doing, what lies above is not.

Band        the frequency below which 99.9 % of a joint's velocity energy lies, counted up to its valley; the median
            over the joints that move. The median, because a noisy joint has no valley to be trusted.
Wish        ten times the band, a rule of thumb of identification practice: motion then passes with an error of 1e-8.
            But arms swing in their gears and links from about 10 Hz on, which no rigid model explains: beyond 10 Hz,
            twice the band must do, which motion passes with an error of 0.4 % at its upper end. What friction adds
            when joints reverse goes further up, but model and measurement lose it alike; see ``direction``.
Limit       where the noise let through reaches a fifth of the motion, both as rms acceleration; the median again. Noise
            is what was measured beyond the valley, not a white floor: stamps and drives make coloured noise.
Cut-off     the smaller of wish and limit, but at least twice the band and at most 0.4 of the rate; one for all joints,
            since every row of the regressor mixes joints.
At rest     there is neither band nor limit, and the cut-off is the 10 Hz beyond which arms are not rigid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import ChannelsBySample, Float, LinesByJoint, PerEdge, PerLine

ENERGY = 0.999  # share of velocity energy that makes up the band
WISH = 10.0  # cut-off in bands …
RIGID = 10.0  # … up to this many Hz, where arms begin to swing,
LEAST = 2.0  # bands that neither this nor noise must cut into
MOST = 0.4  # of the rate
NOISE = 0.2  # rms acceleration of noise let through, of that of motion
MOVES = 100.0  # a joint moves if its positions rise this far above their own floor, as power
SECONDS = 16.0  # of a window: resolves motion of a quarter of a hertz
WINDOWS = 16  # at most; a longer log is sampled, so that the choice costs the same
FEWEST = 64  # samples below which no spectrum says anything
BIN = 1.5  # ratio of neighbouring bins: wider than the gaps between the lines of a periodic motion
LOBE = 3.0  # spectral lines that the window smears one line over


@dataclass(frozen=True)
class Cutoff:
    """The cut-off and the figures it was chosen by, all in Hz; no band where nothing moves."""

    cutoff: float
    band: float | None
    limit: float
    rate: float

    @property
    def finding(self) -> Finding:
        """The choice as a sentence."""
        if self.band is None:
            text = f"low-pass at {self.cutoff:.3g} Hz: no motion stands out from which to choose it"
            return Finding("cut-off", Severity.NOTE, text)
        least = self.cutoff == LEAST * self.band
        if self.cutoff == WISH * self.band or (least and self.limit >= self.cutoff):
            reason = f"{self.cutoff / self.band:.3g} times the motion's band of {self.band:.3g} Hz"
        elif self.cutoff == RIGID:
            reason = f"beyond it arms are not rigid; the motion's band is {self.band:.3g} Hz"
        elif self.cutoff == MOST * self.rate:
            reason = f"the highest the rate of {self.rate:.4g} Hz allows"
        elif self.cutoff == self.limit:
            noise = f"{100 * NOISE:.0f} % of the acceleration"
            reason = f"beyond it noise exceeds {noise}; the motion's band is {self.band:.3g} Hz"
        else:
            reason = f"{LEAST:g} times the motion's band of {self.band:.3g} Hz, although accelerations are noisy there"
        return Finding("cut-off", Severity.NOTE, f"low-pass at {self.cutoff:.3g} Hz: {reason}")


def choose_cutoff(log: Log, grid: Grid) -> Cutoff:
    """The cut-off that suits a log; see the module docstring for the rule."""
    frequency, velocity = _velocity_spectrum(log, grid)
    omega = 2.0 * np.pi * frequency[:, np.newaxis]
    acceleration = velocity * omega**2
    edges = _bins(frequency, grid.rate)
    bands, limits = [], []
    moving = _moving(frequency, velocity / omega**2, grid.rate)
    if not moving.any():
        cutoff = min(RIGID, MOST * grid.rate)
        return Cutoff(cutoff, None, cutoff, grid.rate)
    for joint in np.flatnonzero(moving):
        valley = _valley(frequency, velocity[:, joint], acceleration[:, joint], edges)
        below = frequency <= valley
        energy = np.cumsum(velocity[below, joint])
        bands.append(frequency[np.searchsorted(energy, ENERGY * energy[-1])])
        noise = np.cumsum(np.where(below, 0.0, acceleration[:, joint]))
        beyond = int(np.searchsorted(noise, NOISE**2 * float(acceleration[below, joint].sum())))
        limits.append(frequency[min(beyond, len(frequency) - 1)])
    band, limit = float(np.median(bands)), float(np.median(limits))
    wish = min(WISH * band, max(RIGID, LEAST * band))
    cutoff = min(max(min(wish, limit), LEAST * band), MOST * grid.rate)
    return Cutoff(cutoff, band, limit, grid.rate)


def _velocity_spectrum(log: Log, grid: Grid) -> tuple[PerLine, LinesByJoint]:
    """Mean power spectrum of the differenced positions, without the line at zero."""
    lengths = [grid.length(log, segment) for segment in log.segments]
    longest = max(lengths, default=0)
    if longest < FEWEST:
        raise InputError(
            f"{log.source or 'log'}: {log.describe_cuts()}the longest segment has {longest} samples, too few to choose a "
            f"cut-off from (at least {FEWEST}); give the cut-off"
        )
    # Windows of one length; segments shorter than half the longest say little about low frequencies.
    size = min(max(int(SECONDS * grid.rate), FEWEST), longest)
    taper = np.kaiser(size, 9.0)[:-1]  # its side lobes fall to 1e-7: strong motion does not pose as noise far away
    frequency = np.fft.rfftfreq(size - 1, 1.0 / grid.rate)
    powers = []
    for samples in _windows(log, grid, lengths, size):
        velocity = np.diff(samples, axis=1) * grid.rate
        velocity -= velocity.mean(axis=1, keepdims=True)
        power = np.abs(np.fft.rfft(velocity * taper, axis=1)) ** 2 / (grid.rate * (taper @ taper))
        power[:, 1 : size // 2] *= 2.0  # what lies at negative frequencies
        powers.append(power)
    return frequency[1:], np.ascontiguousarray(np.mean(powers, axis=0)[:, 1:].T)


def _windows(log: Log, grid: Grid, lengths: list[int], size: int) -> Iterator[ChannelsBySample]:
    """Half overlapping windows of position, of at most WINDOWS evenly chosen ones."""
    starts = [
        (segment, start)
        for segment, length in zip(log.segments, lengths, strict=True)
        for start in range(0, length - size + 1, max(1, size // 2))
    ]
    for index in np.unique(np.linspace(0, len(starts) - 1, min(WINDOWS, len(starts))).astype(int)):
        segment, start = starts[index]
        yield grid.sample(log, segment, start, start + size, (log.q,))[0]


def _bins(frequency: PerLine, rate: float) -> PerEdge:
    """Edges of bins of equal ratio, from beyond the smear of a constant to where the rate ends."""
    lowest, highest = LOBE * float(frequency[0]), MOST * rate
    return np.geomspace(lowest, highest, max(3, int(np.log(highest / lowest) / np.log(BIN)) + 1))


def _moving(frequency: PerLine, position: LinesByJoint, rate: float) -> Float[np.ndarray, "joints"]:
    """One for the joints whose positions stand out from their floor, zero for the others."""
    high = frequency > 0.5 * MOST * rate
    # The lowest lines are left out: there, what leaks from noise far above is blown up by the division by omega^2.
    low = ~high & (frequency > LOBE * frequency[0])
    floor = np.median(position[high], axis=0)
    return (position[low].max(axis=0) > MOVES * floor).astype(float)


def _valley(frequency: PerLine, velocity: PerLine, acceleration: PerLine, edges: PerEdge) -> float:
    """Where acceleration is least, beyond the hill of velocity."""
    index = np.digitize(frequency, edges)
    inside = [index == i for i in range(1, len(edges)) if (index == i).any()]
    hill = int(np.argmax([velocity[chosen].mean() for chosen in inside]))
    levels = [acceleration[chosen].mean() for chosen in inside[hill:]]
    return float(frequency[inside[hill + int(np.argmin(levels))]].mean())

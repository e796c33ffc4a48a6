"""Choosing the cut-off of the low-pass from the positions of a log.

The valley of the acceleration spectrum separates motion from noise; see the spectra below.

Band        For each joint, the frequency up to which the velocity spectrum contains 99.9 % of its energy below the
            valley. The band is the median of the joints that move, because the valley of a noisy joint is unreliable.
Target      Gears and links vibrate above about 10 Hz, and a rigid-body model cannot explain vibrations. Therefore the
            target is 10 Hz, or twice the band if that is higher. A cut-off of twice the band attenuates the motion by
            up to 0.4 %. Slow motion has the same target: its reversals of friction and its gravity torques contain
            frequencies above its band, and a lower cut-off would make parameters weak without need. Friction torques
            contain higher frequencies still, but the filter removes these from both model and measurement; see
            ``drives``.
Limit       For each joint, the cut-off at which the RMS acceleration of the remaining noise reaches a tenth of that of
            the motion. Noise in accelerations biases inertias by the ratio of the powers, here 1 %, and appears as
            torque error on validation logs. The limit is the median of the joints that move. Noise is measured above
            the valley and not assumed to be white, because timestamp jitter and the drives make it coloured.
Cut-off     The smaller of target and limit, but at least twice the band and at most 0.4 times the sampling rate. All
            joints have the same cut-off, since every row of the regressor depends on several joints.
Judged      Errors are judged at no more than ten times the band, a rule of thumb in identification: above it, a torque
            contains hardly anything of the motion, but noise and vibrations.
At rest     If no joint moves, there is neither band nor limit. The cut-off is 10 Hz, or 0.4 times the sampling rate if
            that is lower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import Bool, ChannelsBySample, Float, LinesByJoint, PerEdge, PerLine, SamplesByJoint, Shaped

# Velocity energy within the band, divided by the velocity energy up to the valley. Chosen on: rule of thumb.
BAND_ENERGY_SHARE = 0.999
# Largest cut-off at which errors are judged, divided by the band. Chosen on: rule of thumb in identification, ten times
# the band.
MAX_JUDGED_BAND_RATIO = 10.0
# Frequency in Hz above which arms are not rigid; gears and links vibrate above about 10 Hz. Chosen on: the recorded
# logs of docs/identify.md.
MAX_RIGID_FREQUENCY = 10.0
# Smallest cut-off divided by the band; it applies even if the limit is lower. It attenuates the motion by at most 0.4
# %. Chosen on: the recorded logs of docs/identify.md.
MIN_BAND_RATIO = 2.0
# RMS acceleration of the remaining noise divided by that of the motion; noise biases inertias by the ratio of the
# powers, here 1 %. Chosen on: the recorded logs of docs/identify.md.
MAX_NOISE_RATIO = 0.1
# Peak of the position spectrum divided by its noise floor; if it is lower, the joint is at rest. Chosen on: rule of
# thumb.
MIN_POWER_RATIO = 100.0


@dataclass(frozen=True)
class CutoffChoice:
    """The cut-off and the values on which the choice is based, all in Hz; ``band`` is None if no joint moves."""

    cutoff: float
    band: float | None
    limit: float
    rate: float

    @property
    def judged(self) -> float:
        """The cut-off at which the errors of this log are judged: at most ten times the band."""
        return self.cutoff if self.band is None else min(self.cutoff, MAX_JUDGED_BAND_RATIO * self.band)

    @property
    def minimum(self) -> float:
        """The lowest cut-off that leaves the motion as it is; the cut-off itself if no joint moves."""
        return self.cutoff if self.band is None else min(self.cutoff, MIN_BAND_RATIO * self.band)

    @property
    def finding(self) -> Finding:
        """The choice and its reason."""
        return Finding(
            LogFindingCode.CUTOFF,
            Severity.NOTE,
            f"low-pass at {self.cutoff:.3g} Hz: {self._reason}",
            fields={"cutoff": self.cutoff, "band": self.band, "limit": self.limit, "rate": self.rate},
        )

    @property
    def _reason(self) -> str:
        if self.band is None:
            return "there is no motion from which to choose it"
        band = f"the motion's band of {self.band:.3g} Hz"
        if self.cutoff == MIN_BAND_RATIO * self.band and self.limit >= self.cutoff:
            return f"{MIN_BAND_RATIO:g} times {band}"
        if self.cutoff == MAX_RIGID_FREQUENCY:
            return f"above this frequency arms are not rigid; the motion's band is {self.band:.3g} Hz"
        if self.cutoff == MAX_CUTOFF_RATIO * self.rate:
            return f"the maximum for a sampling rate of {self.rate:.4g} Hz"
        if self.cutoff == self.limit:
            noise = f"{100 * MAX_NOISE_RATIO:.0f} % of the acceleration"
            return f"above this frequency noise exceeds {noise}; the motion's band is {self.band:.3g} Hz"
        return f"{MIN_BAND_RATIO:g} times {band}, although accelerations are noisy there"


def choose_cutoff(log: Log, grid: Grid) -> CutoffChoice:
    """Choose the cut-off for a log by the rule in the module docstring."""
    frequency, velocity = _compute_velocity_spectrum(log, grid)
    omega = 2.0 * np.pi * frequency[:, np.newaxis]
    acceleration = velocity * omega**2
    edges = compute_bin_edges(frequency, grid.rate)
    bands, limits = [], []
    moving = _are_moving(frequency, velocity / omega**2, grid.rate)
    if not moving.any():
        cutoff = min(MAX_RIGID_FREQUENCY, MAX_CUTOFF_RATIO * grid.rate)
        return CutoffChoice(cutoff, None, cutoff, grid.rate)
    for joint in np.flatnonzero(moving):
        valley = find_valley(frequency, velocity[:, joint], acceleration[:, joint], edges)
        below = frequency <= valley
        energy = np.cumsum(velocity[below, joint])
        bands.append(frequency[np.searchsorted(energy, BAND_ENERGY_SHARE * energy[-1])])
        noise = np.cumsum(np.where(below, 0.0, acceleration[:, joint]))
        beyond = int(np.searchsorted(noise, MAX_NOISE_RATIO**2 * float(acceleration[below, joint].sum())))
        limits.append(frequency[min(beyond, len(frequency) - 1)])
    band, limit = float(np.median(bands)), float(np.median(limits))
    target = max(MAX_RIGID_FREQUENCY, MIN_BAND_RATIO * band)
    cutoff = min(max(min(target, limit), MIN_BAND_RATIO * band), MAX_CUTOFF_RATIO * grid.rate)
    return CutoffChoice(cutoff, band, limit, grid.rate)


def _compute_velocity_spectrum(log: Log, grid: Grid) -> tuple[PerLine, LinesByJoint]:
    """Return the frequencies and the mean power spectrum of the differenced positions, without frequency zero."""
    size = choose_window_size(log, grid)
    if size < MIN_SAMPLES:
        raise InputError(
            f"{log.source or 'log'}: {log.describe_splits()}the longest segment has {size} samples, too few to "
            f"choose a cut-off (at least {MIN_SAMPLES}); set the cut-off"
        )
    taper, frequency = make_taper(size), np.fft.rfftfreq(size - 1, 1.0 / grid.rate)
    total, count = np.zeros((len(log.joints), len(frequency))), 0
    for (position,) in sample_windows(log, grid, size, (log.q,)):  # summed at once: all windows need much memory
        power = np.abs(transform(np.diff(position, axis=1) * grid.rate, taper, grid.rate)) ** 2
        total, count = total + power, count + 1
    return frequency[1:], np.ascontiguousarray((total / count)[:, 1:].T)


def _are_moving(frequency: PerLine, position: LinesByJoint, rate: float) -> Bool[np.ndarray, " joints"]:
    """Return for each joint whether the peak of its position spectrum is well above the noise floor."""
    high = frequency > 0.5 * MAX_CUTOFF_RATIO * rate
    # The lowest lines are left out, because the division by omega^2 amplifies noise that leaks into them.
    low = ~high & (frequency > LOBE_WIDTH * frequency[0])
    floor = np.median(position[high], axis=0)
    return np.asarray(position[low].max(axis=0) > MIN_POWER_RATIO * floor)


# Spectra of positions and recorded velocities in windows of a log, and the valley between motion and noise.
#
# The spectrum of the acceleration has two peaks: one of the motion and, at higher frequencies, one of the noise,
# because differentiating twice multiplies amplitudes by the square of the frequency. The minimum between the two peaks
# is called the valley; it separates motion from noise.

# Length in s of the windows of spectra. Chosen on: reasoning; it resolves motion at 0.25 Hz.
WINDOW_SECONDS = 16.0
MAX_WINDOWS = 16  # so that the computing time does not depend on the length of the log; affects only time
# Fewest samples for a spectrum; a log with fewer needs a cut-off that is set. Chosen on: rule of thumb.
MIN_SAMPLES = 64
# Largest cut-off divided by the sampling rate. Chosen on: reasoning; below the Nyquist frequency, 0.5, with room for
# the slope of the low-pass.
MAX_CUTOFF_RATIO = 0.4
# Upper edge of a bin divided by its lower edge, in the search for the valley. Chosen on: reasoning; a bin should
# contain a line of periodic motion.
BIN_RATIO = 1.5
LOBE_WIDTH = 3.0  # width of the window's main lobe, in spectral lines. Fixed by: mathematics.


def choose_window_size(log: Log, grid: Grid) -> int:
    """Return the number of samples of a window; fewer than MIN_SAMPLES if no segment is long enough."""
    longest = max((grid.count_samples(log, segment) for segment in log.segments), default=0)
    return min(max(int(WINDOW_SECONDS * grid.rate), MIN_SAMPLES), longest)


def make_taper(size: int) -> Float[np.ndarray, " samples"]:
    """Return the window function for ``size`` samples after they were differenced or averaged in pairs."""
    return np.asarray(np.kaiser(size, 9.0)[:-1])  # side lobes of 1e-7, so that the motion does not leak into the noise


def sample_windows(
    log: Log, grid: Grid, size: int, signals: tuple[SamplesByJoint, ...]
) -> Iterator[tuple[ChannelsBySample, ...]]:
    """Yield the signals in at most ``MAX_WINDOWS`` windows of equal length, distributed evenly across the log.

    Segments shorter than a window are left out, because they do not resolve low frequencies.
    """
    starts = [
        (segment, start)
        for segment in log.segments
        for start in range(0, grid.count_samples(log, segment) - size + 1, max(1, size // 2))
    ]
    for index in np.unique(np.linspace(0, len(starts) - 1, min(MAX_WINDOWS, len(starts))).astype(int)):
        segment, start = starts[index]
        yield tuple(grid.sample(log, segment, start, start + size, signals))


def transform(
    signal: ChannelsBySample, taper: Float[np.ndarray, " samples"], rate: float
) -> Shaped[np.ndarray, "channels lines"]:
    """Return the Fourier transform of a signal without its mean; the squared magnitude is a power per Hz."""
    centred = signal - signal.mean(axis=1, keepdims=True)
    lines = np.fft.rfft(centred * taper, axis=1)
    lines *= np.sqrt(2.0 / (rate * (taper @ taper)))  # adds the energy of the negative frequencies
    lines[:, 0] *= np.sqrt(0.5)
    return np.asarray(lines)


def compute_bin_edges(frequency: PerLine, rate: float) -> PerEdge:
    """Return the edges of logarithmic bins, from the edge of the main lobe around zero to the maximum cut-off."""
    lowest, highest = LOBE_WIDTH * float(frequency[0]), MAX_CUTOFF_RATIO * rate
    return np.geomspace(lowest, highest, max(3, int(np.log(highest / lowest) / np.log(BIN_RATIO)) + 1))


def find_valley(frequency: PerLine, velocity: PerLine, acceleration: PerLine, edges: PerEdge) -> float:
    """Return the frequency above the peak of the velocity spectrum at which the acceleration spectrum is smallest."""
    index = np.digitize(frequency, edges)
    bins = [index == i for i in range(1, len(edges)) if (index == i).any()]
    peak = int(np.argmax([velocity[lines].mean() for lines in bins]))
    levels = [acceleration[lines].mean() for lines in bins[peak:]]
    return float(frequency[bins[peak + int(np.argmin(levels))]].mean())

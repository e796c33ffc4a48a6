"""Choosing the cut-off of the low-pass from the positions of a log.

The valley of the acceleration spectrum separates motion from noise; see ``spectra``.

Band        For each joint, the frequency up to which the velocity spectrum contains 99.9 % of its energy below the
            valley. The band is the median of the joints that move, because the valley of a noisy joint is unreliable.
Target      Gears and links vibrate above about 10 Hz, and a rigid-body model cannot explain vibrations. Therefore the
            target is 10 Hz, or twice the band if that is higher. A cut-off of twice the band attenuates the motion by
            up to 0.4 %. Slow motion has the same target: its reversals of friction and its gravity torques contain
            frequencies above its band, and a lower cut-off would make parameters weak without need. Friction torques
            contain higher frequencies still, but the filter removes these from both model and measurement; see
            ``drive_directions``.
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

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.logs.preparing.spectra import (
    LOBE_WIDTH,
    MAX_CUTOFF_RATIO,
    MIN_SAMPLES,
    choose_window_size,
    compute_bin_edges,
    find_valley,
    make_taper,
    sample_windows,
    transform,
)
from ytheta.shapes import Bool, LinesByJoint, PerLine

BAND_ENERGY_SHARE = 0.999  # velocity energy within the band, divided by the velocity energy up to the valley
MAX_JUDGED_BAND_RATIO = 10.0  # maximum cut-off at which errors are judged, divided by the band
MAX_RIGID_FREQUENCY = 10.0  # Hz; above this frequency, arms are not rigid
MIN_BAND_RATIO = 2.0  # minimum cut-off divided by the band; it applies even if the limit is lower
MAX_NOISE_RATIO = 0.1  # RMS acceleration of the remaining noise divided by that of the motion
MIN_POWER_RATIO = 100.0  # peak of the position spectrum divided by its noise floor; if lower, the joint is at rest


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


def _are_moving(frequency: PerLine, position: LinesByJoint, rate: float) -> Bool[np.ndarray, "joints"]:
    """Return for each joint whether the peak of its position spectrum is well above the noise floor."""
    high = frequency > 0.5 * MAX_CUTOFF_RATIO * rate
    # The lowest lines are left out, because the division by omega^2 amplifies noise that leaks into them.
    low = ~high & (frequency > LOBE_WIDTH * frequency[0])
    floor = np.median(position[high], axis=0)
    return np.asarray(position[low].max(axis=0) > MIN_POWER_RATIO * floor)

"""Velocity and acceleration from sampled positions, by central differences or by a smoothing spline.

Central      A low-pass, then differences of sixth order over seven samples. At a cut-off of a twelfth of the rate (8 Hz
             of a log at 95 Hz) the usual three samples lose 4 %, seven lose 1e-4; the low-pass has removed the noise.
Spline       The quintic smoothing spline on a uniform grid, which minimises sum |y - s|^2 + weight * integral |s'''|^2.
             Its B-spline coefficients are y filtered by 1 / (B(z) + weight * (2 - z - 1/z)^3), a recursive filter run
             both ways; a banded solve would take forty times as long. The weight follows from the cut-off, at which
             both methods halve the amplitude. The gain falls off more gently: 1 / (1 + (f / cutoff)^6), with the
             exponent 8 for the low-pass. Cubic splines would leave the noise of accelerations white.
Differences  are computed only at the samples that are kept, so that decimation makes them cheaper.

Reference    [unser1993] B-spline signal processing, part II; [woltring1986] on quintic splines for accelerations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.filters import (
    MAX_LOWPASS_RATIO,
    MEMORY_DECAY,
    SETTLING_DECAY,
    Lowpass,
    compute_decay_length,
    extend_by_reflection,
    filter_both_ways,
)
from ytheta.shapes import ChannelsByKept, ChannelsBySample, FilterSections

Stencil = tuple[float, ...]  # weights of neighbouring samples, in the order of time

VALUE: Stencil = (1.0,)
SLOPE: Stencil = tuple(c / 60.0 for c in (-1, 9, -45, 0, 45, -9, 1))
CURVATURE: Stencil = tuple(c / 180.0 for c in (2, -27, 270, -490, 270, -27, 2))
# Values and derivatives at the knots of a spline, from its B-spline coefficients.
CUBIC = (tuple(c / 6.0 for c in (1, 4, 1)), (-0.5, 0.0, 0.5), (1.0, -2.0, 1.0))
QUINTIC = (
    tuple(c / 120.0 for c in (1, 26, 66, 26, 1)),
    tuple(c / 24.0 for c in (-1, -10, 0, 10, 1)),
    tuple(c / 6.0 for c in (1, 2, -6, 2, 1)),
)


@dataclass(frozen=True)
class CentralDifferences:
    """Low-pass, then central differences."""

    lowpass: Lowpass

    @property
    def memory(self) -> int:
        """Margin of a piece, in samples."""
        return self.lowpass.memory + len(SLOPE)

    @property
    def settling(self) -> int:
        """Samples to trim at an end of a segment."""
        return self.lowpass.settling

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the low-passed signal, the argument of ``differentiate``."""
        return self.lowpass.apply_to_channels(signal)

    def differentiate(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Return value (order 0), velocity (1) or acceleration (2) at the samples ``kept``."""
        stencil = (VALUE, SLOPE, CURVATURE)[order]
        return _apply_stencil(smoothed, stencil, kept) * self.lowpass.rate**order


@dataclass(frozen=True)
class SmoothingSpline:
    """Smoothing spline of degree 5 (or 3) whose gain is one half at the cut-off."""

    cutoff: float
    rate: float
    degree: int = 5

    def __post_init__(self) -> None:
        if self.degree not in (3, 5) or not 0.0 < self.cutoff <= MAX_LOWPASS_RATIO * self.rate:
            raise InputError(
                f"a smoothing spline cannot have degree {self.degree} and cut-off {self.cutoff:g} Hz at {self.rate:g} "
                f"samples per second; take degree 3 or 5 and a cut-off up to {MAX_LOWPASS_RATIO * self.rate:g} Hz"
            )

    @property
    def _stencils(self) -> tuple[Stencil, Stencil, Stencil]:
        return QUINTIC if self.degree == 5 else CUBIC

    @property
    def weight(self) -> float:
        """Weight of the roughness, in units of samples, that halves the amplitude at the cut-off."""
        angle = 2.0 * math.pi * self.cutoff / self.rate
        knots = self._stencils[0]
        half = len(knots) // 2
        response = sum(c * math.cos((i - half) * angle) for i, c in enumerate(knots))
        return response / (2.0 - 2.0 * math.cos(angle)) ** ((self.degree + 1) // 2)

    @cached_property
    def sections(self) -> FilterSections:
        """The stable half of 1 / (B + weight * (2 - z - 1/z)^m), with gain one for constants."""
        from scipy.signal import zpk2sos  # slow to load, and rarely needed

        # Both are polynomials in x = 2 - z - 1/z, and small roots in x are poles close to z = 1. Roots in x keep their
        # digits, while roots of the polynomial in z would lose all of them at low cut-offs.
        if self.degree == 5:  # B5 = 1 - x/4 + x^2/120
            in_x = np.roots([self.weight, 1.0 / 120.0, -0.25, 1.0])
        else:  # B3 = 1 - x/6
            in_x = np.roots([self.weight, -1.0 / 6.0, 1.0])
        middle = 1.0 - in_x.astype(complex) / 2.0  # z + 1/z = 2 middle
        offset = np.sqrt(-in_x.astype(complex)) * np.sqrt(1.0 - in_x / 4.0)  # sqrt(middle^2 - 1) without cancellation
        poles = np.where(np.abs(middle - offset) < 1.0, middle - offset, middle + offset)
        gain = float(np.real(np.prod(1.0 - poles)))
        return np.asarray(zpk2sos(np.zeros(len(poles)), poles, gain))

    @property
    def memory(self) -> int:
        """Margin of a piece, in samples."""
        return compute_decay_length(self.sections, MEMORY_DECAY) + self.degree

    @property
    def settling(self) -> int:
        """Samples to trim at an end of a segment."""
        return compute_decay_length(self.sections, SETTLING_DECAY)

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the B-spline coefficients, the argument of ``differentiate``."""
        return filter_both_ways(self.sections, signal, self.memory)

    def differentiate(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Return value (order 0), velocity (1) or acceleration (2) of the spline at the samples ``kept``."""
        return _apply_stencil(smoothed, self._stencils[order], kept) * self.rate**order


Differentiator = CentralDifferences | SmoothingSpline


def make_differentiator(kind: str, cutoff: float, rate: float, order: int = 4) -> Differentiator:
    """Return the differentiator named "central" or "spline"."""
    if kind == "central":
        return CentralDifferences(Lowpass(cutoff, rate, order))
    if kind == "spline":
        return SmoothingSpline(cutoff, rate)
    raise InputError(f'unknown derivative {kind!r}; there are "central" and "spline"')


def _apply_stencil(signal: ChannelsBySample, stencil: Stencil, kept: slice) -> ChannelsByKept:
    """Return weighted sums of neighbours at the samples ``kept``; the signal is continued by its point reflection."""
    half = len(stencil) // 2
    count = signal.shape[1]
    first, last, step = kept.indices(count)
    if half and (first < half or last > count - half):
        signal = extend_by_reflection(signal, half)
        first, last = first + half, last + half
    # Neighbours at equal distance are combined first, so that odd stencils give exactly zero for constants.
    sign = 1.0 if stencil[0] == stencil[-1] else -1.0
    total = np.zeros((signal.shape[0], len(range(first, last, step))))
    for distance in range(half, 0, -1):
        ahead = signal[:, first + distance : last + distance : step]
        behind = signal[:, first - distance : last - distance : step]
        total += stencil[half + distance] * (ahead + sign * behind)
    if stencil[half]:
        total += stencil[half] * signal[:, first:last:step]
    return total

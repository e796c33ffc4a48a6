"""Velocity and acceleration from sampled positions, by central differences or by a smoothing spline.

Central      A low-pass, then differences of sixth order over seven samples. The usual three samples lose 4 % at a
             cut-off of a twelfth of the rate (8 Hz of a log at 95 Hz), these 1e-4; noise up there is gone already.
Spline       The quintic smoothing spline on a uniform grid, which minimises sum |y - s|^2 + weight * integral |s'''|^2.
             Its B-spline coefficients are y filtered by 1 / (B(z) + weight * (2 - z - 1/z)^3), again a recursive filter
             run both ways: constant cost per sample, where a banded solve costs forty times as much. Its weight comes
             from the cut-off, at which both roads halve the amplitude. It falls off more gently: gain
             1 / (1 + (f / cutoff)^6) instead of 8. Cubic splines would leave acceleration noise white.
Differences  are taken only at the samples that are kept, so decimation makes them cheaper.

Reference    [unser1993] B-spline signal processing, part II; [woltring1986] on quintic splines for accelerations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.filters import HIGHEST, NEGLIGIBLE, SETTLED, Lowpass, both_ways, decay, reflected
from ytheta.shapes import ChannelsByKept, ChannelsBySample, FilterSections

Stencil = tuple[float, ...]  # from the farthest sample behind to the farthest ahead

SAME: Stencil = (1.0,)
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
class Central:
    """Low-pass, then central differences."""

    lowpass: Lowpass

    @property
    def memory(self) -> int:
        """The margin of a block."""
        return self.lowpass.memory + len(SLOPE)

    @property
    def settling(self) -> int:
        """Samples to cut at an end."""
        return self.lowpass.settling

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """What values and derivatives are then read from."""
        return self.lowpass.channels(signal)

    def derivative(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Value (0), velocity (1) or acceleration (2) at the samples ``kept``."""
        stencil = (SAME, SLOPE, CURVATURE)[order]
        return _weigh(smoothed, stencil, kept) * self.lowpass.rate**order


@dataclass(frozen=True)
class Spline:
    """Smoothing spline of degree 5 (or 3) whose gain is one half at the cut-off."""

    cutoff: float
    rate: float
    degree: int = 5

    def __post_init__(self) -> None:
        if self.degree not in (3, 5) or not 0.0 < self.cutoff <= HIGHEST * self.rate:
            raise InputError(
                f"no smoothing spline of degree {self.degree} with cut-off {self.cutoff:g} Hz at {self.rate:g} "
                f"samples per second; take degree 3 or 5 and a cut-off up to {HIGHEST * self.rate:g} Hz"
            )

    @property
    def _stencils(self) -> tuple[Stencil, Stencil, Stencil]:
        return QUINTIC if self.degree == 5 else CUBIC

    @property
    def weight(self) -> float:
        """Weight of the roughness in units of samples: the one that halves the amplitude at the cut-off."""
        angle = 2.0 * math.pi * self.cutoff / self.rate
        knots = self._stencils[0]
        half = len(knots) // 2
        passed = sum(c * math.cos((i - half) * angle) for i, c in enumerate(knots))
        return passed / (2.0 - 2.0 * math.cos(angle)) ** ((self.degree + 1) // 2)

    @cached_property
    def sections(self) -> FilterSections:
        """The stable half of 1 / (B + weight * (2 - z - 1/z)^m), with gain one at rest."""
        from scipy.signal import zpk2sos  # much to load, and few want splines

        # Both are polynomials in x = 2 - z - 1/z, and small roots in x mean poles close to z = 1: found in x, they keep
        # their digits, where the roots of the polynomial in z would lose all of them at low cut-offs.
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
        """The margin of a block."""
        return decay(self.sections, NEGLIGIBLE) + self.degree

    @property
    def settling(self) -> int:
        """Samples to cut at an end."""
        return decay(self.sections, SETTLED)

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """The B-spline coefficients."""
        return both_ways(self.sections, signal, self.memory)

    def derivative(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Value (0), velocity (1) or acceleration (2) of the spline at the samples ``kept``."""
        return _weigh(smoothed, self._stencils[order], kept) * self.rate**order


Differentiator = Central | Spline


def differentiator(kind: str, cutoff: float, rate: float, order: int = 4) -> Differentiator:
    """The road named: "central" or "spline"."""
    if kind == "central":
        return Central(Lowpass(cutoff, rate, order))
    if kind == "spline":
        return Spline(cutoff, rate)
    raise InputError(f'unknown derivative {kind!r}; there are "central" and "spline"')


def _weigh(signal: ChannelsBySample, stencil: Stencil, kept: slice) -> ChannelsByKept:
    """Weighted sums of neighbours at the samples kept; beyond an end the signal is its own point reflection."""
    half = len(stencil) // 2
    count = signal.shape[1]
    first, last, step = kept.indices(count)
    if half and (first < half or last > count - half):
        signal = reflected(signal, half)
        first, last = first + half, last + half
    # Neighbours at equal distance in pairs: odd stencils then see constants as exactly zero.
    sign = 1.0 if stencil[0] == stencil[-1] else -1.0
    total = np.zeros((signal.shape[0], len(range(first, last, step))))
    for distance in range(half, 0, -1):
        ahead = signal[:, first + distance : last + distance : step]
        behind = signal[:, first - distance : last - distance : step]
        total += stencil[half + distance] * (ahead + sign * behind)
    if stencil[half]:
        total += stencil[half] * signal[:, first:last:step]
    return total

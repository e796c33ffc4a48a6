"""Velocity and acceleration from sampled positions, by central differences or by a smoothing spline.

Central      A low-pass, then seven-point differences of sixth order. At one twelfth of the sampling rate, three-point
             differences attenuate the derivative by 4 %, seven-point differences by 0.01 %.
Spline       The quintic smoothing spline s on a uniform grid minimises sum |y - s|^2 + weight * integral |s'''|^2. Its
             B-spline coefficients are y filtered by 1 / (B(z) + weight * (2 - z - 1/z)^3). ``ZeroPhaseFilter`` applies
             it; a banded solver would take forty times as long. The weight is chosen such that the spline, like
             the low-pass, halves the amplitude at the cut-off. The gain of the spline is 1 / (1 + (f / cutoff)^6);
             that of the low-pass has the exponent 8 and falls faster. A cubic spline would leave white noise in the
             accelerations.
Decimation   Derivatives are computed only at the samples that are kept.

Reference    [unser1993] B-spline signal processing, part II; [woltring1986] on quintic splines for accelerations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.filters import (
    MAX_LOWPASS_RATIO,
    MEMORY_DECAY,
    SETTLING_DECAY,
    BlockFilter,
    Lowpass,
    ZeroPhaseFilter,
    extend_by_reflection,
)
from ytheta.shapes import ChannelsByKept, ChannelsBySample, Float

# Stencils of seven-point differences of sixth order. Fixed by: mathematics.
VALUE: Stencil = (1.0,)
SLOPE: Stencil = tuple(c / 60.0 for c in (-1, 9, -45, 0, 45, -9, 1))
CURVATURE: Stencil = tuple(c / 180.0 for c in (2, -27, 270, -490, 270, -27, 2))
CENTRAL = (VALUE, SLOPE, CURVATURE)
# Stencils of a spline at its knots, from B-spline coefficients: value and first two derivatives. Fixed by: mathematics.
CUBIC = (tuple(c / 6.0 for c in (1, 4, 1)), (-0.5, 0.0, 0.5), (1.0, -2.0, 1.0))
QUINTIC = (
    tuple(c / 120.0 for c in (1, 26, 66, 26, 1)),
    tuple(c / 24.0 for c in (-1, -10, 0, 10, 1)),
    tuple(c / 6.0 for c in (1, 2, -6, 2, 1)),
)

MAX_SAMPLED_FILTERS = 16  # that are remembered: those of the logs of a fit; affects only time


@dataclass(frozen=True)
class CentralDifferences:
    """Low-pass, then central differences."""

    lowpass: Lowpass

    @property
    def memory(self) -> int:
        """Margin of a piece in samples."""
        return self.lowpass.memory + len(SLOPE)

    @property
    def settling(self) -> int:
        """Number of samples to trim at each end of a segment."""
        return self.lowpass.settling

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the low-passed signal, which is the input of ``differentiate``."""
        return self.lowpass.apply_to_channels(signal)

    def differentiate(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Return value (order 0), velocity (1) or acceleration (2) at the samples ``kept``."""
        return _apply_stencil(smoothed, CENTRAL[order], kept, self.lowpass.rate**order)

    def evaluate(self, signal: ChannelsBySample, orders: tuple[int, ...], kept: slice) -> list[ChannelsByKept]:
        """Return derivatives of these orders of the low-passed signal at the samples ``kept``."""
        return _evaluate(self, signal, orders, kept)

    @property
    def stencils(self) -> tuple[Stencil, ...]:
        """Stencils of all orders, for derivatives with respect to time."""
        return _scale_stencils(CENTRAL, self.lowpass.rate)

    @property
    def filter(self) -> ZeroPhaseFilter:
        return self.lowpass.filter


@dataclass(frozen=True)
class SmoothingSpline:
    """Smoothing spline of degree 5 (or 3) whose gain is one half at the cut-off."""

    cutoff: float
    rate: float
    degree: int = 5

    def __post_init__(self) -> None:
        if self.degree not in (3, 5) or not 0.0 < self.cutoff <= MAX_LOWPASS_RATIO * self.rate:
            highest = MAX_LOWPASS_RATIO * self.rate
            raise InputError(
                f"a smoothing spline cannot have degree {self.degree} and cut-off {self.cutoff:g} Hz at {self.rate:g} "
                f"samples per second; choose degree 3 or 5 and a cut-off of at most {highest:g} Hz"
            )

    @property
    def _stencils(self) -> tuple[Stencil, Stencil, Stencil]:
        return QUINTIC if self.degree == 5 else CUBIC

    @property
    def weight(self) -> float:
        """Weight of the roughness integral (time in samples) with which the amplitude is halved at the cut-off."""
        angle = 2.0 * math.pi * self.cutoff / self.rate
        knots = self._stencils[0]
        half = len(knots) // 2
        response = sum(c * math.cos((i - half) * angle) for i, c in enumerate(knots))
        return response / (2.0 - 2.0 * math.cos(angle)) ** ((self.degree + 1) // 2)

    @cached_property
    def filter(self) -> ZeroPhaseFilter:
        """The filter 1 / Q(x) with x = 2 - z - 1/z and Q = B + weight * x^m."""
        # The roots in x are accurate. At low cut-offs, roots computed in z would lose all significant digits.
        b = (1.0 / 120.0, -0.25, 1.0) if self.degree == 5 else (-1.0 / 6.0, 1.0)  # B5 and B3 as polynomials in x
        x = np.roots([self.weight, *b]).astype(complex)
        x = x[x.imag >= 0.0]  # one of each conjugate pair
        middle = 1.0 - x / 2.0  # z + 1/z = 2·middle
        offset = np.sqrt(-x) * np.sqrt(1.0 - x / 4.0)  # sqrt(middle^2 - 1) without cancellation; z = middle ± offset
        offset = np.where(np.abs(middle - offset) < 1.0, offset, -offset)
        slope = np.polyval(np.polyder([self.weight, *b]), x)
        pairs = np.where(x.imag > 0.0, 2.0, 1.0)
        return ZeroPhaseFilter(poles=middle - offset, weights=pairs / (2.0 * offset * slope))

    @cached_property
    def memory(self) -> int:
        """Margin of a piece in samples."""
        return self.filter.compute_decay_length(MEMORY_DECAY) + self.degree

    @property
    def settling(self) -> int:
        """Number of samples to trim at each end of a segment."""
        return self.filter.compute_decay_length(SETTLING_DECAY)

    def smooth(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the B-spline coefficients, which are the input of ``differentiate``."""
        return self.filter.apply(signal, self.memory)

    def differentiate(self, smoothed: ChannelsBySample, order: int, kept: slice) -> ChannelsByKept:
        """Return value (order 0), velocity (1) or acceleration (2) of the spline at the samples ``kept``."""
        return _apply_stencil(smoothed, self._stencils[order], kept, self.rate**order)

    def evaluate(self, signal: ChannelsBySample, orders: tuple[int, ...], kept: slice) -> list[ChannelsByKept]:
        """Return derivatives of these orders of the spline at the samples ``kept``."""
        return _evaluate(self, signal, orders, kept)

    @property
    def stencils(self) -> tuple[Stencil, ...]:
        """Stencils of all orders, for derivatives with respect to time."""
        return _scale_stencils(self._stencils, self.rate)


def _evaluate(
    differentiator: Differentiator, signal: ChannelsBySample, orders: tuple[int, ...], kept: slice
) -> list[ChannelsByKept]:
    """Return derivatives at the samples ``kept``; if there are few of them, the others are not computed."""
    stencils = tuple(differentiator.stencils[order] for order in orders)
    if is_period_supported(stencils, kept.step or 1):
        sampled = _make_sampled_filter(differentiator, kept.step, orders)
        return sampled.apply(signal, differentiator.memory, kept)
    smoothed = differentiator.smooth(signal)
    return [differentiator.differentiate(smoothed, order, kept) for order in orders]


@lru_cache(MAX_SAMPLED_FILTERS)
def _make_sampled_filter(differentiator: Differentiator, period: int, orders: tuple[int, ...]) -> SampledFilter:
    """Return the sampled filter of a differentiator, which keeps its matrices."""
    stencils = tuple(differentiator.stencils[order] for order in orders)
    return SampledFilter(differentiator.filter, period, stencils)


def _scale_stencils(stencils: tuple[Stencil, ...], rate: float) -> tuple[Stencil, ...]:
    """Return stencils of all orders for derivatives with respect to time."""
    return tuple(tuple(weight * rate**order for weight in stencil) for order, stencil in enumerate(stencils))


def _apply_stencil(signal: ChannelsBySample, stencil: Stencil, kept: slice, factor: float) -> ChannelsByKept:
    """Return weighted sums of neighbours at the samples ``kept``, times a factor.

    The signal is extended by reflection at its ends.
    """
    half = len(stencil) // 2
    count = signal.shape[1]
    start, stop, step = kept.indices(count)
    if half and (start < half or stop > count - half):
        signal = extend_by_reflection(signal, half, half)
        start, stop = start + half, stop + half
    # Neighbours at equal distance are combined first, so that antisymmetric stencils give exactly zero for constants.
    combine = np.add if stencil[0] == stencil[-1] else np.subtract
    total = np.zeros((signal.shape[0], len(range(start, stop, step))))
    for distance in range(half, 0, -1):
        ahead = signal[:, start + distance : stop + distance : step]
        behind = signal[:, start - distance : stop - distance : step]
        neighbours = combine(ahead, behind)
        neighbours *= stencil[half + distance]
        total += neighbours
    if stencil[half]:
        total += stencil[half] * signal[:, start:stop:step]
    total *= factor
    return total


# Values and derivatives of a filtered signal at every n-th sample, without computing the samples between.
#
# Identity      y_m = sum_s a_s f_(m + s)    at the samples m that are kept; f is the filtered signal, a a stencil
# Notation      code      meaning
#               period    distance of the samples that are kept
#               weights   of the filtered samples of a block in the outputs of the block
#
# Blocks of ``ZeroPhaseFilter`` are multiples of the period here, so that all have the same weights, and start half a
# period ahead of a sample that is kept, so that no stencil reaches beyond its block. The matrices of a block are
# multiplied by the weights once, instead of the samples every time: if one sample in twenty is kept, this is four to
# five times as fast as filtering all of them.

Stencil = tuple[float, ...]  # weights of neighbouring samples in chronological order

TYPICAL_BLOCK = 120  # samples; affects only time
MAX_PERIOD = 500  # samples; the matrices of a block have the square of it; affects only time and memory


@dataclass(frozen=True, eq=False)
class SampledFilter:
    """A filter followed by stencils at every ``period``-th sample."""

    filter: ZeroPhaseFilter
    period: int
    stencils: tuple[Stencil, ...]

    def apply(self, signal: ChannelsBySample, reach: int, kept: slice) -> list[ChannelsByKept]:
        """Return the output of every stencil; ``ZeroPhaseFilter.apply`` extends the signal in the same way."""
        (channels, samples), block = signal.shape, self._blocks.size
        first, stop, _ = kept.indices(samples)
        outputs = len(range(first, stop, self.period))
        begin = first - self.period // 2
        count = -(-outputs * self.period // block)
        end = begin + count * block
        # Samples further away than the reach have no effect.
        before, after = max(0, reach - begin), max(0, end + reach - samples)
        extended = extend_by_reflection(signal, before, after) if before or after else signal
        begin, end = begin + before, end + before
        past, future = extended[:, begin - reach : begin], extended[:, end : end + reach]
        blocks = np.ascontiguousarray(extended[:, begin:end]).reshape(-1, block)
        states = self._blocks.compute_states(blocks, past[:, ::-1], future)
        response, state_response = self._responses
        sampled = blocks @ response
        sampled += states @ state_response
        # By channel, block and stencil, then the samples of the block.
        sampled = sampled.reshape(channels, count, len(self.stencils), -1)
        return [np.ascontiguousarray(each).reshape(channels, -1)[:, :outputs] for each in np.moveaxis(sampled, 2, 0)]

    @cached_property
    def _blocks(self) -> BlockFilter:
        return BlockFilter(self.filter, self.period * max(1, round(TYPICAL_BLOCK / self.period)))

    @cached_property
    def _responses(self) -> tuple[Float[np.ndarray, "block outputs"], Float[np.ndarray, "states outputs"]]:
        """Weights of the samples of a block, and of its states, in its outputs."""
        weights = np.zeros((self._blocks.size, len(self.stencils), self._blocks.size // self.period))
        for k, stencil in enumerate(self.stencils):
            for place, weight in enumerate(stencil):
                shift = self.period // 2 + place - len(stencil) // 2
                for m in range(weights.shape[2]):
                    weights[m * self.period + shift, k, m] = weight
        flat = weights.reshape(len(weights), -1)
        return self._blocks.compute_response() @ flat, self._blocks.state_response @ flat


def is_period_supported(stencils: Sequence[Stencil], period: int) -> bool:
    """Whether stencils around the middle of a period do not reach beyond it, and the matrices of a block are small."""
    return max(map(len, stencils)) <= period <= MAX_PERIOD


Differentiator = CentralDifferences | SmoothingSpline


def make_differentiator(kind: str, cutoff: float, rate: float, order: int = 4) -> Differentiator:
    """Return the differentiator of a kind, "central" or "spline"; ``order`` is that of the low-pass of "central"."""
    if kind == "central":
        return CentralDifferences(Lowpass(cutoff, rate, order))
    if kind == "spline":
        return SmoothingSpline(cutoff, rate)
    raise InputError(f'unknown derivative {kind!r}; there are "central" and "spline"')

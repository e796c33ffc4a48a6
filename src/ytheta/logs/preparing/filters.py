"""Zero-phase low-pass: one linear operator for positions, torques and regressor columns.

A Butterworth filter run forward and backward has no phase and twice the order: its gain is one half at the cut-off and
1 / (1 + (f / cutoff)^(2 order)) elsewhere. Signals that are compared must pass through the same operator, which is
therefore a value that can be passed on.

Edges       Beyond the ends the signal is continued by its point reflection, which preserves straight lines. The effect
            of the unknown past decays within ``settling`` samples; these are trimmed from every segment.
Pieces      A long record is filtered in pieces with margins of ``memory`` samples, over which the slowest mode of the
            filter falls to 1e-13: the cores of the pieces equal the whole to rounding, in constant memory.
Speed       The filter needs adjacent samples: arrays are transposed to (channels, samples) once, and the backward run
            works on a reversed copy, which is three times as fast as ``sosfiltfilt`` on reversed views. A few channels
            are filtered at a time, so that their copies take little memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.second_order_sections import compute_steady_state, design_butterworth, filter_in_place
from ytheta.shapes import ChannelsBySample, FilterSections, Float, Shaped

MEMORY_DECAY = 1e-13  # to which the slowest mode falls over the margin of a piece
SETTLING_DECAY = 1e-2  # … and over the samples that are trimmed at the ends of a segment
MAX_FILTERED_SAMPLES = 2**15  # of all channels that are filtered together: a quarter of a megabyte
MAX_LOWPASS_RATIO = 0.45  # of the rate; above it a low-pass has hardly any effect
ANTI_ALIASING_RATIO = 0.4  # of the new rate: the cut-off before decimation


@dataclass(frozen=True)
class Lowpass:
    """Zero-phase Butterworth low-pass; ``cutoff`` and ``rate`` in Hz, ``order`` of one of the two runs."""

    cutoff: float
    rate: float
    order: int = 4

    def __post_init__(self) -> None:
        highest = MAX_LOWPASS_RATIO * self.rate
        if not 0.0 < self.cutoff <= highest:
            raise InputError(
                f"a cut-off of {self.cutoff:g} Hz does not suit {self.rate:g} samples per second; "
                f"choose one above 0 and at most {highest:g} Hz"
            )

    @classmethod
    def before_decimation(cls, rate: float, factor: int) -> Lowpass:
        """The low-pass that torque and regressor columns need before every ``factor``-th sample is kept."""
        return cls(ANTI_ALIASING_RATIO * rate / factor, rate)

    @cached_property
    def sections(self) -> FilterSections:
        """The filter as second-order sections in the form of SciPy."""
        return design_butterworth(self.order, self.cutoff, self.rate)

    @property
    def memory(self) -> int:
        """Samples after which the past has decayed to rounding: the margin of a piece."""
        return compute_decay_length(self.sections, MEMORY_DECAY)

    @property
    def settling(self) -> int:
        """Samples at an end of a record within which the effect of the unknown past falls to one hundredth."""
        return compute_decay_length(self.sections, SETTLING_DECAY)

    def apply(self, signal: Shaped[np.ndarray, "samples ..."]) -> Shaped[np.ndarray, "samples ..."]:
        """Return the low-passed signal; samples are along the first axis."""
        channels = np.ascontiguousarray(signal.reshape(len(signal), -1).T, dtype=float)
        return np.ascontiguousarray(self.apply_to_channels(channels).T).reshape(signal.shape)

    def apply_to_channels(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the low-passed signal; samples are along the last axis."""
        return filter_both_ways(self.sections, signal, self.memory)


def filter_both_ways(sections: FilterSections, signal: ChannelsBySample, reach: int) -> ChannelsBySample:
    """Filter forward and backward, with the signal continued by ``reach`` samples of its point reflection."""
    steady_state = compute_steady_state(sections)
    channels, samples = signal.shape
    filtered = np.empty((channels, samples))
    group = max(1, MAX_FILTERED_SAMPLES // (samples + 2 * reach))
    for k in range(0, channels, group):
        extended = extend_by_reflection(signal[k : k + group], reach)
        for _ in range(2):
            filter_in_place(sections, extended, steady_state * extended[:, :1, np.newaxis])
            extended = np.ascontiguousarray(extended[:, ::-1])
        filtered[k : k + group] = extended[:, reach : reach + samples]
    return filtered


def extend_by_reflection(signal: ChannelsBySample, reach: int) -> Float[np.ndarray, "channels extended"]:
    """Continue a signal at both ends by its point reflection, repeatedly if it is shorter than ``reach``."""
    if signal.shape[1] < 2:
        return np.pad(signal, ((0, 0), (reach, reach)), mode="edge")
    return np.pad(signal, ((0, 0), (reach, reach)), mode="reflect", reflect_type="odd")


def compute_decay_length(sections: FilterSections, fraction: float) -> int:
    """Samples until the slowest mode of a filter has fallen to ``fraction``."""
    radius = max(float(np.abs(np.roots(section[3:])).max()) for section in sections)
    return max(1, math.ceil(math.log(fraction) / math.log(radius))) if 0.0 < radius < 1.0 else 1


@dataclass(frozen=True)
class Span:
    """A piece of a record: samples ``first:last`` are wanted and computed from samples ``start:stop``."""

    first: int
    last: int
    start: int
    stop: int

    @property
    def core(self) -> slice:
        """The wanted samples, counted from ``start``."""
        return slice(self.first - self.start, self.last - self.start)


def split_into_spans(first: int, last: int, size: int, margin: int, length: int) -> Iterator[Span]:
    """Yield spans of ``size`` samples, with margins, that cover first:last of a record of ``length`` samples."""
    for begin in range(first, last, size):
        end = min(begin + size, last)
        yield Span(begin, end, max(0, begin - margin), min(length, end + margin))

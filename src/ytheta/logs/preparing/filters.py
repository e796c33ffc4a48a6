"""Zero-phase low-pass: one linear operator for positions, torques and regressor columns.

A Butterworth filter run forward and backward has zero phase and twice the order. Its gain is
1 / (1 + (f / cutoff)^(2 order)), hence one half at the cut-off. Signals that are compared must pass through the same
filter; therefore the filter is an object that callers can share.

Ends        Beyond its ends, the signal is extended by point reflection, which preserves straight lines. The effect of
            the unknown past decays within ``settling`` samples; these are trimmed from every segment.
Pieces      A long record is filtered in pieces with margins of ``memory`` samples, over which the slowest mode of the
            filter decays to 1e-13. Without their margins, the pieces agree with filtering the whole record to rounding
            error, and memory stays constant.
Speed       Samples should be adjacent in memory: arrays are transposed to (channels, samples) once, and the backward
            run works on a reversed copy, which is three times as fast as ``sosfiltfilt`` on reversed views. A few
            channels are filtered at a time, so that the copies are small.
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

MEMORY_DECAY = 1e-13  # of the slowest mode over the margin of a piece
SETTLING_DECAY = 1e-2  # of the slowest mode over the samples that are trimmed at each end of a segment
MAX_FILTERED_SAMPLES = 2**15  # of all channels that are filtered together; 256 kB
MAX_LOWPASS_RATIO = 0.45  # of the sampling rate; a higher cut-off has hardly any effect
ANTI_ALIASING_RATIO = 0.4  # cut-off before decimation divided by the new sampling rate


@dataclass(frozen=True)
class Lowpass:
    """Zero-phase Butterworth low-pass; ``cutoff`` and ``rate`` in Hz, ``order`` of a single run."""

    cutoff: float
    rate: float
    order: int = 4

    def __post_init__(self) -> None:
        highest = MAX_LOWPASS_RATIO * self.rate
        if not 0.0 < self.cutoff <= highest:
            raise InputError(
                f"a cut-off of {self.cutoff:g} Hz is impossible at {self.rate:g} samples per second; "
                f"choose one above 0 and at most {highest:g} Hz"
            )

    @classmethod
    def before_decimation(cls, rate: float, factor: int) -> Lowpass:
        """Return the low-pass for torque and regressor columns before only every ``factor``-th sample is kept."""
        return cls(ANTI_ALIASING_RATIO * rate / factor, rate)

    @cached_property
    def sections(self) -> FilterSections:
        """The filter as second-order sections, in SciPy's format."""
        return design_butterworth(self.order, self.cutoff, self.rate)

    @property
    def memory(self) -> int:
        """Margin of a piece in samples: after them, the effect of the past has decayed to rounding error."""
        return compute_decay_length(self.sections, MEMORY_DECAY)

    @property
    def settling(self) -> int:
        """Number of samples, from an end of a record, within which the effect of the end decays to 1 %."""
        return compute_decay_length(self.sections, SETTLING_DECAY)

    def apply(self, signal: Shaped[np.ndarray, "samples ..."]) -> Shaped[np.ndarray, "samples ..."]:
        """Return the low-passed signal; samples are along the first axis."""
        channels = np.ascontiguousarray(signal.reshape(len(signal), -1).T, dtype=float)
        return np.ascontiguousarray(self.apply_to_channels(channels).T).reshape(signal.shape)

    def apply_to_channels(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the low-passed signal; samples are along the last axis."""
        return filter_both_ways(self.sections, signal, self.memory)


def filter_both_ways(sections: FilterSections, signal: ChannelsBySample, reach: int) -> ChannelsBySample:
    """Filter forward and backward; the signal is first extended by ``reach`` reflected samples at each end."""
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
    """Extend a signal at both ends by point reflection, repeatedly if it is shorter than ``reach``."""
    if signal.shape[1] < 2:
        return np.pad(signal, ((0, 0), (reach, reach)), mode="edge")
    return np.pad(signal, ((0, 0), (reach, reach)), mode="reflect", reflect_type="odd")


def compute_decay_length(sections: FilterSections, fraction: float) -> int:
    """Return the number of samples in which the slowest mode of a filter decays to ``fraction``."""
    radius = max(float(np.abs(np.roots(section[3:])).max()) for section in sections)
    return max(1, math.ceil(math.log(fraction) / math.log(radius))) if 0.0 < radius < 1.0 else 1


@dataclass(frozen=True)
class Span:
    """A piece of a record: its core ``core_start:core_stop``, which is computed from samples ``start:stop``."""

    core_start: int
    core_stop: int
    start: int
    stop: int

    @property
    def core(self) -> slice:
        """The samples of the core, counted from ``start``."""
        return slice(self.core_start - self.start, self.core_stop - self.start)


def split_into_spans(start: int, stop: int, size: int, margin: int, length: int) -> Iterator[Span]:
    """Yield spans whose cores of ``size`` samples cover ``start:stop`` of a record of ``length`` samples."""
    for core_start in range(start, stop, size):
        core_stop = min(core_start + size, stop)
        yield Span(core_start, core_stop, max(0, core_start - margin), min(length, core_stop + margin))

"""Zero-phase low-pass: one linear operator for positions, torques and regressor columns.

A Butterworth filter applied forward and backward has zero phase and twice the order. Its gain is
1 / (1 + (f / cutoff)^(2·order)), hence one half at the cut-off. Signals that are compared must pass through the same
filter; therefore the filter is an object that callers can share.

Ends        Beyond its ends, the signal is extended by point reflection, which preserves straight lines. The effect of
            the unknown past decays within ``settling`` samples; these are trimmed at both ends of every segment.
Pieces      A long record is filtered in pieces with margins of ``memory`` samples. Within a margin, the slowest mode of
            the filter decays to 1e-13. After the margins are cut off, the filtered pieces equal the filtered record up
            to rounding errors. The memory needed does not depend on the length of the record.
Speed       Filtering is fast if the samples of a channel are adjacent in memory. Therefore arrays are transposed to
            (channels, samples) once, and the backward pass filters a reversed copy; this is three times as fast as
            ``sosfiltfilt``, which filters reversed views. A few channels are filtered at a time, so that the copies are
            small.
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

MEMORY_DECAY = 1e-13  # remaining fraction of the slowest filter mode after the margin of a piece
SETTLING_DECAY = 1e-2  # remaining fraction of the slowest filter mode after the samples trimmed at an end of a segment
MAX_FILTERED_SAMPLES = 2**15  # total number of samples of the channels that are filtered together; 256 kB
MAX_LOWPASS_RATIO = 0.45  # maximum cut-off divided by the sampling rate; a higher cut-off has hardly any effect
ANTI_ALIASING_RATIO = 0.4  # cut-off of the low-pass before decimation, divided by the sampling rate after decimation


@dataclass(frozen=True)
class Lowpass:
    """Zero-phase Butterworth low-pass.

    ``cutoff`` and ``rate`` are in Hz; ``order`` is that of one pass (forward or backward).
    """

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
        """Return the anti-aliasing low-pass for torques and regressor columns before decimation by ``factor``."""
        return cls(ANTI_ALIASING_RATIO * rate / factor, rate)

    @cached_property
    def sections(self) -> FilterSections:
        """The filter as second-order sections, in SciPy's format."""
        return design_butterworth(self.order, self.cutoff, self.rate)

    @property
    def memory(self) -> int:
        """Margin of a piece: the number of samples after which the effect of the past is below rounding errors."""
        return compute_decay_length(self.sections, MEMORY_DECAY)

    @property
    def settling(self) -> int:
        """Number of samples after which the effect of an end of a record has decayed to 1 %."""
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
    """Extend a signal by ``reach`` samples at both ends by point reflection, repeatedly if the signal is short."""
    if signal.shape[1] < 2:
        return np.pad(signal, ((0, 0), (reach, reach)), mode="edge")
    return np.pad(signal, ((0, 0), (reach, reach)), mode="reflect", reflect_type="odd")


def compute_decay_length(sections: FilterSections, fraction: float) -> int:
    """Return the number of samples after which the slowest mode of a filter has decayed to ``fraction``."""
    radius = max(float(np.abs(np.roots(section[3:])).max()) for section in sections)
    return max(1, math.ceil(math.log(fraction) / math.log(radius))) if 0.0 < radius < 1.0 else 1


@dataclass(frozen=True)
class Span:
    """A piece of a record: its core ``core_start:core_stop``, and the samples ``start:stop`` including the margins."""

    core_start: int
    core_stop: int
    start: int
    stop: int

    @property
    def core(self) -> slice:
        """Slice of the core, with samples counted from ``start``."""
        return slice(self.core_start - self.start, self.core_stop - self.start)


def split_into_spans(start: int, stop: int, size: int, margin: int, length: int) -> Iterator[Span]:
    """Yield spans whose cores, of ``size`` samples each, cover ``start:stop`` of a record of ``length`` samples."""
    for core_start in range(start, stop, size):
        core_stop = min(core_start + size, stop)
        yield Span(core_start, core_stop, max(0, core_start - margin), min(length, core_stop + margin))

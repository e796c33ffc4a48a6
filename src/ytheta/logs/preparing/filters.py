"""Zero-phase low-pass: one linear operator for positions, torques and regressor columns.

A Butterworth filter applied forward and backward has zero phase and twice the order. Its gain is
1 / (1 + (tan(pi f / rate) / tan(pi cutoff / rate))^(2·order)), hence one half at the cut-off and close to
1 / (1 + (f / cutoff)^(2·order)) at low frequencies. Signals that are compared must pass through the same filter;
therefore the filter is an object that callers can share.

Modes       With s = (z - 1) / (z + 1) and w = tan(pi cutoff / rate), the transfer function of both passes is
            1 / (1 + (s / w)^(2·order)) for an even order. Its poles in the left half-plane lie on a circle of radius w;
            the residue at s_i is -s_i / (2·order). ``zero_phase`` applies the filter.
Ends        Beyond its ends, the signal is extended by point reflection, which preserves straight lines. The effect of
            the unknown past decays within ``settling`` samples; these are trimmed at both ends of every segment.
Pieces      A long record is filtered in pieces with margins of ``memory`` samples. Within a margin, the slowest mode of
            the filter decays to 1e-13. After the margins are cut off, the filtered pieces equal the filtered record up
            to rounding errors. The memory needed does not depend on the length of the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.zero_phase import ZeroPhaseFilter
from ytheta.shapes import ChannelsBySample, Shaped

MEMORY_DECAY = 1e-13  # remaining fraction of the slowest filter mode after the margin of a piece
SETTLING_DECAY = 1e-2  # remaining fraction of the slowest filter mode after the samples trimmed at an end of a segment
MAX_LOWPASS_RATIO = 0.45  # maximum cut-off divided by the sampling rate; a higher cut-off has hardly any effect
ANTI_ALIASING_RATIO = 0.4  # cut-off of the low-pass before decimation, divided by the sampling rate after decimation


@dataclass(frozen=True)
class Lowpass:
    """Zero-phase Butterworth low-pass.

    ``cutoff`` and ``rate`` are in Hz; ``order`` is that of one pass (forward or backward), an even number.
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
        if self.order < 2 or self.order % 2:
            raise InputError(f"a low-pass of order {self.order} is not supported; choose an even number such as 4")

    @classmethod
    def before_decimation(cls, rate: float, factor: int) -> Lowpass:
        """Return the anti-aliasing low-pass for torques and regressor columns before decimation by ``factor``."""
        return cls(ANTI_ALIASING_RATIO * rate / factor, rate)

    @cached_property
    def filter(self) -> ZeroPhaseFilter:
        """Both passes as one filter."""
        radius = np.tan(np.pi * self.cutoff / self.rate)
        angles = 0.5 * np.pi * (1.0 + (2.0 * np.arange(self.order // 2) + 1.0) / self.order)
        s = radius * np.exp(1j * angles)
        return ZeroPhaseFilter(
            poles=(1.0 + s) / (1.0 - s),
            weights=-2.0 * s / (self.order * (1.0 - s * s)),  # 2 Res_s / p · dz/ds
            direct=float(1.0 / (1.0 + radius ** (-2.0 * self.order))),
        )

    @cached_property
    def memory(self) -> int:
        """Margin of a piece: the number of samples after which the effect of the past is below rounding errors."""
        return self.filter.compute_decay_length(MEMORY_DECAY)

    @property
    def settling(self) -> int:
        """Number of samples after which the effect of an end of a record has decayed to 1 %."""
        return self.filter.compute_decay_length(SETTLING_DECAY)

    def apply(self, signal: Shaped[np.ndarray, "samples ..."]) -> Shaped[np.ndarray, "samples ..."]:
        """Return the low-passed signal; samples are along the first axis."""
        channels = np.ascontiguousarray(signal.reshape(len(signal), -1).T, dtype=float)
        return np.ascontiguousarray(self.apply_to_channels(channels).T).reshape(signal.shape)

    def apply_to_channels(self, signal: ChannelsBySample) -> ChannelsBySample:
        """Return the low-passed signal; samples are along the last axis."""
        return self.filter.apply(signal, self.memory)


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

    def limit_margins(self, margin: int) -> Span:
        """Return the same piece with margins of at most ``margin`` samples."""
        start, stop = max(self.start, self.core_start - margin), min(self.stop, self.core_stop + margin)
        return Span(self.core_start, self.core_stop, start, stop)


def split_into_spans(start: int, stop: int, size: int, margin: int, length: int) -> Iterator[Span]:
    """Yield spans whose cores, of ``size`` samples each, cover ``start:stop`` of a record of ``length`` samples."""
    for core_start in range(start, stop, size):
        core_stop = min(core_start + size, stop)
        yield Span(core_start, core_stop, max(0, core_start - margin), min(length, core_stop + margin))

"""Zero-phase low-pass: one linear operator for positions, torques and regressor columns.

A Butterworth filter applied forward and backward has zero phase and twice the order. Its gain is
1 / (1 + (tan(pi f / rate) / tan(pi cutoff / rate))^(2·order)), hence one half at the cut-off and close to
1 / (1 + (f / cutoff)^(2·order)) at low frequencies. Signals that are compared must pass through the same filter;
therefore the filter is an object that callers can share.

Modes       With s = (z - 1) / (z + 1) and w = tan(pi cutoff / rate), the transfer function of both passes is
            1 / (1 + (s / w)^(2·order)) for an even order. Its poles in the left half-plane lie on a circle of radius w;
            the residue at s_i is -s_i / (2·order). ``ZeroPhaseFilter`` applies the filter.
Ends        Beyond its ends, the signal is extended by point reflection, which preserves straight lines. The effect of
            the unknown past decays within ``settling`` samples; these are trimmed at both ends of every segment.
Pieces      A long record is filtered in pieces with margins of ``memory`` samples. Within a margin, the slowest mode of
            the filter decays to 1e-13. After the margins are cut off, the filtered pieces equal the filtered record up
            to rounding errors. The memory needed does not depend on the length of the record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import ChannelsBySample, Float, Shaped

# Remaining fraction of the slowest filter mode after the margin of a piece. Chosen on: reasoning; pieces then agree to
# rounding errors.
MEMORY_DECAY = 1e-13
# Remaining fraction of the slowest filter mode after the samples trimmed at an end of a segment. Chosen on: rule of
# thumb.
SETTLING_DECAY = 1e-2
# Largest cut-off divided by the sampling rate. Chosen on: reasoning; a higher cut-off has hardly any effect.
MAX_LOWPASS_RATIO = 0.45
# Cut-off of the low-pass before decimation, divided by the sampling rate after decimation. Chosen on: reasoning; below
# the Nyquist frequency, 0.5.
ANTI_ALIASING_RATIO = 0.4


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


# Zero-phase recursive filters, given by the modes of their impulse response.
#
# Identity      y_k = sum_l g(l) x_(k+l)    with    g(l) = d [l = 0] + Re sum_i c_i p_i^|l|
# Notation      code      symbol   meaning
#               poles     p_i      poles inside the unit circle; one of each conjugate pair
#               weights   c_i      weights of the modes; doubled for a conjugate pair
#               direct    d        part of the output that is proportional to the input
#               past      s_i      sum_(l >= 1) p_i^(l-1) x_(k-l), at the first sample k of a block
#               future    r_i      sum_(l >= 0) p_i^l x_(k+l), at the first sample k after a block
#
# Blocks        The signal is cut into blocks. The output in a block is a matrix product of the samples in the block,
#               plus one of ``past`` and ``future``, which contain the effect of all other samples. From block to block,
#               past and future of a mode are multiplied by p^BLOCK, and the sums of the block are added. This
#               recursion is
#               evaluated by doubling: after step n, every state contains the sums of 2^n blocks. NumPy then does all
#               work on whole arrays, which is as fast as a compiled loop over the samples.
# Rounding      Unlike a cascade of second-order sections, whose rounding errors grow with (rate / cutoff)^2, the modes
#               keep the errors near those of one addition per sample.

BLOCK = 64  # samples; affects only time
MAX_FILTERED_SAMPLES = 2**17  # samples of all channels that are filtered together, 1 MB; affects only time and memory
# Factor; samples so far away that their effect is smaller are left out. Chosen on: reasoning; below the rounding error
# of double precision.
MIN_EFFECT = 1e-17


@dataclass(frozen=True, eq=False)
class ZeroPhaseFilter:
    """A filter that is symmetric in time; the comment above defines its poles, weights and direct part."""

    poles: Shaped[np.ndarray, " modes"]
    weights: Shaped[np.ndarray, " modes"]
    direct: float = 0.0

    def compute_decay_length(self, fraction: float) -> int:
        """Return the number of samples after which the slowest mode has decayed to ``fraction``."""
        radius = float(np.abs(self.poles).max())
        return max(1, math.ceil(math.log(fraction) / math.log(radius))) if 0.0 < radius < 1.0 else 1

    def apply(self, signal: ChannelsBySample, reach: int) -> ChannelsBySample:
        """Return the filtered signal; it is extended by ``reach`` reflected samples at each end, then by constants."""
        channels, samples = signal.shape
        filtered = np.empty((channels, samples))
        group = max(1, MAX_FILTERED_SAMPLES // max(1, samples + 2 * reach))  # the extension needs memory, too
        for k in range(0, channels, group):
            filtered[k : k + group] = self._filter(signal[k : k + group], reach)
        return filtered

    def _filter(self, signal: ChannelsBySample, reach: int) -> ChannelsBySample:
        channels, samples = signal.shape
        count = -(-samples // BLOCK)
        missing = count * BLOCK - samples
        before = extend_by_reflection(signal[:, : reach + 1], reach, 0)[:, :reach]
        after = extend_by_reflection(signal[:, -(reach + 1) :], 0, reach)[:, -reach:]
        after = _extend_by_constants(after, missing)
        blocks = np.concatenate([signal, after[:, :missing]], axis=1).reshape(-1, BLOCK)
        states = self._blocks.compute_states(blocks, before[:, ::-1], after[:, missing:])
        filtered = blocks @ self._response
        filtered += states @ self._blocks.state_response
        return filtered.reshape(channels, -1)[:, :samples]

    @cached_property
    def _blocks(self) -> BlockFilter:
        return BlockFilter(self, BLOCK)

    @cached_property
    def _response(self) -> Float[np.ndarray, "block block"]:
        return self._blocks.compute_response()


@dataclass(frozen=True, eq=False)
class BlockFilter:
    """The matrices of a filter for blocks of ``size`` samples; see the comment above ``ZeroPhaseFilter``."""

    filter: ZeroPhaseFilter
    size: int
    _end_weights: dict[int, Float[np.ndarray, "reach real_modes"]] = field(default_factory=dict, repr=False)

    def compute_states(
        self,
        blocks: Float[np.ndarray, "blocks block"],
        before: Float[np.ndarray, "channels reach"],
        after: Float[np.ndarray, "channels reach"],
    ) -> Float[np.ndarray, "blocks states"]:
        """Return past and future of every block; the blocks of a channel follow each other.

        ``before`` and ``after`` are the samples next to the first and to the last block, with the nearest first.
        """
        channels, poles = len(before), self.filter.poles
        count, modes = len(blocks) // channels, len(poles)
        sums = (blocks @ _to_real(self._summing)).view(complex).reshape(channels, count, 2 * modes)
        past = np.concatenate([self._sum_end(before)[:, np.newaxis], sums[:, :-1, :modes]], axis=1)
        future = np.concatenate([sums[:, 1:, modes:], self._sum_end(after)[:, np.newaxis]], axis=1)
        for distance, factor in self._doublings:
            if distance >= count:
                break
            past[:, distance:] += factor * past[:, :-distance]
            future[:, :-distance] += factor * future[:, distance:]
        return np.concatenate([past, future], axis=2).reshape(-1, 2 * modes).view(float)

    def _sum_end(self, samples: Float[np.ndarray, "channels reach"]) -> Shaped[np.ndarray, "channels modes"]:
        """Return the past of the first block, or the future of the last; ``samples`` start next to that block."""
        reach = samples.shape[1]
        if reach not in self._end_weights:
            self._end_weights[reach] = self._compute_end_weights(reach)
        return np.asarray((np.ascontiguousarray(samples) @ self._end_weights[reach]).view(complex))

    def _compute_end_weights(self, reach: int) -> Float[np.ndarray, "reach real_modes"]:
        """Return the weights of the samples next to an end in the state there; the last sample repeats for ever."""
        number, poles = np.arange(reach)[:, np.newaxis], self.filter.poles
        return _to_real(poles**number / np.where(number == reach - 1, 1.0 - poles, 1.0))

    @cached_property
    def _doublings(self) -> list[tuple[int, Shaped[np.ndarray, " modes"]]]:
        """Distances in blocks, 1, 2, 4 ..., and factors of the states at these distances, while they have an effect."""
        doublings, distance, factor = [], 1, self.filter.poles**self.size
        while np.abs(factor).max() > MIN_EFFECT:
            doublings.append((distance, factor))
            distance, factor = 2 * distance, factor * factor
        return doublings

    @cached_property
    def _powers(self) -> Shaped[np.ndarray, "block modes"]:
        return self.filter.poles ** np.arange(self.size)[:, np.newaxis]

    @cached_property
    def _summing(self) -> Shaped[np.ndarray, "block states"]:
        """Weights of the samples of a block in its sums: past of the next block, future of the block before."""
        return np.concatenate([self._powers[::-1], self._powers], axis=1)

    @cached_property
    def state_response(self) -> Float[np.ndarray, "states block"]:
        """Weights of past and future, as pairs of real and imaginary parts, in the samples of a block."""
        ahead = self.filter.weights * self.filter.poles * self._powers
        return np.ascontiguousarray(_to_real(np.concatenate([ahead, ahead[::-1]], axis=1).conj()).T)

    def compute_response(self) -> Float[np.ndarray, "block block"]:
        """Return the weights of the samples of a block in its output."""
        response = np.real(self._powers @ self.filter.weights)
        response[0] += self.filter.direct
        number = np.arange(self.size)
        return response[np.abs(number[:, np.newaxis] - number)]


def extend_by_reflection(signal: ChannelsBySample, before: int, after: int) -> Float[np.ndarray, "channels extended"]:
    """Extend a signal at its ends by point reflection, repeatedly if the signal is short."""
    count = signal.shape[1]
    if count < 2:
        return np.pad(signal, ((0, 0), (before, after)), mode="edge")
    if max(before, after) >= count:
        return np.pad(signal, ((0, 0), (before, after)), mode="reflect", reflect_type="odd")
    # np.pad gives the same numbers, but takes as long as filtering a piece.
    ahead = 2.0 * signal[:, :1] - signal[:, before:0:-1]
    behind = 2.0 * signal[:, -1:] - signal[:, -2 : -after - 2 : -1]
    return np.concatenate([ahead, signal, behind], axis=1)


def _extend_by_constants(signal: ChannelsBySample, after: int) -> Float[np.ndarray, "channels extended"]:
    """Extend a signal by ``after`` copies of its last sample."""
    return np.concatenate([signal, np.broadcast_to(signal[:, -1:], (len(signal), after))], axis=1)


def _to_real(matrix: Shaped[np.ndarray, "rows columns"]) -> Float[np.ndarray, "rows real_columns"]:
    """Return real and imaginary parts of complex columns as pairs of columns."""
    return np.ascontiguousarray(matrix).view(float)

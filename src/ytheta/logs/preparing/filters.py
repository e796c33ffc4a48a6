"""Zero-phase low-pass: one linear operator for positions, torques and, later, regressor columns alike.

A Butterworth filter run forward and backward has no phase and twice the order: its gain is one half at the cut-off and
1 / (1 + (f / cutoff)^(2 order)) elsewhere. Whatever is compared with whatever must pass through the same operator,
which is why it is a value that can be handed on.

Edges       Beyond the ends the signal continues as its own point reflection, which leaves straight lines alone. What
            the unknown past would have added dies out within ``settling`` samples; that is what motion.py cuts off.
Blocks      A long record is filtered in pieces with margins of ``memory`` samples, over which the slowest mode of the
            filter falls to 1e-13: the cores of the pieces equal the whole to rounding, in constant memory.
Speed       The filter wants its samples adjacent: arrays are turned to (channels, samples) once, and the backward run
            works on a reversed copy, which is three times as fast as ``sosfiltfilt`` on reversed views. Few channels
            at a time, so that their copies take little memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.second_order_sections import at_rest, butterworth, run
from ytheta.shapes import ChannelsBySample, FilterSections, Float, Shaped

NEGLIGIBLE = 1e-13  # what is left of the slowest mode beyond a block's margin
SETTLED = 1e-2  # … and beyond the cut at the ends of a segment
AT_ONCE = 2**15  # samples of all channels that are run together: a quarter of a megabyte
HIGHEST = 0.45  # of the rate: above it a low-pass has nothing left to do
ALIAS_FREE = 0.4  # cut-off of the filter before decimation, of the new rate


@dataclass(frozen=True)
class Lowpass:
    """Zero-phase Butterworth low-pass; ``cutoff`` and ``rate`` in Hz, ``order`` of one of the two runs."""

    cutoff: float
    rate: float
    order: int = 4

    def __post_init__(self) -> None:
        if not 0.0 < self.cutoff <= HIGHEST * self.rate:
            highest = HIGHEST * self.rate
            raise InputError(
                f"a cut-off of {self.cutoff:g} Hz does not suit {self.rate:g} samples per second; "
                f"choose one above 0 and at most {highest:g} Hz"
            )

    @classmethod
    def before_decimation(cls, rate: float, factor: int) -> Lowpass:
        """The low-pass that torque and regressor columns need before every ``factor``-th sample is kept."""
        return cls(ALIAS_FREE * rate / factor, rate)

    @cached_property
    def sections(self) -> FilterSections:
        """The filter as second-order sections, as SciPy takes them."""
        return butterworth(self.order, self.cutoff, self.rate)

    @property
    def memory(self) -> int:
        """Samples after which the past is forgotten to rounding: the margin of a block."""
        return decay(self.sections, NEGLIGIBLE)

    @property
    def settling(self) -> int:
        """Samples at an end that its unknown surroundings spoil by more than a hundredth of what they hide."""
        return decay(self.sections, SETTLED)

    def apply(self, signal: Shaped[np.ndarray, "samples ..."]) -> Shaped[np.ndarray, "samples ..."]:
        """The low-passed signal, along its first axis, whatever the other axes are."""
        channels = np.ascontiguousarray(signal.reshape(len(signal), -1).T, dtype=float)
        return np.ascontiguousarray(self.channels(channels).T).reshape(signal.shape)

    def channels(self, signal: ChannelsBySample) -> ChannelsBySample:
        """The same for an array whose samples lie side by side."""
        return both_ways(self.sections, signal, self.memory)


def both_ways(sections: FilterSections, signal: ChannelsBySample, reach: int) -> ChannelsBySample:
    """A filter run forward and backward over the signal and ``reach`` samples of its point reflection at either end."""
    level = at_rest(sections)
    channels, samples = signal.shape
    filtered = np.empty((channels, samples))
    few = max(1, AT_ONCE // (samples + 2 * reach))
    for k in range(0, channels, few):
        some = reflected(signal[k : k + few], reach)
        for _ in range(2):
            run(sections, some, level * some[:, :1, np.newaxis])
            some = np.ascontiguousarray(some[:, ::-1])
        filtered[k : k + few] = some[:, reach : reach + samples]
    return filtered


def reflected(signal: ChannelsBySample, reach: int) -> Float[np.ndarray, "channels extended"]:
    """The signal continued at both ends by its point reflection, again and again where it is shorter than ``reach``."""
    if signal.shape[1] < 2:
        return np.pad(signal, ((0, 0), (reach, reach)), mode="edge")
    return np.pad(signal, ((0, 0), (reach, reach)), mode="reflect", reflect_type="odd")


def decay(sections: FilterSections, left: float) -> int:
    """Samples until the slowest mode of a filter has fallen to the fraction ``left``."""
    # The poles of z^2 + a1 z + a2: cheaper and no less exact than asking for them again.
    radius = max(float(np.abs(np.roots(section[3:])).max()) for section in sections)
    return max(1, math.ceil(math.log(left) / math.log(radius))) if 0.0 < radius < 1.0 else 1


@dataclass(frozen=True)
class Span:
    """A piece of a record: rows ``first:last`` are wanted, ``start:stop`` must be looked at for them."""

    first: int
    last: int
    start: int
    stop: int

    @property
    def core(self) -> slice:
        """The wanted samples, counted within the piece."""
        return slice(self.first - self.start, self.last - self.start)


def spans(first: int, last: int, size: int, margin: int, length: int) -> Iterator[Span]:
    """Pieces of ``size`` samples that cover first:last of a record of ``length``, each with its margins."""
    for begin in range(first, last, size):
        end = min(begin + size, last)
        yield Span(begin, end, max(0, begin - margin), min(length, end + margin))

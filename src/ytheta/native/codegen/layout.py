"""Layout: the sizes of a kernel, and the sections of its scratch buffer.

::

    rows of inputs      one row per element of the inputs that are not shared
    shared inputs       one after the other
    slots               rows of values that live from one chunk to a later one
    values              rows of results, in the order of Graph.places, before they become a dense array
    zeros               one row, never written: copied to entries of the dense array that are structural zeros

A row contains one number for every sample of a tile. Rows of values have the stride of a block, so that the same code
can write blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input

_CACHE_LINE = 8  # doubles
# A block should stay in the level-2 cache, often half a megabyte, and leave space there for work on the block.
_MAX_BLOCK_DOUBLES = 400 * 1024 // 8
_MAX_BLOCK_SAMPLES = 1024


@dataclass(frozen=True)
class Layout:
    """The sizes of a kernel. They are counted in doubles, except ``tile``, which is counted in samples."""

    lanes: int
    tile: int
    inputs: tuple[Input, ...]
    slots: int
    places: tuple[int, ...]
    shape: tuple[int, ...]

    @staticmethod
    def of(graph: Graph, *, lanes: int, tile: int, slots: int) -> Layout:
        return Layout(lanes, tile, graph.inputs, slots, graph.places, graph.shape)

    def find_first_row(self, k: int) -> int:
        """Return the first row of input k, which must not be shared."""
        return sum(entry.size for entry in self.inputs[:k] if not entry.shared)

    def find_shared_offset(self, k: int) -> int:
        """Return the offset of input k, which must be shared, in the section of shared inputs."""
        return sum(entry.size for entry in self.inputs[:k] if entry.shared)

    @property
    def size(self) -> int:
        """The number of entries of the dense array."""
        return math.prod(self.shape)

    @property
    def section_offsets(self) -> tuple[int, int, int, int]:
        """The offsets of the shared inputs, the slots and the values, and the length of the buffer."""
        rows = sum(entry.size for entry in self.inputs if not entry.shared)
        shared = sum(entry.size for entry in self.inputs if entry.shared)
        lengths = (self.tile * rows, shared, self.tile * self.slots, self.stride * len(self.places) + self.tile)
        first, second, third, fourth = accumulate(-(-length // _CACHE_LINE) * _CACHE_LINE for length in lengths)
        return first, second, third, fourth

    @property
    def stride(self) -> int:
        """The distance from one row of values to the next: enough for a tile, and for a block that fits into the cache.

        The stride is a constant of the generated code. It is an odd number of cache lines, because with powers of two
        all rows would compete for a few cache sets.
        """
        samples = min(_MAX_BLOCK_DOUBLES // max(len(self.places), 1), _MAX_BLOCK_SAMPLES)
        return (max(samples, self.tile + _CACHE_LINE) // _CACHE_LINE | 1) * _CACHE_LINE

    @property
    def block_samples(self) -> int:
        """The maximal number of samples in a block. One cache line of each row is left for alignment."""
        return self.stride - _CACHE_LINE

    @property
    def row_offsets(self) -> list[int]:
        """For every entry of the dense array, the offset of its row in the section of values."""
        rows = {place: row for row, place in enumerate(self.places)}
        return [self.stride * rows.get(place, len(self.places)) for place in range(self.size)]

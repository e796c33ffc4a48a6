"""Layout: sizes of a kernel, and where things lie in its scratch buffer.

::

    rows of inputs      one row per element of the inputs that are new in every sample
    shared inputs       one after the other
    slots               rows of values that live from one chunk to a later one
    values              rows of results, in the order of Graph.places, before they become a dense array
    zeros               one row, never written: what the dense array holds where the graph has no value

A row is one number for every sample of a tile. Rows of values are a block's stride apart: the same code writes blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input

_LINE = 8  # doubles in a cache line
# A block of values should stay in the second cache, most often of half a megabyte, and leave room for who works on it.
_BLOCK = 400 * 1024 // 8
_LONGEST = 1024


@dataclass(frozen=True)
class Layout:
    """All counted in doubles."""

    lanes: int
    tile: int
    inputs: tuple[Input, ...]
    slots: int
    places: tuple[int, ...]
    shape: tuple[int, ...]

    @staticmethod
    def of(graph: Graph, *, lanes: int, tile: int, slots: int) -> Layout:
        return Layout(lanes, tile, graph.inputs, slots, graph.places, graph.shape)

    def first_row(self, k: int) -> int:
        """The first row of an input that is new in every sample."""
        return sum(entry.size for entry in self.inputs[:k] if not entry.shared)

    def shared_place(self, k: int) -> int:
        """Where a shared input begins among the shared ones."""
        return sum(entry.size for entry in self.inputs[:k] if entry.shared)

    @property
    def size(self) -> int:
        """Entries of the dense array."""
        return math.prod(self.shape)

    @property
    def starts(self) -> tuple[int, int, int, int]:
        """Where the shared inputs, the slots and the values begin, and where the buffer ends."""
        rows = sum(entry.size for entry in self.inputs if not entry.shared)
        shared = sum(entry.size for entry in self.inputs if entry.shared)
        lengths = (self.tile * rows, shared, self.tile * self.slots, self.stride * len(self.places) + self.tile)
        first, second, third, fourth = accumulate(-(-length // _LINE) * _LINE for length in lengths)
        return first, second, third, fourth

    @property
    def stride(self) -> int:
        """From one row of values to the next: room for a tile, and for a block that fits into the cache.

        It is fixed, so that it stands in the code. An odd number of cache lines: with an even one, rows of a power of
        two would share a few cache sets.
        """
        wanted = min(_BLOCK // max(len(self.places), 1), _LONGEST)
        return (max(wanted, self.tile) // _LINE | 1) * _LINE

    @property
    def offsets(self) -> list[int]:
        """For every entry of the dense array, where its row begins among the values."""
        rows = {place: row for row, place in enumerate(self.places)}
        return [self.stride * rows.get(place, len(self.places)) for place in range(self.size)]

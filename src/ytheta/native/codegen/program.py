"""Program: a graph as a list of steps, ordered for machine code and divided into chunks.

Steps      single assignment: step k defines value k from earlier values. Constants and inputs are steps that compute
           nothing; every chunk that needs them loads them itself.
Angles     the sine and the cosine of an angle are adjacent steps, sine first, even if the graph needs only one of them:
           one range reduction serves both. All sines and cosines, and the steps that they depend on, come first,
           because a call in the middle of other steps would spill the registers.
Chunks     sequences of at most ``max_steps`` steps, not counting constants and inputs. Time and memory of a compiler
           grow faster than linearly with the length of one straight-line function. With chunks of bounded length, both
           grow linearly with the size of the graph.
Slots      a value that a later chunk needs is stored in a numbered slot of a scratch buffer; the slot is free again in
           the chunk after the last use. Cuts are placed where few values are still needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from ytheta.native.graph import check_function, list_operation_names

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input

# (name of the operation, arguments). Arguments are numbers of earlier steps, (input, element) or (constant,).
Step: TypeAlias = tuple[str, tuple[Any, ...]]

LEAVES = ("CONST", "INPUT")


@dataclass(frozen=True)
class Chunk:
    """The steps of one function, in order; ``kept`` lists the values that it stores in slots for later chunks."""

    steps: tuple[int, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Steps, output values in the order of ``Graph.places``, chunks, and the slot of each kept value."""

    steps: list[Step]
    outputs: list[int]
    chunks: tuple[Chunk, ...]
    slots: dict[int, int]

    @property
    def slot_count(self) -> int:
        return 1 + max(self.slots.values(), default=-1)


def build_program(graph: Graph, *, max_steps: int) -> Program:
    """Return the program of a graph in chunks of at most ``max_steps`` computing steps."""
    steps, outputs = _read_steps(graph)
    order = _order_angles_first(steps)
    ends = _find_cuts(steps, order, max_steps)
    return _assign_slots(steps, outputs, order, ends)


def _read_steps(graph: Graph) -> tuple[list[Step], list[int]]:
    check_function(graph)
    names = list_operation_names()
    function = graph.function
    steps: list[Step] = []
    outputs = [0] * len(graph.places)
    work_vector: dict[int, int] = {}  # the current value of each entry of CasADi's work vector
    leaves: dict[Step, int] = {}
    angles: dict[int, int] = {}

    def add_leaf(step: Step) -> int:
        if step not in leaves:
            leaves[step] = len(steps)
            steps.append(step)
        return leaves[step]

    for k in range(function.n_instructions()):
        name = names[function.instruction_id(k)]
        arguments, results = function.instruction_input(k), function.instruction_output(k)
        if name == "OUTPUT":
            outputs[results[1]] = work_vector[arguments[0]]
        elif name == "INPUT":
            work_vector[results[0]] = add_leaf(("INPUT", tuple(arguments)))
        elif name == "CONST":
            # As text, -0.0 differs from 0.0, and NaN is equal to itself.
            work_vector[results[0]] = add_leaf(("CONST", (repr(function.instruction_constant(k)),)))
        elif name in ("SIN", "COS"):
            angle = work_vector[arguments[0]]
            if angle not in angles:
                angles[angle] = len(steps)
                steps += [("SIN", (angle,)), ("COS", (angle,))]
            work_vector[results[0]] = angles[angle] + (name == "COS")
        else:
            steps.append((name, tuple(work_vector[place] for place in arguments)))
            work_vector[results[0]] = len(steps) - 1
    return steps, outputs


def _order_angles_first(steps: list[Step]) -> list[int]:
    early = [name in ("SIN", "COS") for name, _ in steps]
    for k in range(len(steps) - 1, -1, -1):
        if early[k] and steps[k][0] not in LEAVES:
            for argument in steps[k][1]:
                early[argument] = True
    working = [k for k, (name, _) in enumerate(steps) if name not in LEAVES]
    return [k for k in working if early[k]] + [k for k in working if not early[k]]


def _find_cuts(steps: list[Step], order: list[int], max_steps: int) -> list[int]:
    """Return the ends of the chunks.

    A chunk that is not the last has ¾ ``max_steps`` to ``max_steps`` steps; within this range, it ends where the fewest
    values are live, but never between a sine and its cosine.
    """
    place = {k: position for position, k in enumerate(order)}
    last = dict(place)
    for k in order:
        for argument in steps[k][1]:
            if argument in last:
                last[argument] = place[k]
    change = [0] * (len(order) + 2)
    for k in order:
        change[place[k] + 1] += 1
        change[last[k] + 1] -= 1
    live = list(accumulate(change))  # live[cut]: the number of values computed before the cut and used after it
    ends: list[int] = []
    begin = 0
    while len(order) - begin > max_steps:
        window = range(begin + (3 * max_steps) // 4, begin + max_steps + 1)
        allowed = [cut for cut in window if steps[order[cut]][0] != "COS"]
        begin = min(allowed, key=lambda cut: (live[cut], -cut))
        ends.append(begin)
    return [*ends, len(order)]


def _assign_slots(steps: list[Step], outputs: list[int], order: list[int], ends: list[int]) -> Program:
    owner: dict[int, int] = {}
    begin = 0
    for number, end in enumerate(ends):
        owner.update((k, number) for k in order[begin:end])
        begin = end
    final = dict(owner)
    for k in order:
        for argument in steps[k][1]:
            if argument in final:
                final[argument] = owner[k]
    chunks: list[Chunk] = []
    slots: dict[int, int] = {}
    free: list[int] = []
    released: list[list[int]] = [[] for _ in range(len(ends) + 1)]
    count = begin = 0
    for number, end in enumerate(ends):
        free += released[number]
        kept = tuple(k for k in order[begin:end] if final[k] > number)
        for k in kept:
            if not free:
                free.append(count)
                count += 1
            slots[k] = free.pop()
            released[final[k] + 1].append(slots[k])
        chunks.append(Chunk(tuple(order[begin:end]), kept))
        begin = end
    return Program(steps, outputs, tuple(chunks), slots)


# Layout: the sizes of a kernel, and the sections of its scratch buffer.
#
# ::
#
#     rows of inputs      one row per element of the inputs that are not shared
#     shared inputs       one after the other
#     slots               rows of values that live from one chunk to a later one
#     values              rows of results, in the order of Graph.places, before they become a dense array
#     zeros               one row, never written: copied to entries of the dense array that are structural zeros
#
# A row contains one number for every sample of a tile. Rows of values have the stride of a block, so that the same code
# can write blocks.


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

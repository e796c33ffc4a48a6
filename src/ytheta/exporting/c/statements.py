"""A graph as C statements: straight-line code with one operation per statement and few variables.

Variables  a value lives in a local variable a0, a1 … from its computation to its last use; then the variable is free
           for another value. All sines and cosines whose angles are known come from one call.
Parts      a graph with more than MAX_PART_STEPS steps becomes several functions, because the time of a C compiler grows
           faster than linearly with the length of a function. Values that a later part needs are in the array ``w``.
Operations that C has no operator for use conditional expressions if possible. Only what remains, such as roots, needs
the C library; ``Body.library_functions`` lists it. A minimum or maximum of NaN and a limit is NaN, so that
limits of torques do not hide it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ytheta.errors import InputError
from ytheta.exporting.c.number import Number
from ytheta.native.codegen.program import LEAVES, Chunk, Program, build_program
from ytheta.native.codegen.simd import C_FUNCTIONS
from ytheta.native.graph import Graph

MAX_PART_STEPS = 3000

_EXPRESSIONS = {
    "ADD": "{0} + {1}",
    "SUB": "{0} - {1}",
    "MUL": "{0} * {1}",
    "DIV": "{0} / {1}",
    "NEG": "-{0}",
    "SQ": "{0} * {0}",
    "TWICE": "{0} + {0}",
    "INV": "{one} / {0}",
    "FABS": "{0} < {zero} ? -{0} : {0}",
    "FMIN": "{1} < {0} ? {1} : {0}",
    "FMAX": "{1} > {0} ? {1} : {0}",
    "SIGN": "{0} > {zero} ? {one} : ({0} < {zero} ? -{one} : {0})",
    "IF_ELSE_ZERO": "{0} != {zero} ? {1} : {zero}",
    "LT": "{0} < {1} ? {one} : {zero}",
    "LE": "{0} <= {1} ? {one} : {zero}",
    "EQ": "{0} == {1} ? {one} : {zero}",
    "NE": "{0} != {1} ? {one} : {zero}",
    "NOT": "{0} == {zero} ? {one} : {zero}",
    "AND": "{0} != {zero} && {1} != {zero} ? {one} : {zero}",
    "OR": "{0} != {zero} || {1} != {zero} ? {one} : {zero}",
}
_LIBRARY = C_FUNCTIONS | {"SQRT": "sqrt", "FLOOR": "floor", "CEIL": "ceil", "COPYSIGN": "copysign"}


@dataclass(frozen=True)
class Part:
    """The statements of one function. ``inputs`` are the names of the inputs that they use."""

    lines: tuple[str, ...]
    inputs: frozenset[str]


@dataclass(frozen=True)
class Body:
    """The parts of a graph in order, the size of ``w``, and the functions of the C library that they call."""

    parts: tuple[Part, ...]
    work_size: int
    library_functions: frozenset[str]
    sine_pairs: int


def emit_body(graph: Graph, number: Number, *, prefix: str, output: str, max_steps: int = MAX_PART_STEPS) -> Body:
    """Return the statements that compute a graph; its inputs are arrays of their names, ``output`` is the result."""
    program = build_program(graph, max_steps=max_steps)
    writers = [_PartWriter(graph, program, number, prefix, output) for _ in program.chunks]
    parts = [
        writer.write(chunk, first=k == 0) for k, (writer, chunk) in enumerate(zip(writers, program.chunks, strict=True))
    ]
    library = frozenset(name for writer in writers for name in writer.library_functions)
    pairs = sum(name == "SIN" for name, _ in program.steps)
    return Body(tuple(parts), program.slot_count, library, pairs)


@dataclass(eq=False)
class _PartWriter:
    graph: Graph
    program: Program
    number: Number
    prefix: str
    output: str
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # where each value of this part is
    library_functions: set[str] = field(default_factory=set)
    used_inputs: set[str] = field(default_factory=set)
    variable_count: int = 0

    def write(self, chunk: Chunk, *, first: bool) -> Part:
        places = self._find_places()
        if first:
            self._write_zeros()
            for k, step in enumerate(self.program.steps):
                if step[0] in LEAVES:
                    self._store(k, places)
        order, batches = self._order_steps(chunk)
        last_use = self._find_last_uses(order)
        free: list[str] = []
        declared: list[str] = []
        for position, k in enumerate(order):
            name, arguments = self.program.steps[k]
            if name in ("SIN", "COS"):
                if name == "SIN" and k in batches:
                    self._write_sines(batches[k], declared)
                self._release(k, position, last_use, free)
            else:
                values = [self._refer(argument) for argument in arguments]
                self._release(k, position, last_use, free)
                variable = free.pop() if free else self._add_variable()
                self.names[k] = variable
                self.lines.append(f"{variable} = {self._format_operation(name, values)};")
                if last_use.get(k, -1) < 0:  # an output, or kept for another part
                    free.append(variable)
            self._store(k, places)
            if k in chunk.kept:
                self.lines.append(f"w[{self.program.slots[k]}] = {self.names[k]};")
        variables = [f"a{k}" for k in range(self.variable_count)]
        rows = [", ".join(variables[k : k + 16]) for k in range(0, len(variables), 16)]
        declarations = [*declared, *(f"{self.number.type} {row};" for row in rows)]
        return Part((*declarations, *self.lines), frozenset(self.used_inputs))

    def _order_steps(self, chunk: Chunk) -> tuple[list[int], dict[int, list[int]]]:
        """Return the steps, and by its first sine each batch of sines whose angles are known at the same time."""
        steps = self.program.steps
        sines = [k for k in chunk.steps if steps[k][0] == "SIN"]
        if not sines:
            return list(chunk.steps), {}
        end = chunk.steps.index(sines[-1] + 1) + 1  # after the last cosine
        head, tail = chunk.steps[:end], chunk.steps[end:]
        levels: dict[int, int] = {}  # the number of sines and cosines along the longest path to a value
        for k in head:
            level = max((levels.get(argument, 0) for argument in self._list_values(k)), default=0)
            levels[k] = level + (steps[k][0] in ("SIN", "COS"))
        ordered = sorted(head, key=lambda k: (levels[k], steps[k][0] not in ("SIN", "COS")))
        batches: dict[int, list[int]] = {}
        by_level: dict[int, list[int]] = {}
        for k in ordered:
            if steps[k][0] == "SIN":
                by_level.setdefault(levels[k], []).append(k)
        for members in by_level.values():
            batches[members[0]] = members
        return [*ordered, *tail], batches

    def _list_values(self, k: int) -> Sequence[int]:
        name, arguments = self.program.steps[k]
        return () if name in LEAVES else arguments

    def _find_last_uses(self, order: Sequence[int]) -> dict[int, int]:
        """Return the position of the last use of every value; the angles of a batch are used by its first sine."""
        last: dict[int, int] = {}
        for position, k in enumerate(order):
            for argument in self._list_values(k):
                last[argument] = position
        return last

    def _release(self, k: int, position: int, last_use: dict[int, int], free: list[str]) -> None:
        """Free the variables whose values this step uses for the last time."""
        for argument in dict.fromkeys(self._list_values(k)):
            variable = self.names.get(argument, "")
            if last_use[argument] == position and variable.startswith("a") and variable[1:].isdigit():
                free.append(variable)

    def _add_variable(self) -> str:
        self.variable_count += 1
        return f"a{self.variable_count - 1}"

    def _write_sines(self, batch: Sequence[int], declared: list[str]) -> None:
        label, n = len(declared), len(batch)
        size = f"{self.prefix.upper()}_PAD({n})"
        declared.append(f"{self.number.type} angle{label}[{size}] = {{0}}, sine{label}[{size}], cosine{label}[{size}];")
        for place, k in enumerate(batch):
            self.lines.append(f"angle{label}[{place}] = {self._refer(self.program.steps[k][1][0])};")
            self.names[k], self.names[k + 1] = f"sine{label}[{place}]", f"cosine{label}[{place}]"
        self.lines.append(f"{self.prefix}_sine_cosine(angle{label}, sine{label}, cosine{label}, {size});")

    def _refer(self, k: int) -> str:
        name, arguments = self.program.steps[k]
        if name == "CONST":
            text = self.number.format(float(arguments[0]))
            return f"({text})" if text.startswith("-") else text
        if name == "INPUT":
            entry = self.graph.inputs[arguments[0]]
            self.used_inputs.add(entry.name)
            return f"{entry.name}[{arguments[1]}]"
        return self.names[k] if k in self.names else f"w[{self.program.slots[k]}]"

    def _format_operation(self, name: str, values: Sequence[str]) -> str:
        if name in _EXPRESSIONS:
            return _EXPRESSIONS[name].format(*values, one=self.number.format(1.0), zero=self.number.format(0.0))
        if name in _LIBRARY:
            function = f"{_LIBRARY[name]}{self.number.suffix}"
            self.library_functions.add(function)
            return f"{function}({', '.join(values)})"
        raise InputError(f"graph {self.graph.name!r} uses the operation {name}, which the export to C does not support")

    def _find_places(self) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for k, place in zip(self.program.outputs, self.graph.places, strict=True):
            places.setdefault(k, []).append(place)
        return places

    def _store(self, k: int, places: dict[int, list[int]]) -> None:
        for place in places.get(k, ()):
            self.lines.append(f"{self.output}[{place}] = {self._refer(k)};")

    def _write_zeros(self) -> None:
        zero = self.number.format(0.0)
        for first, last in _find_runs(sorted(set(range(self.graph.size)) - set(self.graph.places))):
            if last - first < 2:
                self.lines += [f"{self.output}[{place}] = {zero};" for place in range(first, last + 1)]
            else:
                self.lines.append(f"for (k = {first}; k <= {last}; k++) {self.output}[k] = {zero};")


def _find_runs(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last number of every run of consecutive numbers."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs

"""C declarations and definitions of functions that compute graphs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from ytheta.errors import InputError
from ytheta.exporting.functions import BETA, RobotFunction
from ytheta.native.codegen.program import LEAVES, Chunk, Program, build_program
from ytheta.native.codegen.simd import C_FUNCTIONS
from ytheta.native.graph import Graph, Operations, count_operations


@dataclass(frozen=True, eq=False)
class Style:
    """What all definitions of an export share: the prefix of names and the type of numbers."""

    prefix: str
    number: Number

    @property
    def parameters_type(self) -> str:
        return f"{self.prefix}_parameters"


@dataclass(frozen=True, eq=False)
class Definition:
    """One function in C. ``is_static``: it is only called by functions of the same file."""

    style: Style
    function: RobotFunction
    body: CodeBody
    operations: Operations
    is_static: bool = False

    @property
    def name(self) -> str:
        return f"{self.style.prefix}_{self.function.name}"

    @property
    def declaration(self) -> str:
        """The prototype without semicolon."""
        return f"{self._storage}void {self.name}({', '.join(self._list_arguments(restrict=False))})"

    @property
    def operations_text(self) -> str:
        return describe_operations(self.operations)

    def format(self) -> str:
        """Return the definition, with the parts of a long function before it."""
        arguments = ", ".join(self._list_arguments(restrict=True))
        head = f"{self._storage}void {self.name}({arguments})"
        comment = f"/* {self.operations_text} */"
        if len(self.body.parts) == 1:
            lines = [*self._list_preparations(self.body.parts[0]), *self.body.parts[0].lines]
            return "\n".join([comment, head, "{", *_indent(lines), "}", ""])
        texts = [self._format_part(k, part) for k, part in enumerate(self.body.parts)]
        calls = [f"{self.style.number.type} w[{max(self.body.work_size, 1)}];"]
        if self.function.is_parametric:
            calls.append(f"const {self.style.number.type} *const {BETA} = parameters->{BETA};")
        names = [entry.name for entry in self.function.inputs]
        calls += [
            f"{self.name}_{k + 1}({', '.join([*names, 'w', self.function.output])});"
            for k in range(len(self.body.parts))
        ]
        return "\n".join([*texts, comment, head, "{", *_indent(calls), "}", ""])

    @property
    def _storage(self) -> str:
        return "static " if self.is_static else ""

    def _format_part(self, k: int, part: Part) -> str:
        t, output = self.style.number.type, self.function.output
        arguments = [f"const {t} *{entry.name}" for entry in self.function.inputs]
        arguments += [f"{t} *restrict w", f"{t} *restrict {output}"]
        unused = [entry.name for entry in self.function.inputs if entry.name not in part.inputs]
        lines = [*_declare_counter(part), *part.lines]
        unused += [name for name in ("w", output) if not any(f"{name}[" in line for line in part.lines)]
        lines += [f"(void){name};" for name in unused]
        head = f"static void {self.name}_{k + 1}({', '.join(arguments)})"
        return "\n".join([head, "{", *_indent(lines), "}", ""])

    def _list_arguments(self, *, restrict: bool) -> list[str]:
        t, graph = self.style.number.type, self.function.graph
        arguments = [f"const {self.style.parameters_type} *parameters"] if self.function.is_parametric else []
        arguments += [f"const {t} {entry.name}[{entry.size}]" for entry in self.function.inputs if entry.name != BETA]
        size = f"restrict {graph.size}" if restrict else f"{graph.size}"
        return [*arguments, f"{t} {self.function.output}[{size}]"]

    def _list_preparations(self, part: Part) -> list[str]:
        """Declarations that come before the statements of a part."""
        lines = _declare_counter(part)
        if self.function.is_parametric:
            lines.append(f"const {self.style.number.type} *const {BETA} = parameters->{BETA};")
        return lines


def define(function: RobotFunction, style: Style, *, is_static: bool = False) -> Definition:
    """Return the C function of a graph."""
    body = emit_body(function.graph, style.number, prefix=style.prefix, output=function.output)
    if len(body.parts) == 1:
        part = body.parts[0]
        unused = [entry.name for entry in function.inputs if entry.name not in part.inputs]
        lines = (*part.lines, *(f"(void){name};" for name in unused))
        body = CodeBody((Part(lines, part.inputs),), body.work_size, body.library_functions, body.sine_pairs)
    return Definition(style, function, body, count_operations(function.graph), is_static)


def describe_operations(operations: Operations) -> str:
    """Return the numbers of operations in words."""
    counts = ((entry.name, getattr(operations, entry.name)) for entry in fields(operations))
    return "operations: " + (", ".join(f"{count} {name}" for name, count in counts if count) or "none")


def _declare_counter(part: Part) -> list[str]:
    return ["int k;"] if any(line.startswith("for (k = ") for line in part.lines) else []


def _indent(lines: list[str] | tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]


# A graph as C statements: straight-line code with one operation per statement and few variables.
#
# Variables  a value lives in a local variable a0, a1 … from its computation to its last use; then the variable is free
#            for another value. All sines and cosines whose angles are known come from one call.
# Parts      a graph with more than MAX_PART_STEPS steps becomes several functions, because the time of a C compiler
#            grows faster than linearly with the length of a function. Values that a later part needs are in the array
#            ``w``.
# Operations that C has no operator for use conditional expressions if possible. Only what remains, such as roots, needs
# the C library; ``CodeBody.library_functions`` lists it. A minimum or maximum of NaN and a limit is NaN, so that limits
# of torques do not hide it.


MAX_PART_STEPS = 3000  # Steps of one C function; affects only the time of the C compiler

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
class CodeBody:
    """The parts of a graph in order, the size of ``w``, and the functions of the C library that they call."""

    parts: tuple[Part, ...]
    work_size: int
    library_functions: frozenset[str]
    sine_pairs: int


def emit_body(graph: Graph, number: Number, *, prefix: str, output: str, max_steps: int = MAX_PART_STEPS) -> CodeBody:
    """Return the statements that compute a graph; its inputs are arrays of their names, ``output`` is the result."""
    program = build_program(graph, max_steps=max_steps)
    writers = [_PartWriter(graph, program, number, prefix, output) for _ in program.chunks]
    parts = [
        writer.write(chunk, first=k == 0) for k, (writer, chunk) in enumerate(zip(writers, program.chunks, strict=True))
    ]
    library = frozenset(name for writer in writers for name in writer.library_functions)
    pairs = sum(name == "SIN" for name, _ in program.steps)
    return CodeBody(tuple(parts), program.slot_count, library, pairs)


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


# The type of numbers in exported C code, and numbers as C literals.


@dataclass(frozen=True)
class Number:
    """A floating-point type of C: its name, and the suffix of its literals and of functions of the C library."""

    type: str
    suffix: str

    def format(self, value: float) -> str:
        """Return the literal of a number; all digits are kept, so that the compiler reads the same number."""
        value = float(value)
        rounded = value
        if self.suffix:
            with np.errstate(over="ignore"):
                rounded = float(np.float32(value))
        if not math.isfinite(rounded):
            raise InputError(
                f"the number {value:g} cannot be written as a C {self.type}; check the parameters, or use "
                'precision="double"'
            )
        text = repr(rounded) if not self.suffix else f"{rounded:.9g}"
        text = text if any(mark in text for mark in ".en") else f"{text}.0"
        return f"{text}{self.suffix}"

    def format_row(self, values: np.ndarray) -> str:
        return "{" + ", ".join(self.format(value) for value in np.asarray(values, dtype=float).ravel()) + "}"


DOUBLE = Number("double", "")
FLOAT = Number("float", "f")


def find_number(precision: str) -> Number:
    return DOUBLE if precision == "double" else FLOAT


# Names and texts of a robot in C: valid unique identifiers, and comments that nothing can end.


MAX_PREFIX_LENGTH = 32  # Characters of a prefix; longer ones are cut. Chosen on: rule of thumb.
# Names of files that Windows does not accept, with any extension.
_RESERVED_FILES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}


def make_prefix(text: str) -> str:
    """Return a lower-case identifier from any text; it is the stem of the files and the start of all names.

    It never starts with a digit or an underscore, so that together with a suffix it is neither a keyword nor reserved.
    """
    words = _join_words(text).lower()[:MAX_PREFIX_LENGTH].strip("_")
    if not words:
        return "robot"
    if words[0].isdigit() or words in _RESERVED_FILES:
        return f"robot_{words}"[:MAX_PREFIX_LENGTH].rstrip("_")
    return words


def make_constants(prefix: str, names: Iterable[str], taken: set[str]) -> list[str]:
    """Return one upper-case identifier for each name, different from all others in ``taken``, which is extended."""
    constants = []
    for name in names:
        stem = f"{prefix}_{_join_words(name) or 'unnamed'}".upper()
        constant, number = stem, 2
        while constant in taken:
            constant, number = f"{stem}_{number}", number + 1
        taken.add(constant)
        constants.append(constant)
    return constants


def clean_comment(text: str) -> str:
    """Return any text as one line of printable ASCII that neither ends a comment nor contains trigraphs."""
    line = " ".join(text.split()).replace("²", "^2").replace("·", " ").replace("—", "-").replace("–", "-")
    line = "".join(c if c.isascii() and c.isprintable() and c != "\\" else "_" for c in line)
    line = re.sub(r"\?(?=\?)", "? ", line)
    return re.sub(r"\*(?=/)|/(?=\*)", lambda match: f"{match.group()} ", line)


def _join_words(text: str) -> str:
    """Return the letters and digits of a text, with one underscore in place of everything between them."""
    return "_".join(re.findall(r"[A-Za-z0-9]+", text))

"""C declarations and definitions of functions that compute graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ytheta.exporting.c.number import Number
from ytheta.exporting.c.statements import Body, Part, emit_body
from ytheta.exporting.functions import BETA, RobotFunction
from ytheta.native.operations import Operations, count_operations


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
    body: Body
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
        body = Body((Part(lines, part.inputs),), body.work_size, body.library_functions, body.sine_pairs)
    return Definition(style, function, body, count_operations(function.graph), is_static)


def describe_operations(operations: Operations) -> str:
    """Return the numbers of operations in words."""
    counts = ((entry.name, getattr(operations, entry.name)) for entry in fields(operations))
    return "operations: " + (", ".join(f"{count} {name}" for name, count in counts if count) or "none")


def _declare_counter(part: Part) -> list[str]:
    return ["int k;"] if any(line.startswith("for (k = ") for line in part.lines) else []


def _indent(lines: list[str] | tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]

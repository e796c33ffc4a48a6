"""The mutants of a module: small changes of its source that its tests should notice.

Changed are operators, comparisons, signs, numbers, truth values, conditions, pairs of arguments, functions with an
opposite (``min`` and ``max``), transposes, and statements (left out). Not changed are annotations, strings, decorators,
assertions, what is raised or logged, and ``__repr__``.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPPOSITES = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("sin", "cos"),
    ("floor", "ceil"),
    ("argmin", "argmax"),
    ("triu", "tril"),
    ("zeros", "ones"),
    ("REVOLUTE", "PRISMATIC"),
    ("parent", "child"),
    ("lower", "upper"),
)
OPPOSITE = {**dict(OPPOSITES), **{second: first for first, second in OPPOSITES}}
BUILT_IN = ("min", "max", "any", "all")
SYMMETRIC = ("min", "max", "minimum", "maximum", "hypot", "isinstance")  # swapped arguments change nothing, or the type
LOGGERS = ("_LOG", "logging", "warnings", "console")


@dataclass(frozen=True, order=True)
class Mutant:
    """The source between two offsets is replaced by ``text``."""

    start: int
    end: int
    text: str
    kind: str

    def apply(self, source: str) -> str:
        """Return the source of the mutant."""
        return source[: self.start] + self.text + source[self.end :]

    def describe(self, source: str) -> tuple[int, str, str]:
        """Return the number of the changed line, the line before and the line after the change."""
        number = source.count("\n", 0, self.start)
        return number + 1, source.split("\n")[number].strip(), self.apply(source).split("\n")[number].strip()


@dataclass(frozen=True)
class Code:
    """Source text, and where the nodes of its syntax tree are in it."""

    text: str

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) for line in self._lines)]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of the first character of a node and of the first character behind it."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, row: int, column: int) -> int:
        before = self._lines[row - 1].encode()[:column].decode()  # the columns of ``ast`` count bytes
        return self._starts[row - 1] + len(before)


def list_mutants(source: str) -> list[Mutant]:
    """Return all mutants that are valid Python and another program, in the order of the source."""
    tree, code = ast.parse(source), Code(source)
    original = ast.dump(tree)
    mutants: set[Mutant] = set()
    for node in _walk(tree):
        for mutant in _change(node, code):
            try:
                if ast.dump(ast.parse(mutant.apply(source))) != original:
                    mutants.add(mutant)
            except SyntaxError:
                continue
    return sorted(mutants)


def draw_mutants(source: str, count: int, seed: str) -> list[Mutant]:
    """Return a random sample of the mutants; the same for the same source and seed."""
    mutants = list_mutants(source)
    return sorted(random.Random(seed).sample(mutants, min(count, len(mutants))))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Visit what is executed and matters: not annotations, messages, decorators and documentation."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_skipped(child):
                yield from _walk(child)


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__repr__", "_repr_html_", "__str__")
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
        return node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _is_skipped(node.value)  # a docstring
    if isinstance(node, ast.Call):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        return _name(owner) in LOGGERS or _name(node.func) in ("Finding", "error")
    return False


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _change(node: ast.AST, code: Code) -> Iterator[Mutant]:
    """Yield the changes of one node."""
    span, text = code.span, code.text
    match node:
        case ast.BinOp() if type(node.op) in BINARY:
            yield from _swap(code, node.left, node.right, *BINARY[type(node.op)], "operator")
        case ast.AugAssign() if type(node.op) in BINARY:
            old, new = BINARY[type(node.op)]
            yield from _swap(code, node.target, node.value, f"{old}=", f"{new}=", "operator")
            yield Mutant(*span(node), "pass", "statement")
        case ast.Compare():
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield from _swap(code, left, right, *COMPARISONS[type(op)], "comparison")
        case ast.BoolOp():
            pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in pairwise(node.values):
                yield from _swap(code, left, right, *pair, "boolean")
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield Mutant(span(node)[0], span(node.operand)[0], "", "sign")
        case ast.Constant(value=bool()):
            yield Mutant(*span(node), str(not node.value), "truth value")
        case ast.Constant(value=int() | float() as value):
            # A constant of the module is mostly a limit: does any test come near it?
            factor = 100.0 if node.col_offset and text[: span(node)[0]].rpartition("\n")[2][:1].isupper() else 2.0
            changed = value + 1 if isinstance(value, int) or not value else factor * value
            yield Mutant(*span(node), repr(changed), "number")
        case ast.If() | ast.IfExp() | ast.While() if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
            start, end = span(node.test)
            yield Mutant(start, end, f"(not {text[start:end]})", "condition")
        case ast.Call(args=[first, second]) if _name(node.func) not in SYMMETRIC:
            (start, middle), (resume, end) = span(first), span(second)
            yield Mutant(start, end, text[resume:end] + text[middle:resume] + text[start:middle], "arguments")
        case ast.Expr(value=ast.Call()):
            yield Mutant(*span(node), "pass", "statement")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield Mutant(*span(node), "pass", "statement")
        case ast.Name() if node.id in BUILT_IN:
            yield Mutant(*span(node), OPPOSITE[node.id], "opposite")
        case ast.Attribute(attr="T"):
            yield Mutant(span(node.value)[1], span(node)[1], "", "transpose")
        case ast.Attribute() if node.attr in OPPOSITE:
            yield Mutant(span(node.value)[1], span(node)[1], f".{OPPOSITE[node.attr]}", "opposite")
        case ast.Break():
            yield Mutant(*span(node), "continue", "statement")
        case ast.Continue():
            yield Mutant(*span(node), "break", "statement")


def _swap(code: Code, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> Iterator[Mutant]:
    """Replace the operator between two operands."""
    place = code.text.find(old, code.span(left)[1], code.span(right)[0])
    if place >= 0:
        yield Mutant(place, place + len(old), new, kind)

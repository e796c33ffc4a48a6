"""Expressions of declared forces: arithmetic in positions, parsed without eval.

An expression consists of numbers, ``pi``, names, ``+ - * / **``, brackets, the FUNCTIONS below, and ``q("any name")``
for the position of a joint whose name is not an identifier. Comparisons, attributes and other calls are errors.

The same evaluator accepts floats, NumPy arrays, CasADi's SX and SymPy expressions. A result that is a plain
float is constant. A constant that is not finite is an error, because the expression would be invalid in every
configuration. UNKNOWN stands for a number that is not known yet. With UNKNOWN in place of positions and lengths, the
evaluation checks only the constants.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from ytheta.errors import RobotError, suggest_names
from ytheta.files.bounded import shorten
from ytheta.files.symbols import MAX_EXPRESSION_LENGTH, MAX_PARTS, is_length_name, parse_arithmetic

# Functions and the number of their arguments.
FUNCTIONS = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "tanh", "abs", "sign"), 1),
    "atan2": 2,
}
POSITION = "q"
# Largest number of nested operations. Chosen on: rule of thumb.
MAX_DEPTH = 100
ALLOWED_SYNTAX = (
    f"numbers, names, pi, + - * / ** and brackets, {', '.join(FUNCTIONS)}, and {POSITION}('name of a joint')"
)


class Unknown:
    """A number that is not known yet. Every result computed from it is unknown, too."""

    def _return_self(self, *_: Any) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __pos__ = _return_self
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _return_self


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its text, the names in it, and the joints that it refers to as ``q("name")``."""

    text: str
    names: frozenset[str]
    positions: frozenset[str]
    tree: ast.expr = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, Any], positions: Mapping[str, Any]) -> Any:
        """Return the value, given scalars of any type. A name that is not in ``names`` is a position.

        RobotError if a constant is not finite. Entries of NumPy arrays become infinite or NaN where the expression is
        undefined.
        """
        try:
            with np.errstate(all="ignore"):
                return _evaluate(self.tree, names, positions)
        except OverflowError:
            raise _make_parse_error(self.text, "a constant in it has no finite value") from None
        except (ValueError, ZeroDivisionError) as error:
            raise _make_parse_error(self.text, str(error)) from None

    @property
    def uses_pi(self) -> bool:
        return any(isinstance(node, ast.Name) and node.id == "pi" for node in ast.walk(self.tree))


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """Parse an expression; RobotError if it is invalid.

    The message contains the text and a remedy; the caller adds the place in the file.
    """
    try:
        if len(text) > MAX_EXPRESSION_LENGTH:
            raise ValueError(f"it is longer than {MAX_EXPRESSION_LENGTH} characters; name parts of it under 'where'")
        tree = _parse_tree(text)
        return Expression(text, *_collect_names(tree), tree)
    except SyntaxError:
        raise _make_parse_error(text, f"it is not an arithmetic expression; write {ALLOWED_SYNTAX}") from None
    except (RecursionError, MemoryError):
        raise _make_parse_error(text, "it is nested too deeply; name parts of it under 'where'") from None
    except (ValueError, OverflowError) as error:
        raise _make_parse_error(text, str(error)) from None


def format_position(name: str) -> str:
    """Return the position of a joint as it is written in an expression."""
    return name if is_length_name(name) else f"{POSITION}({name!r})"


def replace_positions(text: str, positions: Mapping[str, float]) -> str:
    """Return an expression with numbers in place of these positions; the names are those of joints and motors."""
    expression = parse_expression(text)
    if not (expression.names | expression.positions) & positions.keys():
        return text
    return ast.unparse(_PositionReplacer(positions).visit(parse_arithmetic(text)))


class _PositionReplacer(ast.NodeTransformer):
    def __init__(self, positions: Mapping[str, float]) -> None:
        self.positions = positions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._make_number(node.id) if node.id in self.positions and node.id != "pi" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        argument = node.args[0] if node.args else None
        if isinstance(node.func, ast.Name) and node.func.id == POSITION and isinstance(argument, ast.Constant):
            return self._make_number(str(argument.value)) if argument.value in self.positions else node
        return ast.Call(node.func, [self.visit(entry) for entry in node.args], node.keywords)

    def _make_number(self, name: str) -> ast.expr:
        """Return a number; a negative one is a negation, so that it gets brackets where it needs them."""
        number = ast.Constant(abs(self.positions[name]))
        return ast.UnaryOp(ast.USub(), number) if self.positions[name] < 0.0 else number


def _make_parse_error(text: str, reason: str) -> RobotError:
    return RobotError(f"{shorten(text)!r} is not understood: {reason}")


def _parse_tree(text: str) -> ast.expr:
    tree = parse_arithmetic(text)
    level: list[ast.AST] = [tree]
    parts = depth = 0
    while level:
        parts, depth = parts + sum(isinstance(node, ast.expr) for node in level), depth + 1
        if parts > MAX_PARTS:
            raise ValueError(f"it has more than {MAX_PARTS} parts; name some of them under 'where'")
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply; name parts of it under 'where'")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return tree


def _collect_names(tree: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names and positions in an expression; ValueError if it is not arithmetic."""
    names: set[str] = set()
    positions: set[str] = set()

    def visit(node: ast.expr) -> None:
        match node:
            case ast.Constant(value=value):
                _to_number(value)
            case ast.Name(id=name):
                if name != "pi":
                    names.add(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                visit(operand)
            case ast.BinOp(op=ast.BitXor()):
                raise ValueError("^ is not a power; write **")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right):
                visit(left)
                visit(right)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as joint)], keywords=[]) if (
                name == POSITION
            ):
                positions.add(joint)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                _check_call(name, len(arguments))
                for argument in arguments:
                    visit(argument)
            case _:
                raise ValueError(f"only these are allowed: {ALLOWED_SYNTAX}")

    visit(tree)
    return frozenset(names), frozenset(positions)


def _check_call(name: str, arguments: int) -> None:
    if name == POSITION:
        raise ValueError(f"{POSITION} takes the name of one joint in quotes: {POSITION}('joint2')")
    if name not in FUNCTIONS:
        raise ValueError(f"there is no function {name!r}{suggest_names(name, FUNCTIONS)}")
    if arguments != FUNCTIONS[name]:
        raise ValueError(f"{name} takes {FUNCTIONS[name]} argument{'s' * (FUNCTIONS[name] > 1)}, not {arguments}")


def _to_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number; write {ALLOWED_SYNTAX}")
    try:
        return _check_finite(float(value))
    except OverflowError:
        raise ValueError("a number in it is too large") from None


def _evaluate(node: ast.expr, names: Mapping[str, Any], positions: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return _to_number(value)
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            return names[name] if name in names else positions[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate(operand, names, positions)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _check_finite(_combine(_evaluate(left, names, positions), op, _evaluate(right, names, positions)))
        case ast.Call(args=[ast.Constant(value=str() as joint)]):
            return positions[joint]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _check_finite(_call(name, [_evaluate(argument, names, positions) for argument in arguments]))
    raise AssertionError(f"{ast.dump(node)} should not have passed _collect_names")


def _combine(left: Any, op: ast.operator, right: Any) -> Any:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            if type(right) is float and right == 0.0:
                raise ValueError("it divides by zero")
            return left / right
    if type(right) is float and right.is_integer() and type(left) is not float:
        return left ** int(right)  # SymPy distinguishes x**2 from x**2.0
    return left**right


def _call(name: str, arguments: Sequence[Any]) -> Any:
    if any(argument is UNKNOWN for argument in arguments):
        return UNKNOWN
    library = _find_library(arguments)
    spelling = {"casadi": "fabs", "sympy": "Abs"}.get(library.__name__, name) if name == "abs" else name
    result = getattr(library, spelling)(*arguments)
    # A NumPy scalar would treat CasADi scalars as arrays in later operations.
    return float(result) if all(type(argument) is float for argument in arguments) else result


def _find_library(arguments: Sequence[Any]) -> ModuleType:
    """Return the library whose functions accept these scalars."""
    for argument in arguments:
        kind = type(argument).__module__.partition(".")[0]
        if kind == "casadi":
            import casadi

            return casadi
        if kind == "sympy":
            import sympy

            return sympy
    return np


def _check_finite(value: Any) -> Any:
    """Return the value; ValueError if it is a constant that is not a finite real number."""
    if type(value) is complex or (type(value) is float and not math.isfinite(value)):
        raise ValueError("a constant in it has no finite real value")
    return value

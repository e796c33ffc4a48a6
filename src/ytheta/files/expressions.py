"""Expressions of declared forces: arithmetic in positions, read from text and never executed.

Numbers, ``pi``, names, ``+ - * / **`` and brackets, the FUNCTIONS below, and ``q("any name")`` for the position of a
joint whose name is no word of such a text. Nothing else: no comparison, no attribute, no other call.

One evaluator serves every scalar: with floats and NumPy arrays it computes, with CasADi's SX it traces, with SymPy it
prints. Plain floats are constants of the text; where they have no finite value the text is wrong, wherever the robot
stands, and an error says so. UNKNOWN is a number that is not known yet: with it, constants are all that is checked.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from ytheta.errors import RobotError, suggest_names
from ytheta.files.lengths import is_length_name

# Functions and the number of their arguments; abs has another name in CasADi and SymPy.
FUNCTIONS = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "tanh", "abs", "sign"), 1),
    "atan2": 2,
}
POSITION = "q"
MAX_LENGTH = 5000  # characters
MOST_PARTS = 500  # numbers, names and operations
DEEPEST = 100
ALLOWED = f"numbers, names, pi, + - * / ** and brackets, {', '.join(FUNCTIONS)}, and {POSITION}('name of a joint')"


class Unknown:
    """A number that is not known yet: whatever is computed from it is not known either."""

    def _same(self, *_: Any) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __pos__ = _same
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _same


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Expression:
    """A checked text: the names it uses, and the joints whose positions it takes by ``q("name")``."""

    text: str
    names: frozenset[str]
    positions: frozenset[str]
    tree: ast.expr = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, Any], positions: Mapping[str, Any]) -> Any:
        """What it amounts to, on whatever scalars these are; a name that is not in ``names`` is a position.

        NumPy's numbers become infinite or NaN where there is no value. RobotError where a constant has none.
        """
        try:
            with np.errstate(all="ignore"):
                return _evaluated(self.tree, names, positions)
        except OverflowError:
            raise _misunderstood(self.text, "a constant in it has no finite value") from None
        except (ValueError, ZeroDivisionError) as error:
            raise _misunderstood(self.text, str(error)) from None

    @property
    def uses_pi(self) -> bool:
        return any(isinstance(node, ast.Name) and node.id == "pi" for node in ast.walk(self.tree))


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """A text as an expression. RobotError with the text and a remedy; the caller adds the place."""
    try:
        if len(text) > MAX_LENGTH:
            raise ValueError(f"it is longer than {MAX_LENGTH} characters; name parts of it under 'where'")
        tree = _tree(text)
        return Expression(text, *_used(tree), tree)
    except SyntaxError:
        raise _misunderstood(text, f"it is no arithmetic expression; write {ALLOWED}") from None
    except (RecursionError, MemoryError):
        raise _misunderstood(text, "it is nested too deeply; name parts of it under 'where'") from None
    except (ValueError, OverflowError) as error:
        raise _misunderstood(text, str(error)) from None


def format_position(name: str) -> str:
    """The position of a joint, as an expression writes it."""
    return name if is_length_name(name) else f"{POSITION}({name!r})"


def _misunderstood(text: str, reason: str) -> RobotError:
    shown = text if len(text) <= 200 else text[:198] + " …"
    return RobotError(f"{shown!r} is not understood: {reason}")


def _tree(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python about its own syntax; what is no arithmetic is refused anyway
        tree = ast.parse(text.strip(), mode="eval").body
    level: list[ast.AST] = [tree]
    parts = depth = 0
    while level:
        parts, depth = parts + sum(isinstance(node, ast.expr) for node in level), depth + 1
        if parts > MOST_PARTS:
            raise ValueError(f"it has more than {MOST_PARTS} parts; name some of them under 'where'")
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply; name parts of it under 'where'")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return tree


def _used(tree: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
    """Names and positions used; ValueError for everything that is not arithmetic."""
    names: set[str] = set()
    positions: set[str] = set()

    def look(node: ast.expr) -> None:
        match node:
            case ast.Constant(value=value):
                _number(value)
            case ast.Name(id=name):
                if name != "pi":
                    names.add(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                look(operand)
            case ast.BinOp(op=ast.BitXor()):
                raise ValueError("^ is no power; write **")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right):
                look(left)
                look(right)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as joint)], keywords=[]) if (
                name == POSITION
            ):
                positions.add(joint)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                _check_call(name, len(arguments))
                for argument in arguments:
                    look(argument)
            case _:
                raise ValueError(f"only these are allowed: {ALLOWED}")

    look(tree)
    return frozenset(names), frozenset(positions)


def _check_call(name: str, arguments: int) -> None:
    if name == POSITION:
        raise ValueError(f"{POSITION} takes the name of one joint in quotes: {POSITION}('joint2')")
    if name not in FUNCTIONS:
        raise ValueError(f"there is no function {name!r}{suggest_names(name, FUNCTIONS)}")
    if arguments != FUNCTIONS[name]:
        raise ValueError(f"{name} takes {FUNCTIONS[name]} argument{'s' * (FUNCTIONS[name] > 1)}, not {arguments}")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number; write {ALLOWED}")
    try:
        return _finite(float(value))
    except OverflowError:
        raise ValueError("a number in it is beyond all floats") from None


def _evaluated(node: ast.expr, names: Mapping[str, Any], positions: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return _number(value)
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            return names[name] if name in names else positions[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluated(operand, names, positions)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _finite(_combined(_evaluated(left, names, positions), op, _evaluated(right, names, positions)))
        case ast.Call(args=[ast.Constant(value=str() as joint)]):
            return positions[joint]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _finite(_applied(name, [_evaluated(each, names, positions) for each in arguments]))
    raise AssertionError(f"{ast.dump(node)} was let through")


def _combined(left: Any, op: ast.operator, right: Any) -> Any:
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
        return left ** int(right)  # SymPy keeps x**2 apart from x**2.0
    return left**right


def _applied(name: str, arguments: Sequence[Any]) -> Any:
    if any(argument is UNKNOWN for argument in arguments):
        return UNKNOWN
    library = _library(arguments)
    own = {"casadi": "fabs", "sympy": "Abs"}.get(library.__name__, name) if name == "abs" else name
    result = getattr(library, own)(*arguments)
    # A NumPy scalar would take CasADi's for an array.
    return float(result) if all(type(argument) is float for argument in arguments) else result


def _library(arguments: Sequence[Any]) -> ModuleType:
    """Whose functions these scalars need."""
    for argument in arguments:
        kind = type(argument).__module__.partition(".")[0]
        if kind == "casadi":
            import casadi

            return casadi
        if kind == "sympy":
            import sympy

            return sympy
    return np


def _finite(value: Any) -> Any:
    """The value, unless it is a constant that is not a finite real number."""
    if type(value) is complex or (type(value) is float and not math.isfinite(value)):
        raise ValueError("a constant in it has no finite real value")
    return value

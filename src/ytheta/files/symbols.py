"""Symbolic lengths, which are linear forms such as ``l1`` or ``-0.5*l1 + 0.1``, and symbolic angles.

The rotations of a robot's fixed frames are numeric, so that lengths stay *linear* in the symbols when frames are
composed. Products of lengths arise only in the dynamics, where lengths are scalars of other types.
"""

from __future__ import annotations

import ast
import keyword
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from ytheta.errors import RobotFileError, UnsetAngleError, UnsetLengthError, suggest_names
from ytheta.files.bounded import shorten

Scalar: TypeAlias = "float | Length"

# Largest number of characters of one expression. Chosen on: rule of thumb.
MAX_EXPRESSION_LENGTH = 5000
# Largest number of numbers, names and operations of one expression. Chosen on: rule of thumb.
MAX_PARTS = 500


class SymbolKind(StrEnum):
    """What the names in an expression stand for."""

    LENGTH = "length"
    ANGLE = "angle"


_ACCEPTED_TEXTS = {
    SymbolKind.LENGTH: "a number, multiples of pi, or sums and multiples of lengths declared under [lengths]",
    SymbolKind.ANGLE: "a number, a multiple of pi, or an angle declared under [angles], also with a minus sign",
}


@dataclass(frozen=True)
class Length:
    """A linear form in named lengths: ``constant + sum(factor * symbol)``, with at least one term."""

    constant: float
    terms: tuple[tuple[str, float], ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol for symbol, _ in self.terms)

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Return the value of this form, given the lengths as numbers or symbolic scalars."""
        missing = [symbol for symbol in self.symbols if symbol not in values]
        if missing:
            raise UnsetLengthError(
                f"the length {missing[0]!r} has no value; give it one with robot.with_lengths({missing[0]}=…) "
                f"or --length {missing[0]}=VALUE"
            )
        return self.constant + sum(factor * values[symbol] for symbol, factor in self.terms)

    def __add__(self, other: Scalar) -> Scalar:
        if isinstance(other, Length):
            factors = dict(self.terms)
            for symbol, factor in other.terms:
                factors[symbol] = factors.get(symbol, 0.0) + factor
            return _simplify(self.constant + other.constant, factors)
        return Length(self.constant + other, self.terms)

    def __mul__(self, factor: float) -> Scalar:
        return _simplify(self.constant * factor, {symbol: f * factor for symbol, f in self.terms})

    def __neg__(self) -> Length:
        return Length(-self.constant, tuple((symbol, -factor) for symbol, factor in self.terms))

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: float) -> Scalar:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __str__(self) -> str:
        pieces = [_format_term(symbol, factor) for symbol, factor in self.terms]
        if self.constant != 0.0:
            pieces.append(repr(self.constant))
        return " + ".join(pieces).replace("+ -", "- ")


def is_length_name(name: str) -> bool:
    """Whether a name can be used in expressions: ASCII letters, digits and _, but not pi or a Python keyword."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and name != "pi"


def symbol(name: str) -> Length:
    """Return the symbolic length with this name."""
    return Length(0.0, ((name, 1.0),))


def find_symbols(values: tuple[Scalar, ...]) -> set[str]:
    """Return the names of the symbols in these scalars."""
    return {name for value in values if isinstance(value, Length) for name in value.symbols}


def to_number(value: Scalar, values: Mapping[str, float]) -> float:
    """Return a scalar as a number, with its symbols replaced by these values."""
    return value.evaluate(values) if isinstance(value, Length) else value


def parse_scalar(
    text: str,
    known: frozenset[str],
    *,
    kind: SymbolKind = SymbolKind.LENGTH,
    others: frozenset[str] = frozenset(),
) -> Scalar:
    """Parse a text such as ``"l1"``, ``"-pi/2"`` or ``"0.5*l1 + 0.1"``, without executing it.

    ``known`` are the names that may be used, ``kind`` says what they are, and ``others`` are names of the other kind.
    RobotFileError if the text is invalid. The message contains the text and a remedy; the caller adds the place in the
    file.
    """
    names = _Names(known, kind, others)
    try:
        if len(text) > MAX_EXPRESSION_LENGTH:
            raise ValueError(f"it is longer than {MAX_EXPRESSION_LENGTH} characters")
        result = _evaluate(_parse_tree(text), names)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError, OverflowError) as error:
        reason = "it is not an arithmetic expression" if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, RecursionError | MemoryError):
            reason = "it is nested too deeply"
        raise RobotFileError(f"{shorten(text)!r} is not understood: {reason}; write {_ACCEPTED_TEXTS[kind]}") from None
    numbers = (result.constant, *(factor for _, factor in result.terms)) if isinstance(result, Length) else (result,)
    if not all(math.isfinite(number) for number in numbers):
        raise RobotFileError(f"{shorten(text)!r} is not a finite number; give smaller numbers")
    return result


def parse_arithmetic(text: str) -> ast.expr:
    """Parse a text with Python's grammar and return its syntax tree. Warnings about the text are suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def _parse_tree(text: str) -> ast.expr:
    tree = parse_arithmetic(text)
    if sum(isinstance(node, ast.expr) for node in ast.walk(tree)) > MAX_PARTS:
        raise ValueError(f"it has more than {MAX_PARTS} parts")
    return tree


@dataclass(frozen=True)
class _Names:
    """The names that an expression may use, what they are, and names of the other kind."""

    known: frozenset[str]
    kind: SymbolKind
    others: frozenset[str]

    def check(self, name: str) -> None:
        """Raise ValueError unless an expression may use this name."""
        if name in self.known:
            return
        if name in self.others:
            kinds = {SymbolKind.LENGTH: "an angle, not a length", SymbolKind.ANGLE: "a length, not an angle"}
            raise ValueError(f"{name!r} is {kinds[self.kind]}")
        raise ValueError(f"the {self.kind} {name!r} is not declared{suggest_names(name, self.known)}")


def _evaluate(node: ast.expr, names: _Names) -> Scalar:
    match node:
        case ast.Constant(value=bool()):
            raise ValueError("true and false are not numbers")
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            names.check(name)
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluate(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            return _combine(_evaluate(left, names), op, _evaluate(right, names))
    raise ValueError("only numbers, lengths, pi, + - * / and brackets are allowed")


def _combine(left: Scalar, op: ast.operator, right: Scalar) -> Scalar:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            if isinstance(left, Length) and isinstance(right, Length):
                raise ValueError("two lengths cannot be multiplied")
            return left * right if not isinstance(right, Length) else right * left  # type: ignore[operator]
        case ast.Div():
            if isinstance(right, Length):
                raise ValueError("division by a length is not allowed")
            return left / right if isinstance(left, float) else left * (1.0 / right)
    raise ValueError("only + - * / are allowed")


def _simplify(constant: float, factors: Mapping[str, float]) -> Scalar:
    """Return a Length, or a number if all factors are zero."""
    terms = tuple(sorted((symbol, factor) for symbol, factor in factors.items() if factor != 0.0))
    return Length(constant, terms) if terms else constant


def _format_term(symbol: str, factor: float) -> str:
    if factor == 1.0:
        return symbol
    if factor == -1.0:
        return f"-{symbol}"
    return f"{factor!r}*{symbol}"


# Symbolic angles: a name such as ``alpha1``, or its negative.
#
# Sums and multiples are not needed: a sum is a rotation after a rotation about the same axis, and a multiple would make
# the cosines of unknown angles polynomials of high degree.


@dataclass(frozen=True)
class Angle:
    """A named angle (``sign`` 1) or its negative (``sign`` -1)."""

    name: str
    sign: int = 1

    def __neg__(self) -> Angle:
        return Angle(self.name, -self.sign)

    def __str__(self) -> str:
        return self.name if self.sign == 1 else f"-{self.name}"

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the angle in rad, given the values of named angles."""
        if self.name not in values:
            raise UnsetAngleError(
                f"the angle {self.name!r} has no value; give it one with robot.with_angles({self.name}=…) "
                f"or --angle {self.name}=VALUE"
            )
        return self.sign * values[self.name]


def parse_angle(text: str, known: frozenset[str], lengths: frozenset[str] = frozenset()) -> float | Angle:
    """Parse a text such as ``"pi/2"``, ``"alpha1"`` or ``"-alpha1"``; ``lengths`` are names that are not angles.

    RobotFileError if the text is invalid, as for ``parse_scalar``.
    """
    form = parse_scalar(text, known, kind=SymbolKind.ANGLE, others=lengths)
    if not isinstance(form, Length):
        return form
    match form.constant, form.terms:
        case 0.0, ((name, 1.0 | -1.0 as sign),):
            return Angle(name, int(sign))
    raise RobotFileError(
        f"{shorten(text)!r} is not understood: a symbolic angle cannot be added or multiplied; "
        "write the name of one angle, with or without a minus sign"
    )

"""Expressions of forces: their values for every type of scalar, and errors."""

from __future__ import annotations

import math

import casadi
import numpy as np
import pytest
import sympy

from ytheta.errors import RobotError
from ytheta.files.expressions import FUNCTIONS, UNKNOWN, format_position, parse_expression
from ytheta.files.symbols import MAX_EXPRESSION_LENGTH

CASES = [
    ("2 + 3*4 - 6/4", 12.5),
    ("-a**2", -0.09),
    ("2**-a * (1 + a)**2.5", 2**-0.3 * 1.3**2.5),
    ("+a - -b", 1.0),
    ("pi*(0.055**2 - .030**2)/4", math.pi * (0.055**2 - 0.03**2) / 4),
    ("sin(a) + cos(b)*tan(a)", math.sin(0.3) + math.cos(0.7) * math.tan(0.3)),
    ("asin(a) - acos(b) + atan2(a, -b)", math.asin(0.3) - math.acos(0.7) + math.atan2(0.3, -0.7)),
    ("sqrt(a)*exp(-b) + tanh(a)", math.sqrt(0.3) * math.exp(-0.7) + math.tanh(0.3)),
    ("abs(a - b) + sign(a - b) + sign(b)", 0.4),
    ('q("a b")**3 / 7', 1.1**3 / 7),
    ("q('q') + q", 2 * 0.9),
    ("(a\n + b)", 1.0),
    ("a", 0.3),
    ("5", 5.0),
]
NAMES = {"a": 0.3, "b": 0.7}
POSITIONS = {"a b": 1.1, "q": 0.9}


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_all_scalar_types_give_the_same_number(text: str, expected: float) -> None:
    expression = parse_expression(text)
    assert expression.evaluate(NAMES, POSITIONS) == pytest.approx(expected, rel=1e-14)
    arrays = [{key: np.array([value, value]) for key, value in values.items()} for values in (NAMES, POSITIONS)]
    assert np.broadcast_to(expression.evaluate(arrays[0], arrays[1]), 2) == pytest.approx(expected, rel=1e-14)
    SX = {key: casadi.SX.sym("x") for key in (*NAMES, *POSITIONS)}
    function = casadi.Function("f", list(SX.values()), [casadi.SX(expression.evaluate(SX, SX))])
    assert float(function(*NAMES.values(), *POSITIONS.values())) == pytest.approx(expected, rel=1e-14)
    symbols = {key: sympy.Symbol(f"x{k}", real=True) for k, key in enumerate((*NAMES, *POSITIONS))}
    symbolic = sympy.sympify(expression.evaluate(symbols, symbols))
    numbers = dict(zip(symbols.values(), (*NAMES.values(), *POSITIONS.values()), strict=True))
    assert float(symbolic.subs(numbers)) == pytest.approx(expected, rel=1e-14)


def test_the_cases_cover_every_function() -> None:
    texts = " ".join(text for text, _ in CASES)
    assert [name for name in FUNCTIONS if f"{name}(" not in texts] == []


def test_names_and_positions() -> None:
    expression = parse_expression("a*sin(pi*b) + q('c d') - q(\"e\")")
    assert expression.names == {"a", "b"}
    assert expression.positions == {"c d", "e"}


def test_integer_powers_are_kept() -> None:
    x = sympy.Symbol("x")
    assert parse_expression("x**2").evaluate({"x": x}, {}) == x**2
    assert str(parse_expression("x**2").evaluate({"x": casadi.SX.sym("x")}, {})) == "sq(x)"


def test_results_of_unknown_numbers_are_unknown() -> None:
    assert parse_expression("2*a + sin(a)").evaluate({"a": UNKNOWN}, {}) is UNKNOWN
    assert parse_expression("-atan2(1, a)**2/a").evaluate({"a": UNKNOWN}, {}) is UNKNOWN


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is not an arithmetic expression"),
        ("a +", "it is not an arithmetic expression"),
        ("a = 1", "it is not an arithmetic expression"),
        ("a; b", "it is not an arithmetic expression"),
        ("a\0b", "is not understood"),
        ("a^2", r"\^ is not a power; write \*\*"),
        ("sn(a)", "there is no function 'sn'; did you mean 'sin'"),
        ("__import__('os')", "there is no function '__import__'"),
        ("eval(a)", "there is no function 'eval'"),
        ("a.b", "only these are allowed: numbers, names, pi"),
        ("a[0]", "only these are allowed"),
        ("a if b else 1", "only these are allowed"),
        ("a < b", "only these are allowed"),
        ("a // b", "only these are allowed"),
        ("a % b", "only these are allowed"),
        ("a @ b", "only these are allowed"),
        ("not a", "only these are allowed"),
        ("~a", "only these are allowed"),
        ("(a, b)", "only these are allowed"),
        ("lambda: a", "only these are allowed"),
        ("(a := 1)", "only these are allowed"),
        ("f'{a}'", "only these are allowed"),
        ("sin(x=a)", "only these are allowed"),
        ("sin(*a)", "only these are allowed"),
        ("sin(a)(b)", "only these are allowed"),
        ("math.sin(a)", "only these are allowed"),
        ("sin()", "sin takes 1 argument, not 0"),
        ("sin(a, b)", "sin takes 1 argument, not 2"),
        ("atan2(a)", "atan2 takes 2 arguments, not 1"),
        ("q(a)", r"q takes the name of one joint in quotes: q\('joint2'\)"),
        ("q('a', 'b')", "q takes the name of one joint in quotes"),
        ("q()", "q takes the name of one joint in quotes"),
        ("sin('a')", "'a' is not a number"),
        ("'a' + 1", "'a' is not a number"),
        ("True", "True is not a number"),
        ("None", "None is not a number"),
        ("2j", "2j is not a number"),
        ("...", "Ellipsis is not a number"),
        ("1e999", "no finite real value"),
        ("1" + "0" * 400, "too large"),
        ("a" + "+a" * MAX_EXPRESSION_LENGTH, "it is longer than 5000 characters"),
        ("+".join("a" * 260), "more than 500 parts|nested too deeply"),
        ("sin(a)*(" + "+".join(f"({'+'.join('a' * 20)})" for _ in range(20)) + ")", "more than 500 parts"),
        ("-" * 150 + "a", "nested too deeply; name parts of it under 'where'"),
        ("(" * 300 + "a" + ")" * 300, "is not understood"),
    ],
)
def test_mistakes(text: str, reason: str) -> None:
    with pytest.raises(RobotError, match=reason) as caught:
        parse_expression(text)
    assert "is not understood" in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "text", ["1/0", "a/(2 - 2)", "sqrt(-1)", "(-8)**(1/3)", "acos(2)", "1e300*1e300", "9**9**9", "0**-1"]
)
def test_constants_without_a_value_are_errors(text: str) -> None:
    with pytest.raises(RobotError, match="is not understood"):
        parse_expression(text).evaluate({"a": UNKNOWN}, {})


def test_numbers_without_a_value_are_not_finite() -> None:
    """Positions outside the domain of a function give NaN or infinity without a warning."""
    a = np.array([-1.0, 0.0, 4.0])
    assert np.array_equal(parse_expression("sqrt(a)").evaluate({"a": a}, {}), [np.nan, 0.0, 2.0], equal_nan=True)
    assert np.array_equal(parse_expression("1/a").evaluate({"a": a}, {}), [-1.0, np.inf, 0.25])


@pytest.mark.parametrize("name", ["joint2", "a b", "it's", 'so "so"', "pi", "lambda", "ü", "back\\slash", "two\nlines"])
def test_positions_of_any_name(name: str) -> None:
    assert parse_expression(f"2*{format_position(name)}").evaluate({}, {name: 0.4}) == 0.8

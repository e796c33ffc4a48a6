"""Symbolic lengths against plain arithmetic."""

from __future__ import annotations

import math

import pytest

from ytheta.errors import RobotFileError
from ytheta.files.symbols import Length, parse_scalar, symbol

NAMES = frozenset({"l1", "l2"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi/2", math.pi / 2),
        ("-3*pi/4", -3 * math.pi / 4),
        ("1e-3", 1e-3),
        ("l1", symbol("l1")),
        ("-l1/2 + 0.1", Length(0.1, (("l1", -0.5),))),
        ("2*(l1 - l2) + l2", Length(0.0, (("l1", 2.0), ("l2", -1.0)))),
        ("l1 - l1 + 3", 3.0),
        ("+1 - (-l2)", Length(1.0, (("l2", 1.0),))),
    ],
)
def test_expressions(text: str, value: float | Length) -> None:
    assert parse_scalar(text, NAMES) == value
    assert parse_scalar(str(value), NAMES) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("l3", "the length 'l3' is not declared; choose from: l1, l2"),
        ("l1*l2", "two lengths cannot be multiplied"),
        ("1/l1", "division by a length is not allowed"),
        ("l1 +", "not an arithmetic expression"),
        ("__import__('os').system('true')", "only numbers, lengths, pi"),
        ("l1.real", "only numbers, lengths, pi"),
        ("2**3", r"only \+ - \* / are allowed"),
        ("1/0", "division by zero"),
        ("True", "true and false are not numbers"),
        ("1e999", "not a finite number"),
        ("1" + "+1" * 300, "more than 500 parts"),
        ("1" + "+1" * 3000, "longer than 5000 characters"),
        ("-" * 4000 + "1", "nested too deeply|more than 500 parts"),
        ("1" * 400, "too large"),
        ("1e308*l1*10", "not a finite number"),
        ("l1/1e-320", "not a finite number"),
        ("0.5if l1 else 2", "only numbers, lengths, pi"),
    ],
)
def test_mistakes(text: str, reason: str) -> None:
    with pytest.raises(RobotFileError, match=reason):
        parse_scalar(text, NAMES)

"""Symbolic angles: texts, signs and values."""

from __future__ import annotations

import math

import pytest

from ytheta.errors import RobotFileError, UnsetAngleError
from ytheta.files.symbols import Angle, parse_angle

NAMES = frozenset({"alpha1", "beta"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi/2", math.pi / 2),
        ("-3*pi/4", -3 * math.pi / 4),
        ("alpha1", Angle("alpha1")),
        (" -beta ", Angle("beta", -1)),
        ("-(-beta)", Angle("beta")),
        ("alpha1 - alpha1 + 3", 3.0),
    ],
)
def test_texts(text: str, value: float | Angle) -> None:
    assert parse_angle(text, NAMES) == value
    assert parse_angle(str(value), NAMES) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alpha2", "the angle 'alpha2' is not declared; did you mean 'alpha1'"),
        ("l1", "'l1' is a length, not an angle"),
        ("2*alpha1", "a symbolic angle cannot be added or multiplied"),
        ("alpha1 + beta", "a symbolic angle cannot be added or multiplied"),
        ("alpha1 + 1", "write the name of one angle, with or without a minus sign"),
        ("alpha1 +", "not an arithmetic expression; write a number, a multiple of pi, or an angle declared under"),
        ("1e999", "not a finite number"),
    ],
)
def test_mistakes(text: str, reason: str) -> None:
    with pytest.raises(RobotFileError, match=reason):
        parse_angle(text, NAMES, lengths=frozenset({"l1"}))


def test_values() -> None:
    assert Angle("beta").evaluate({"beta": 0.3}) == 0.3
    assert (-Angle("beta")).evaluate({"beta": 0.3}) == -0.3
    with pytest.raises(UnsetAngleError, match=r"the angle 'beta' has no value; give it one with robot.with_angles"):
        Angle("beta").evaluate({"alpha1": 0.3})

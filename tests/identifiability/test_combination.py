"""Linear combinations of standard parameters as text."""

from __future__ import annotations

import numpy as np
import sympy

from ytheta.identifiability.base_parameters import Combination, format_combination


def test_combinations_with_symbols_as_text() -> None:
    a, b = sympy.symbols("a b")
    row = np.array([0, -a, 1, a**2 + b, -1.0, -0.5], dtype=object)
    names = ("l.m", "l.x", "l.y", "l.z", "l.u", "l.w")
    assert format_combination(row, names, head=2, digits=6) == "l.y - a·l.x + (a^2 + b)·l.z - l.u - 0.5·l.w"
    assert format_combination(np.zeros(2), names[:2], head=0, digits=6) == "0"
    row = np.array([1, 1.0 * a - 0.123456789 * b, 2.0 * a], dtype=object)
    assert format_combination(row, names[:3], head=0, digits=3) == "l.m + (a - 0.123·b)·l.x + 2.0·a·l.y"


def test_a_combination_has_a_name_and_a_text() -> None:
    combination = Combination("link2", "U33", 1, np.array([0.0, 1.0, -0.25]), ("link1.m", "link2.Izz", "link3.m"))
    assert combination.name == "link2.U33"
    assert combination.expression == "link2.Izz - 0.25·link3.m"

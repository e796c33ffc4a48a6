"""Printed formulas, parsed as they are printed and evaluated with exact rational numbers.

A formula is written as in the paper: products are juxtaposed (``l1 c2 q̈1``), ``²`` is a power, and a matrix has its
entries between commas and its rows between semicolons. A formula and a result of ytheta agree if they are equal in
rational arithmetic at a few random states. Their difference is a rational function of low degree in the state, so that
different formulas are equal at a random state only by an accident that does not happen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.reproduction.exhibit import Agreement, Comparison

SAME = "the same"
SPELLINGS = {"q̇": "qd", "q̈": "qdd", "²": "**2"}


@dataclass(frozen=True)
class Formula:
    """One printed formula.

    ``correct`` is the right formula if the printed one is wrong. If ``lost`` is true, parts of the formula are missing
    in the scan, so that it cannot be compared.
    """

    name: str
    printed: str
    correct: str = ""
    note: str = ""
    lost: bool = False


def compare_formula(formula: Formula, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]) -> Comparison:
    """Compare a printed formula with the results of ytheta at the same states, given as values by name."""
    result = _describe_result(formula, states, results)
    agrees = Agreement.OPEN if formula.lost else Agreement.of(result == SAME)
    return Comparison(formula.name, _add_brackets(formula.printed), result, agrees, formula.note)


def _describe_result(formula: Formula, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]) -> str:
    """Return SAME, the right formula if the printed one is wrong, or the difference if both are wrong."""
    if _is_equal(formula.printed, states, results):
        return SAME
    if formula.correct and _is_equal(formula.correct, states, results):
        return _add_brackets(formula.correct)
    difference = np.abs((evaluate_formula(formula.printed, states[0]) - results[0]).astype(float)).max()
    return f"another result, which differs by {difference:.3g} at a random state"


def _is_equal(text: str, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]) -> bool:
    return all((evaluate_formula(text, state) == result).all() for state, result in zip(states, results, strict=True))


def _add_brackets(text: str) -> str:
    return f"[{text}]" if "," in text or ";" in text else text


def evaluate_formula(text: str, values: Mapping[str, Any]) -> np.ndarray:
    """Return the value of a formula as a matrix, given the values of its names as SymPy numbers or row vectors."""
    import sympy

    rows = [[sympy.parse_expr(_spell(entry), dict(values)) for entry in row.split(",")] for row in text.split(";")]
    return np.array(sympy.Matrix(rows).tolist(), dtype=object)


def _spell(text: str) -> str:
    """Return a formula as an expression of Python."""
    for printed, spelling in SPELLINGS.items():
        text = text.replace(printed, spelling)
    return re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text.strip())

"""Linear combinations of standard parameters: those of Theorem 2 of Lin, and combinations as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.shapes import Shaped

MAX_PRINTED_DENOMINATOR = 10**6

_UNIT_FACTOR = re.compile(r"(?<![\w.])1\.0*\*(?!\*)")  # matches a redundant factor 1.0 in text from SymPy


@dataclass(frozen=True, eq=False)
class Combination:
    """One minimal linear combination of Theorem 2 of Lin 1995.

    Attributes
    ----------
    link             the link behind the joint to which the combination belongs
    constant         the constant of the composite body behind this joint: U33, U11-U22, U12, U13, U23, kx, ky, kz, m,
                     kappa1 (86), kappa2 (87) or, not in the paper, Ia
    item             the item of Theorem 2, 1 to 5; None for Ia
    row              coefficients, one per standard parameter: floats, or SymPy expressions in symbolic lengths
    parameter_names  names of the standard parameters
    name             link and constant, such as ``link2.U11-U22``
    expression       the combination as text, such as ``link2.mx + 0.4318·link3.m``
    """

    link: str
    constant: str
    item: int | None
    row: Shaped[np.ndarray, "params"]
    parameter_names: tuple[str, ...] = field(repr=False)

    @property
    def name(self) -> str:
        return parameter_name(self.link, self.constant)

    @cached_property
    def expression(self) -> str:
        """The combination as text, with six significant digits."""
        head = int(np.flatnonzero(self.row != 0)[0])
        return format_combination(self.row, self.parameter_names, head=head, digits=6)


def format_combination(row: Shaped[np.ndarray, "params"], names: Sequence[str], *, head: int, digits: int) -> str:
    """Return text such as ``link2.mx + 0.4318·link3.m``: the parameter with index ``head`` first, then the others."""
    text = ""
    for k in sorted(np.flatnonzero(row != 0).tolist(), key=lambda place: place != head):
        sign, factor = _format_factor(row[k], digits)
        term = f"{factor}·{names[k]}" if factor else names[k]
        text += f" {sign} {term}" if text else term if sign == "+" else f"-{term}"
    return text or "0"


def _format_factor(value: Any, digits: int) -> tuple[str, str]:
    """Return the sign and the absolute value of a coefficient as text; the text of 1 is empty."""
    if isinstance(value, int | float | np.floating | np.integer):
        sign, text = "-" if value < 0 else "+", f"{abs(value):.{digits}g}"
        return sign, "" if text == "1" else text
    if value.could_extract_minus_sign():
        sign, magnitude = "-", -value
    else:
        sign, magnitude = "+", value
    if magnitude == 1:
        return sign, ""
    text = format_expression(magnitude, digits)
    return sign, f"({text})" if magnitude.is_Add else text


def format_expression(expression: Any, digits: int) -> str:
    """Return a SymPy expression as text: floats and long fractions with so many digits, short fractions unchanged."""
    numbers = (n for n in expression.atoms() if n.is_Float or (n.is_Rational and n.q > MAX_PRINTED_DENOMINATOR))
    rounded = expression.xreplace({number: number.n(digits) for number in numbers})
    return _UNIT_FACTOR.sub("", str(rounded)).replace("**", "^").replace("*", "·")

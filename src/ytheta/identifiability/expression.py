"""A row of coefficients as a sum that a person can read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ytheta.shapes import Shaped

ONE = re.compile(r"(?<![\w.])1\.0*\*(?!\*)")  # a factor that SymPy writes and nobody reads


def combination(row: Shaped[np.ndarray, "params"], names: Sequence[str], *, head: int, digits: int) -> str:
    """``link2.mx + 0.4318·link3.m``: the parameter at ``head`` first, then the others in their order."""
    order = [head, *(k for k in range(len(row)) if k != head)]
    text = ""
    for k in order:
        if row[k] == 0:
            continue
        sign, factor = _factor(row[k], digits)
        term = f"{factor}·{names[k]}" if factor else names[k]
        text += f" {sign} {term}" if text else term if sign == "+" else f"-{term}"
    return text or "0"


def _factor(value: Any, digits: int) -> tuple[str, str]:
    """The sign of a coefficient and its size; an empty size is one."""
    if isinstance(value, int | float | np.floating | np.integer):
        sign, text = "-" if value < 0 else "+", f"{abs(value):.{digits}g}"
        return sign, "" if text == "1" else text
    if value.could_extract_minus_sign():
        sign, size = "-", -value
    else:
        sign, size = "+", value
    if size == 1:
        return sign, ""
    short = size.xreplace({number: number.n(digits) for number in size.atoms() if number.is_Float})
    text = ONE.sub("", str(short)).replace("**", "^").replace("*", "·")
    return sign, f"({text})" if size.is_Add else text

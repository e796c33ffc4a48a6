"""Numbers and names in XML: all digits of numbers, and only characters that XML allows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia

_INVALID_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_number(value: float) -> str:
    """Return a number with all its digits; integers without a decimal point, and zero without a sign."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def format_numbers(values: Iterable[float]) -> str:
    """Return numbers separated by spaces."""
    return " ".join(map(format_number, values))


def list_moments(inertia: Inertia) -> dict[str, float]:
    """Return the entries of the inertia tensor about the centre of mass by name, such as ``ixy``."""
    tensor = inertia.tensor_about_center
    return {f"i{'xyz'[i]}{'xyz'[j]}": tensor[i][j] for i in range(3) for j in range(i, 3)}


def quote_name(name: str) -> str:
    """Return a name in quotes, with escapes; InputError if it contains a character that XML does not allow."""
    if (invalid := _INVALID_CHARACTER.search(name)) is not None:
        raise InputError(f"the name {name!r} contains {invalid[0]!r}, which XML does not allow; rename it")
    return quoteattr(name)


def format_comment(text: str) -> str:
    """Return a comment; it must not contain two hyphens in a row."""
    return f"<!-- {_INVALID_CHARACTER.sub('?', text).replace('--', '- -').rstrip('-')} -->"

"""Checks of arguments that public functions share: a wrong value gets one sentence with its name and what to give.

This module does not import NumPy, because the command line imports it before it knows what it has to do.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from pathlib import Path
from reprlib import Repr
from typing import Any

from ytheta.errors import InputError

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 60  # characters


def check_kind(name: str, value: object, kinds: type | tuple[type, ...], form: str) -> None:
    """Raise an error unless a value is of one of these kinds. ``form`` says what to give, such as "a list of names"."""
    if not isinstance(value, kinds):
        raise _make_error(name, value, form)


def check_number(name: str, value: Any, form: str, *, allow: Callable[[float], bool] = lambda _: True) -> float:
    """Return a finite number as a float. ``allow`` says which finite numbers are allowed; ``form`` says it in words."""
    try:
        number = math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and allow(number)):
        raise _make_error(name, value, form)
    return number


def check_count(name: str, value: Any, form: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return a whole number of at least ``minimum`` and at most ``maximum``; ``form`` says in words what to give."""
    try:
        count = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = None
    if count is None or count < minimum or (maximum is not None and count > maximum):
        raise _make_error(name, value, form)
    return count


def check_words(name: str, value: Any, content: str, example: tuple[str, ...]) -> tuple[str, ...]:
    """Return a list of words as a tuple, and None as the empty one. ``content`` says what the words are.

    A single string is refused with the list that is probably meant, because a string is a list of letters.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        meant = tuple(word.strip() for word in value.split(",") if word.strip()) or example
        raise InputError(f"{name} is a list of {content}, such as {meant!r}, not a single string")
    words: tuple[Any, ...] = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(word, str) for word in words):
        raise _make_error(name, value, f"a list of {content}, such as {example!r}")
    return words


def is_positive(value: float) -> bool:
    return value > 0.0


def is_not_negative(value: float) -> bool:
    return value >= 0.0


def _make_error(name: str, value: object, form: str) -> InputError:
    text = f"{value:g}" if isinstance(value, float) else _REPR.repr(value)
    return InputError(f"{name} is {text}; give {form}")


# Paths that are arguments of public functions.


def check_path(path: object, thing: str) -> Path:
    """Return a string or a Path as a Path. Raise InputError for other values; ``thing`` is what the file contains."""
    if not isinstance(path, str | Path):
        shown = "None" if path is None else f"a value of type {type(path).__name__}"
        raise InputError(f"the path of {thing} is {shown}; give the name of a file, as a string or a Path")
    if path == "":
        raise InputError(f"the path of {thing} is empty; give the name of a file")
    return Path(path)

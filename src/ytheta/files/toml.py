"""TOML documents, whose tables are read key by key: each value is checked when it is read; unread keys are errors."""

from __future__ import annotations

import datetime as dt
import math
import re
import tomllib
from itertools import accumulate
from typing import Any

from ytheta.errors import InputError, RobotFileError, suggest_names
from ytheta.files.bounded import shorten
from ytheta.files.symbols import Angle, Length, Scalar, parse_angle, parse_scalar


class Table:
    """One table of a TOML file, its place in the file, and the symbolic lengths and angles that its numbers may use."""

    def __init__(
        self,
        values: dict[str, Any],
        where: str,
        lengths: frozenset[str] = frozenset(),
        angles: frozenset[str] = frozenset(),
    ) -> None:
        self.where = where
        self.lengths = lengths
        self.angles = angles
        self._remaining = dict(values)
        self._known: set[str] = set()

    @property
    def name(self) -> str:
        """The value of the key ``name``, empty if there is none. Using it does not mark the key as read."""
        name = self._remaining.get("name", "")
        return name if isinstance(name, str) else ""

    def error(self, text: str) -> RobotFileError:
        return RobotFileError(f"{self.where}: {text}")

    def has(self, key: str) -> bool:
        self._known.add(key)
        return key in self._remaining

    def finish(self) -> None:
        """Raise an error if a key has not been read."""
        for key in self._remaining:
            raise self.error(f"the key {key!r} is unknown{suggest_names(key, self._known)}")

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._take(key, str, "a string in quotes", default))

    def is_flag(self, key: str) -> bool:
        """Whether a key is there and is true or false."""
        return self.has(key) and isinstance(self._remaining[key], bool)

    def flag(self, key: str, *, default: bool) -> bool:
        return bool(self._take(key, bool, "true or false", default))

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._take(key, list, "a list of strings", [])
        if not all(isinstance(value, str) for value in values):
            raise self.error(f"{key!r} should be a list of strings")
        return tuple(values)

    def scalar(self, key: str, default: float | None = None) -> Scalar:
        """Return a number, or the value of an expression in pi and the declared lengths."""
        if default is not None and not self.has(key):
            return default
        return self._to_scalar(key, self._take(key, object, "a number", None))

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number; an expression may use pi but not lengths."""
        return self._to_number(key, self.scalar(key, default))

    def angle(self, key: str, default: float) -> float | Angle:
        """Return a number, or one of the declared angles or its negative."""
        if not self.has(key):
            return default
        value = self._take(key, object, "an angle", None)
        if not isinstance(value, str):
            return self._to_number(key, self._to_scalar(key, value))
        try:
            return parse_angle(value, self.angles, self.lengths)
        except RobotFileError as error:
            raise self.error(f"{key} = {error}") from None

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        return tuple(self._to_number(key, value) for value in self.scalars(key, count, default))

    def scalars(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[Scalar, ...]:
        if default is not None and not self.has(key):
            return default
        values = self._take(key, list, f"a list of {count} numbers", None)
        if len(values) != count:
            raise self.error(f"{key!r} should be a list of {count} numbers, not {len(values)}")
        return tuple(self._to_scalar(key, value) for value in values)

    def matrix(self, key: str) -> tuple[tuple[float, ...], ...]:
        return self.rows(key, 3)

    def rows(self, key: str, count: int) -> tuple[tuple[float, ...], ...]:
        """Return two or three rows of three numbers."""
        words = {2: "two", 3: "three"}[count]
        rows = self._take(key, list, f"a list of {words} rows", None)
        if len(rows) != count or not all(isinstance(row, list) and len(row) == 3 for row in rows):
            raise self.error(f"{key!r} should be {words} rows of three numbers")
        return tuple(tuple(self._to_number(key, self._to_scalar(key, value)) for value in row) for row in rows)

    def bounds(self, key: str) -> tuple[float, float]:
        """Return a list [lower, upper] that may contain infinities."""
        values = self._take(key, list, "a list [lower, upper]", [-math.inf, math.inf])
        if len(values) != 2:
            raise self.error(f"{key!r} should be a list [lower, upper] of two numbers")
        lower, upper = (
            float(value) if value in (-math.inf, math.inf) else self._to_number(key, self._to_scalar(key, value))
            for value in values
        )
        return lower, upper

    def items(self) -> list[tuple[str, Any]]:
        """Return all remaining keys and values of a table whose keys are names."""
        remaining, self._remaining = self._remaining, {}
        return list(remaining.items())

    def named_numbers(self) -> tuple[tuple[str, float], ...]:
        """Return the names and values of a table whose values are finite numbers."""
        return tuple((key, self.parse_number(key, value)) for key, value in self.items())

    def parse_number(self, key: str, value: Any) -> float:
        """Return a value of ``items`` as a finite number; an expression may use pi but not lengths."""
        return self._to_number(key, self._to_scalar(key, value))

    def named_texts(self) -> tuple[tuple[str, str], ...]:
        """Return the names and values of a table whose values are strings."""
        for key, value in self._remaining.items():
            if not isinstance(value, str):
                raise self.error(f"{key!r} should be an expression in quotes, not {describe_value(value)}")
        return tuple(self.items())

    def table(self, key: str) -> Table:
        """Return a sub-table, which is empty if the key is missing."""
        values = self._take(key, dict, "a table", {})
        return Table(values, f"{self.where}, {key}", self.lengths, self.angles)

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables. Messages identify each table by its ``name`` or ``joint``."""
        values = self._take(key, list, f"an array of tables: write [[{key}]]", [])
        if not all(isinstance(value, dict) for value in values):
            raise self.error(f"{key!r} should be an array of tables: write [[{key}]]")
        return [
            Table(
                value,
                f"{self.where}, [[{key}]] {describe_value(value.get('name', value.get('joint', f'number {k}')))}",
                self.lengths,
                self.angles,
            )
            for k, value in enumerate(values, start=1)
        ]

    def _take(self, key: str, kind: type, what: str, default: Any) -> Any:
        self._known.add(key)
        if key not in self._remaining:
            if default is None:
                raise self.error(f"the key {key!r} is missing; add {what}")
            return default
        value = self._remaining.pop(key)
        if not isinstance(value, kind):
            raise self.error(f"{key!r} should be {what}, not {describe_value(value)}")
        return value

    def _to_scalar(self, key: str, value: Any) -> Scalar:
        if isinstance(value, str):
            try:
                return parse_scalar(value, self.lengths, others=self.angles)
            except RobotFileError as error:
                raise self.error(f"{key} = {error}") from None
        finite = to_finite_number(value)
        if finite is None:
            raise self.error(f"{key!r} should be a finite number, not {describe_value(value)}")
        return finite

    def _to_number(self, key: str, value: Scalar) -> float:
        if isinstance(value, Length):
            raise self.error(
                f"{key} = '{value}' uses a symbolic length, which is allowed only in positions (a, b, d, xyz); "
                "give a number"
            )
        return value


def to_finite_number(value: object) -> float | None:
    """Return a TOML value as a float; None if it is not a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def describe_value(value: object) -> str:
    """Return a short description of a TOML value for error messages."""
    match value:
        case dt.datetime() | dt.date():
            return f"a date ({value})"
        case dt.time():
            return f"a time ({value})"
        case dict():
            return "a table"
        case list():
            return f"a list of {len(value)}"
        case int() if value.bit_length() > 128:
            return "an integer of more than 38 digits"
    return shorten(repr(value), 80)


# Parsing TOML: every text that is not a valid document gives an InputError of one sentence.
#
# The time and memory that tomllib takes grow with the square of the depth of keys (a.a.a = 1), and it reads lists in
# lists by recursion. Therefore the depth is measured first, in one pass over the text.

# Largest depth of dotted keys, and of lists and tables in each other. Chosen on: rule of thumb.
MAX_DEPTH = 32
# Strings, which may not be closed, comments, and spaces within a line; what remains are bare keys, numbers and signs.
_IGNORED = re.compile(
    r"""
    "{3} (?: [^"\\] | \\. | "(?!"") )*+ (?: "{3,5} | \Z ) | "{1} (?: [^"\\\n] | \\. )*+ "?
    | '{3} (?: [^'] | '(?!'') )*+ (?: '{3,5} | \Z ) | '{1} [^'\n]*+ '?
    | \# [^\n]*+ | [ \t]++
    """,
    re.DOTALL | re.VERBOSE,
)
_DEEP_KEY = re.compile(rf"(?<![\w.-])(?:[\w-]*+\.){{{MAX_DEPTH}}}")
_NO_BRACKETS = re.compile(r"[^][{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """Return the tables of a TOML document; ``name`` is the name of its file in error messages."""
    try:
        text = content.decode("utf-8-sig")
        if _is_too_deep(text):
            raise InputError(f"{name}: keys, lists or tables are nested too deeply; flatten them")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: this is not text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: this is not valid TOML: {error}; correct it") from None
    except RecursionError:
        raise InputError(f"{name}: keys, lists or tables are nested too deeply; flatten them") from None
    except (ValueError, OverflowError):
        raise InputError(f"{name}: a number has too many digits; write it as a float such as 1.5e3") from None


def _is_too_deep(text: str) -> bool:
    bare = _IGNORED.sub("", text)
    brackets = _NO_BRACKETS.sub("", bare)
    depth = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    return depth > MAX_DEPTH or _DEEP_KEY.search(bare) is not None

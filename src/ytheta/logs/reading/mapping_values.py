"""Parsing and checking the values of a column mapping: factors, units, matrices, counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ytheta.errors import InputError, RobotFileError, suggest_names
from ytheta.files.lengths import parse_scalar
from ytheta.files.toml_table import describe_value, to_finite_number
from ytheta.shapes import MotorsByJoint

Reference = str | int  # a column's name, or its number counted from 0
Factor = tuple[float, ...]  # one factor for all joints, or one for each joint

MIN_RATE, MAX_RATE = 1e-6, 1e9  # Hz

_POSITION_UNITS = {
    "radians": 1.0,
    "rad": 1.0,
    "degrees": math.pi / 180,
    "deg": math.pi / 180,
    "metres": 1.0,
    "mm": 1e-3,
}
UNITS: dict[str, dict[str, float]] = {
    "t": {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "q": _POSITION_UNITS,
    "qd": _POSITION_UNITS | {"rpm": 2 * math.pi / 60},
    "tau": {"Nm": 1.0, "Nmm": 1e-3, "mNm": 1e-3},
    "current": {"A": 1.0, "mA": 1e-3},
}


class Section:
    """One table of a mapping. Keys are removed as they are read; any keys left at the end are unknown."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        self._values = dict(values)
        self._known: set[str] = set()
        self.source = source

    def make_error(self, text: str) -> InputError:
        return InputError(f"{self.source}: {text}")

    def take(self, key: str) -> Any:
        """Remove a key and return its value; None if the key is absent."""
        self._known.add(key)
        return self._values.pop(key, None)

    def take_section(self, key: str) -> Section:
        """Remove a key and return the table under it; an empty table if the key is absent."""
        value = self.take(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.make_error(f"{key!r} should be a table; write [{key}] above its keys")
        return Section(value or {}, f"{self.source}, [{key}]")

    def refuse_unknown_keys(self) -> None:
        for key in self._values:
            raise self.make_error(f"the key {key!r} is unknown{suggest_names(key, self._known)}")

    def take_factors(
        self, keys: Sequence[str], units: Mapping[str, Mapping[str, float]] | None = None
    ) -> dict[str, Factor]:
        """Return the factors of these quantities, given as a number, a unit or a list of these. Refuse other keys."""
        factors = {key: self._parse_factor(key, value, units) for key in keys if (value := self.take(key)) is not None}
        self.refuse_unknown_keys()
        return factors

    def parse_rate(self, key: str, value: Any) -> float:
        """Return a sampling rate in Hz."""
        number = self._parse_number(key, value)
        if number <= 0.0:
            raise self.make_error(f"{key!r} should be positive, not {number:g}")
        if not MIN_RATE <= number <= MAX_RATE:
            raise self.make_error(f"{key!r} should be between {MIN_RATE:g} and {MAX_RATE:g} Hz, not {number:g}")
        return number

    def parse_count(self, key: str, value: Any) -> int:
        """Return ``value`` if it is a non-negative integer; otherwise raise InputError."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self.make_error(f"{key!r} requires non-negative integers, not {describe_value(value)}")

    def take_matrix(self, key: str) -> MotorsByJoint | None:
        """Remove a key and return its value as an invertible square matrix; None if the key is absent."""
        value = self.take(key)
        if value is None:
            return None
        rows = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(rows, Sequence) or not all(isinstance(r, Sequence) and len(r) == len(rows) for r in rows):
            raise self.make_error(f"{key!r} should have as many rows as columns, one for each motor")
        matrix = np.array([[self._parse_number(key, entry) for entry in row] for row in rows], dtype=np.float64)
        if not len(matrix) or np.linalg.matrix_rank(matrix) < len(matrix):
            raise self.make_error(f"{key!r} cannot be inverted; its rows should be linearly independent")
        return matrix

    def _parse_factor(self, key: str, value: Any, units: Mapping[str, Mapping[str, float]] | None) -> Factor:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        entries = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        known = None if units is None else units[key]
        return tuple(self._parse_number_or_unit(key, entry, known) for entry in entries)

    def _parse_number_or_unit(self, key: str, value: Any, known: Mapping[str, float] | None) -> float:
        """Return a number, or the factor of a unit. ``known`` is None if units are not allowed."""
        if known is None or not isinstance(value, str) or any(char.isdigit() for char in value):
            return self._parse_number(key, value)
        if value not in known:
            raise self.make_error(f"{key!r} = {value!r} is not a unit{suggest_names(value, known)}")
        return known[value]

    def _parse_number(self, key: str, value: Any) -> float:
        """Return a finite number; ``value`` may be an expression in pi such as '-pi/2'."""
        if isinstance(value, str):
            try:
                value = parse_scalar(value, frozenset())
            except RobotFileError:
                raise self.make_error(
                    f"{key!r} = {value!r} is not a number; write a number or a multiple of pi"
                ) from None
        number = to_finite_number(value)
        if number is None:
            raise self.make_error(f"{key!r} should be a finite number, not {describe_value(value)}")
        return number

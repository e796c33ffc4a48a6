"""The type of numbers in exported C code, and numbers as C literals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError


@dataclass(frozen=True)
class Number:
    """A floating-point type of C: its name, and the suffix of its literals and of functions of the C library."""

    type: str
    suffix: str

    def format(self, value: float) -> str:
        """Return the literal of a number; all digits are kept, so that the compiler reads the same number."""
        value = float(value)
        rounded = value
        if self.suffix:
            with np.errstate(over="ignore"):
                rounded = float(np.float32(value))
        if not math.isfinite(rounded):
            raise InputError(
                f"the number {value:g} cannot be written as a C {self.type}; check the parameters, or use "
                'precision="double"'
            )
        text = repr(rounded) if not self.suffix else f"{rounded:.9g}"
        text = text if any(mark in text for mark in ".en") else f"{text}.0"
        return f"{text}{self.suffix}"

    def format_row(self, values: np.ndarray) -> str:
        return "{" + ", ".join(self.format(value) for value in np.asarray(values, dtype=float).ravel()) + "}"


DOUBLE = Number("double", "")
FLOAT = Number("float", "f")


def find_number(precision: str) -> Number:
    return DOUBLE if precision == "double" else FLOAT

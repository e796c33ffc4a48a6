"""Numbers as C literals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ytheta.errors import InputError
from ytheta.exporting.c.definitions import DOUBLE, FLOAT, find_number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_keep_all_digits(value: float) -> None:
    text = DOUBLE.format(value)
    assert float(text) == value
    assert any(mark in text for mark in ".e")


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_keep_all_digits(value: float) -> None:
    text = FLOAT.format(value)
    assert text.endswith("f")
    assert np.float32(text[:-1]) == np.float32(value)
    assert any(mark in text for mark in ".e")


def test_whole_numbers_are_floating_point() -> None:
    assert DOUBLE.format(1) == "1.0"
    assert FLOAT.format(1) == "1.0f"
    assert FLOAT.format(1e10) == "1e+10f"


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_only_finite_numbers(value: float) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        DOUBLE.format(value)


def test_numbers_too_large_for_float_are_refused() -> None:
    assert DOUBLE.format(1e300) == "1e+300"
    with pytest.raises(InputError, match="1e\\+300 cannot be written as a C float"):
        FLOAT.format(1e300)


def test_the_type_follows_the_precision() -> None:
    assert find_number("double") == DOUBLE
    assert find_number("single") == FLOAT


def test_arrays_are_rows_of_literals() -> None:
    assert FLOAT.format_row(np.array([[1.0, -0.5], [2.0, 0.25]])) == "{1.0f, -0.5f, 2.0f, 0.25f}"

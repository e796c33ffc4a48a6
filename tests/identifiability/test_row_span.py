"""The span of exact rows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ytheta.identifiability.ha import RowSpan


def test_rows_are_added_and_expressed_in_the_basis() -> None:
    span = RowSpan()
    a, b = ((((0, ()), Fraction(1)), ((1, ()), Fraction(2))), (((1, ()), Fraction(3)),))
    assert span.add(a)
    assert span.add(b)
    assert not span.add((((0, ()), Fraction(1)),))
    assert span.solve((((0, ()), Fraction(1)),)) == {0: 1, 1: Fraction(-2, 3)}
    with pytest.raises(ArithmeticError, match="not in the span"):
        span.solve((((2, ()), Fraction(1)),))

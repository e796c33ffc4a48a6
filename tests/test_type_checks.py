"""The run-time type checks that are active while the tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from jaxtyping import Shaped, TypeCheckError

from tests.support import typecheck
from ytheta.dynamics.vectors import cross, inner
from ytheta.native.graph import Input


def test_calls_are_checked_while_the_tests_run() -> None:
    """The import hook checks sizes, equal sizes, types of fields, and results."""
    three, four = np.ones(3), np.ones(4)
    assert inner(three, three) == inner(four, four) - 1.0
    with pytest.raises(TypeCheckError, match="size 4 does not equal 3"):
        cross(four, three)
    with pytest.raises(TypeCheckError, match="parameter b="):
        inner(four, three)
    with pytest.raises(TypeCheckError, match="parameter name=3"):
        Input(3, 3)  # type: ignore[arg-type]
    for checked in (typecheck.checked(_first_two), typecheck.checked(_each)):
        with pytest.raises(TypeCheckError):
            checked(three, four)
    with pytest.raises(TypeCheckError, match="return"):
        typecheck.checked(_first_two)(three, three)
    assert list(typecheck.checked(_each)(three, three)) == [2.0, 2.0, 2.0]


def test_some_of_many_calls_are_checked() -> None:
    """The first ones of each test, and then one of fifty."""
    checked, three, four = typecheck.checked(_each), np.ones(3), np.ones(4)

    def is_checked() -> bool:
        try:
            checked(three, four)
        except TypeCheckError:
            return True
        return False

    expected = [k <= typecheck.FIRST_CALLS or k % typecheck.INTERVAL == 0 for k in range(1, 121)]
    assert [is_checked() for _ in range(120)] == expected
    typecheck.begin_test()
    assert is_checked()


def test_functions_within_functions_are_checked() -> None:
    """They are made again and again, so only the first ones of each test are checked, and then one of fifty."""

    def make() -> Callable[[int], int]:
        def add(number: int) -> int:
            return number + 1

        return typecheck.checked(add)

    with pytest.raises(TypeCheckError, match="number="):
        make()("1")  # type: ignore[arg-type]
    for _ in range(typecheck.FIRST_CALLS):
        make()
    assert not hasattr(make(), "__wrapped__")


def _first_two(a: Shaped[np.ndarray, " n"], b: Shaped[np.ndarray, " n"]) -> Shaped[np.ndarray, " n"]:
    return (a + b)[:2]


def _each(a: Shaped[np.ndarray, " n"], b: Shaped[np.ndarray, " n"]) -> Iterator[float]:
    yield from a + b

"""Checks of arguments: what is accepted, and one sentence for everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ytheta.arguments import check_count, check_kind, check_number, check_path, is_positive
from ytheta.errors import InputError


@pytest.mark.parametrize("value", [2, 2.5, np.float32(2.5), np.array(2.5)])
def test_numbers_of_any_kind_are_accepted(value: Any) -> None:
    assert check_number("rate", value, "a number", allow=is_positive) == float(value)


@pytest.mark.parametrize("value", [None, "2", True, np.nan, np.inf, -1.0, [1.0, 2.0], {}])
def test_other_values_are_not_numbers(value: Any) -> None:
    with pytest.raises(InputError, match=r"^rate is .*; give a positive number$"):
        check_number("rate", value, "a positive number", allow=is_positive)


@pytest.mark.parametrize("value", [None, "2", True, 1.5, 2.0, 0, [1]])
def test_counts_are_whole_numbers(value: Any) -> None:
    assert check_count("runs", np.int64(3), "at least 1") == 3
    with pytest.raises(InputError, match=r"^runs is .*; give at least 1$"):
        check_count("runs", value, "at least 1")


def test_long_values_are_shortened() -> None:
    check_kind("names", ["a"], list, "a list")
    with pytest.raises(InputError) as refused:
        check_kind("names", "a" * 1000, list, "a list of names")
    assert len(str(refused.value)) < 120


# Paths that are arguments.


def test_strings_and_paths_are_paths() -> None:
    assert check_path("a.csv", "the log") == check_path(Path("a.csv"), "the log") == Path("a.csv")
    cases: tuple[tuple[Any, str], ...] = (
        (None, "the path of the log is None; give the name of a file"),
        (3, "the path of the log is a value of type int"),
        ("", "the path of the log is empty"),
    )
    for path, words in cases:
        with pytest.raises(InputError, match=words):
            check_path(path, "the log")

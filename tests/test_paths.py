"""Paths that are arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ytheta.arguments import check_path
from ytheta.errors import InputError


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

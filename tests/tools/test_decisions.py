"""The constants that docs/decisions.md lists are found in the source with their comments."""

from __future__ import annotations

import pytest
from tools.decisions import Basis, Constant, parse_constants, write_page

SOURCE = '''\
"""A module."""

import math

# Largest share of rows
# that may be dropped. Chosen on: recorded logs.
MAX_SHARE = 0.2
MIN_ROWS, MIN_RATE = 10, 5.0  # of a log. Chosen on: rule of thumb.
TURN = 2.0 * math.pi  # rad. Fixed by: mathematics.
ROWS_PER_CHUNK = 1 << 16  # affects only memory
# Numbers of fields. Fixed by: the format.
FIELD, OTHER_FIELD = 1, 2
THIRD_FIELD = 3

UNKNOWN = 4
UNITS = {"mm": 1e-3}
NAME = "1"
FIRST = UNITS[0]
limit = 5


def compute():
    LOCAL = 3
'''


def find(name: str) -> Constant:
    return next(constant for constant in parse_constants(SOURCE, "logs.clock") if constant.name == name)


def test_constants_that_consist_of_numbers_are_listed() -> None:
    names = [constant.name for constant in parse_constants(SOURCE, "logs.clock")]
    expected = ["MAX_SHARE", "MIN_ROWS, MIN_RATE", "TURN", "ROWS_PER_CHUNK", "FIELD, OTHER_FIELD", "THIRD_FIELD"]
    assert names == [*expected, "UNKNOWN"]


@pytest.mark.parametrize(
    ("name", "basis"),
    [
        ("MAX_SHARE", Basis.CHOSEN),
        ("TURN", Basis.FIXED),
        ("ROWS_PER_CHUNK", Basis.COST),
        ("THIRD_FIELD", Basis.FIXED),
        ("UNKNOWN", None),
    ],
)
def test_a_comment_says_where_a_number_comes_from(name: str, basis: Basis | None) -> None:
    assert find(name).basis is basis


def test_comments_are_split_into_meaning_and_reason() -> None:
    above, beside = find("MAX_SHARE"), find("MIN_ROWS, MIN_RATE")
    assert (above.meaning, above.reason) == ("Largest share of rows that may be dropped.", "recorded logs")
    assert (beside.meaning, beside.reason, beside.value) == ("of a log.", "rule of thumb", "10, 5.0")


def test_the_page_lists_what_was_chosen() -> None:
    page = write_page(parse_constants(SOURCE, "logs.clock"))
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        "| `clock` | `MAX_SHARE` | `0.2` | Largest share of rows that may be dropped | recorded logs |",
        "| `clock` | `MIN_ROWS, MIN_RATE` | `10, 5.0` | of a log | rule of thumb |",
    ]

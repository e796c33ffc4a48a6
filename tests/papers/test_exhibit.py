"""Agreement of single values, of exhibits, and of papers."""

from __future__ import annotations

import pytest

from tests.support.made_up_paper import FIGURE, MADE_UP_PAPER, TABLE, WRONG_PAPER, WRONG_TABLE
from ytheta.errors import InputError
from ytheta.papers.exhibit import Agreement, Exhibit, PrintedResult, compare_printed


@pytest.mark.parametrize(
    ("printed", "value", "agrees"),
    [
        ("0.25", 0.2549, True),
        ("0.25", 0.2451, True),
        ("0.25", 0.2551, False),
        ("0.250", 0.2506, False),
        ("-1.5e-3", -1.54e-3, True),
        ("-1.5e-3", 1.5e-3, False),
        ("-1.5e-3", -1.56e-3, False),
        ("452", 452, True),
        ("452", 453, False),
        ("0.3", 0.1 + 0.2, True),
        ("0.25", float("nan"), False),
        ("0.25", float("inf"), False),
    ],
)
def test_a_value_agrees_if_it_rounds_to_the_printed_digits(printed: str, value: float, agrees: bool) -> None:
    comparison = compare_printed("x", printed, value, note="why")
    assert comparison.agrees is Agreement.of(agrees)
    assert comparison.paper == float(printed)
    assert isinstance(comparison.paper, int) == ("." not in printed)
    assert comparison.note == "why"


@pytest.mark.parametrize("printed", ["", "about 3", "1,5", "nan"])
def test_a_text_is_not_a_printed_number(printed: str) -> None:
    with pytest.raises(InputError, match="is not a printed number"):
        compare_printed("x", printed, 1.0)


def test_one_disagreement_is_enough_and_open_is_not_yes() -> None:
    assert TABLE.agrees is Agreement.YES
    assert FIGURE.agrees is Agreement.OPEN
    assert WRONG_TABLE.agrees is Agreement.NO
    assert [MADE_UP_PAPER.count(agreement) for agreement in Agreement] == [3, 0, 1]
    assert [WRONG_PAPER.count(agreement) for agreement in Agreement] == [1, 1, 1]
    assert MADE_UP_PAPER["figure_2"] is FIGURE
    with pytest.raises(KeyError):
        MADE_UP_PAPER["figure_3"]


def test_comparisons_of_an_exhibit_have_different_names() -> None:
    row = PrintedResult("a", 1, 1, Agreement.YES)
    for comparisons in ((), (row, row)):
        with pytest.raises(InputError, match="need names that differ"):
            Exhibit("table_1", "Table I", comparisons)

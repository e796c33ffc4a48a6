"""States of single comparisons, of exhibits, and of papers."""

from __future__ import annotations

import pytest

from tests.support.made_up_paper import FIGURE, MADE_UP_PAPER, MISPRINT, TABLE, WRONG_PAPER, WRONG_TABLE
from ytheta.errors import InputError
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State, compare_correction, compare_printed


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
    assert comparison.state is State.of(agrees)
    assert comparison.paper == float(printed)
    assert isinstance(comparison.paper, int) == ("." not in printed)
    assert comparison.note == "why"


@pytest.mark.parametrize("printed", ["", "about 3", "1,5", "nan"])
def test_a_text_is_not_a_printed_number(printed: str) -> None:
    with pytest.raises(InputError, match="is not a printed number"):
        compare_printed("x", printed, 1.0)


def test_the_state_of_an_exhibit_is_the_worst_of_its_comparisons() -> None:
    assert TABLE.state is State.AGREES
    assert FIGURE.state is State.OPEN
    assert MISPRINT.state is State.MISPRINT
    assert WRONG_TABLE.state is State.DIFFERS
    both = Exhibit("both", "both", (*WRONG_TABLE.comparisons, *MISPRINT.comparisons))
    assert both.state is State.DIFFERS
    open_and_misprint = Exhibit("open", "open", (*FIGURE.comparisons, *MISPRINT.comparisons))
    assert open_and_misprint.state is State.MISPRINT
    assert [MADE_UP_PAPER.count(state) for state in State] == [3, 1, 0, 1]
    assert [WRONG_PAPER.count(state) for state in State] == [1, 0, 1, 1]
    assert MADE_UP_PAPER.is_reproduced
    assert not WRONG_PAPER.is_reproduced
    assert PaperReproduction("x", "", "", (MISPRINT,)).is_reproduced
    assert MADE_UP_PAPER["figure_2"] is FIGURE
    with pytest.raises(KeyError):
        MADE_UP_PAPER["figure_3"]


def test_comparisons_of_an_exhibit_have_different_names() -> None:
    row = PrintedResult("a", 1, 1, State.AGREES)
    for comparisons in ((), (row, row)):
        with pytest.raises(InputError, match="need names that differ"):
            Exhibit("table_1", "Table I", comparisons)


def test_the_fixed_key_says_only_whether_the_print_is_confirmed() -> None:
    assert [state.agrees for state in State] == ["yes", "no", "no", "open"]


@pytest.mark.parametrize(
    ("is_printed", "is_correct", "state"),
    [
        (True, False, State.AGREES),
        (True, True, State.AGREES),
        (False, True, State.MISPRINT),
        (False, False, State.DIFFERS),  # a fault of ytheta is not a misprint
    ],
)
def test_a_misprint_is_one_only_if_the_result_is_what_the_paper_demands(
    is_printed: bool, is_correct: bool, state: State
) -> None:
    row = compare_correction("x", "2 a", "a", "(3), which has a", is_printed=is_printed, is_correct=is_correct)
    assert row.state is state
    assert row.contradiction == ("(3), which has a" if state is State.MISPRINT else "")


def test_a_misprint_names_what_contradicts_it_and_nothing_else_does() -> None:
    with pytest.raises(InputError, match="a misprint needs a contradiction"):
        PrintedResult("x", 1, 2, State.MISPRINT, "a note is not enough")
    with pytest.raises(InputError, match="only a misprint has one"):
        PrintedResult("x", 1, 2, State.DIFFERS, contradiction="(3)")

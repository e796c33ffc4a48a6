"""Tables fit the width of a terminal without cutting a number."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from ytheta.report.numbers import format_count, format_percent
from ytheta.report.terminal import FittedTable, TerminalColumn, escape_control_characters, fit_table, safe_text


def lines(table: FittedTable) -> list[str]:
    out = Console(file=io.StringIO(), width=200)
    out.print(table.table, crop=False)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def test_tables_fit() -> None:
    numbers = [Text("0.12345"), Text("-6789.0")]
    columns = [
        TerminalColumn("name", [Text("left_shoulder_pan_joint"), Text("right_shoulder_pan_joint")], align_left=True),
        TerminalColumn("value", numbers),
        TerminalColumn("of variation %", numbers, short_heading="var. %", drop_priority=2),
        TerminalColumn("raw", numbers, drop_priority=1),
    ]
    for width in range(20, 90):
        table = fit_table(columns, width)
        shown = lines(table)
        assert max(map(len, shown)) == table.width
        assert table.width <= max(width, 25)  # the narrowest table
        assert shown[-2].count("-6789.0") == 3 - len(table.left_out)  # no number is ever cut
        assert ("…" in "".join(shown)) == (table.width < 35)
    assert fit_table(columns, 80).left_out == ()
    assert fit_table(columns, 50).left_out == ("of variation %",)
    assert fit_table(columns, 40).left_out == ("of variation %", "raw")
    assert any("var. %" in line for line in lines(fit_table(columns, 59)))


def test_numbers_of_a_page_print_as_they_are() -> None:
    """The narrow space between thousands is not a control character."""
    for text in (format_percent(2370.0), format_count(12_345_678)):
        assert safe_text(text).plain == text
        assert "\\u" not in escape_control_characters(text)


@pytest.mark.parametrize("character", ["\x1b", "\n", "\r", "\x9b", "\u2028", "\u2029", "\u202e", "\u200b"])
def test_characters_that_act_on_the_terminal_are_spelled_out(character: str) -> None:
    """Escape sequences, ends of lines, reversed writing, and characters that nobody sees."""
    assert character not in escape_control_characters(f"a{character}b")
    assert "\\" in escape_control_characters(f"a{character}b")

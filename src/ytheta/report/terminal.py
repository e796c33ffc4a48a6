"""Text for a terminal: tables that fit the width, and text from files, made safe to print.

If a table is too wide, headings are shortened first. If that is not enough, columns are left out. Numbers are never
cut.

Rich is imported when something is printed: plain data do not need it.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

TEXT_WIDTH = 120  # characters per line of a text that does not go to a terminal
# A notebook sets its own colours of text and background.
HTML_FORMAT = '<pre style="white-space:pre;overflow-x:auto;line-height:1.25;font-family:monospace">{code}</pre>'
MIN_NAME_LENGTH = 12  # characters of a shortened name; fewer would not distinguish names


@dataclass(frozen=True)
class TerminalColumn:
    """One column of a table.

    ``short_heading`` replaces the heading if the table is too wide. Columns are left out in descending order of
    ``drop_priority``; a column with priority 0 is never left out.
    """

    heading: str
    cells: Sequence[Text]
    short_heading: str = ""
    drop_priority: int = 0
    align_left: bool = False


@dataclass(frozen=True)
class FittedTable:
    """A table that is ``width`` characters wide, and the headings of the columns that were left out."""

    table: Table
    width: int
    left_out: tuple[str, ...] = ()


def make_table(*headings: str, tight: bool = False) -> Table:
    """Return an empty table in the style of all tables; ``tight`` leaves less space between columns."""
    from rich import box
    from rich.table import Table

    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=tight)


def fit_table(columns: Sequence[TerminalColumn], width: int, *, has_total_row: bool = False) -> FittedTable:
    """Return the table with as many columns as fit into ``width``. ``has_total_row`` separates the last row."""
    optional = sorted((column for column in columns if column.drop_priority), key=lambda column: -column.drop_priority)
    kept: list[TerminalColumn] = []
    for count in range(len(optional) + 1):
        kept = [column for column in columns if column not in optional[:count]]
        left_out = tuple(column.heading for column in columns if column in optional[:count])
        for tight in (False, True):
            table = _build_table(kept, tight=tight, has_total_row=has_total_row)
            if table.width is not None and table.width <= width:
                return FittedTable(table, table.width, left_out)
    names = kept[0]
    longest = max(len(cell) for cell in names.cells)
    length = max(MIN_NAME_LENGTH, longest - (table.width or 0) + width)
    names = replace(names, cells=[_shorten(cell, length) for cell in names.cells])
    table = _build_table([names, *kept[1:]], tight=True, has_total_row=has_total_row)
    return FittedTable(table, table.width or 0, left_out)


def print_table(console: Console, fitted: FittedTable) -> None:
    """Print a table, and a note that names the columns that were left out."""
    console.print(fitted.table, crop=False)
    if fitted.left_out:
        print_note(console, f"no room for {', '.join(fitted.left_out)}: widen the terminal, or see --json")


def print_note(console: Console, text: str) -> None:
    """Print a remark below a table."""
    console.print(_make_text(text, "dim"))


def render_text(print_to: Callable[[Console], None], *, width: int = TEXT_WIDTH) -> str:
    """Return what ``print_to`` prints, without colours and trailing spaces."""
    from rich.console import Console

    buffer = io.StringIO()
    print_to(Console(file=buffer, width=width, highlight=False, markup=False, emoji=False, color_system=None))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def render_html(print_to: Callable[[Console], None], *, width: int = TEXT_WIDTH) -> str:
    """Return what ``print_to`` prints as preformatted HTML with colours, for a notebook."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, record=True, force_jupyter=False
    )
    print_to(console)
    return console.export_html(inline_styles=True, code_format=HTML_FORMAT)


def escape_control_characters(text: str) -> str:
    """Return text for one line of a terminal, with control characters spelled out; spaces of all widths stay."""
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _is_harmless(character: str) -> bool:
    """Whether a character only prints something; isprintable() refuses the narrow space between thousands."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def safe_text(text: str, style: str = "") -> Text:
    """Return text that is printed as it is: neither markup nor control characters take effect."""
    return _make_text(escape_control_characters(text), style)


def safe_texts(texts: Iterable[str]) -> list[Text]:
    return [safe_text(text) for text in texts]


def list_names(names: Sequence[str], limit: int) -> str:
    """Return the first names, separated by commas, and the number of the other names."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _build_table(columns: Sequence[TerminalColumn], *, tight: bool, has_total_row: bool) -> Table:
    """Return a table of exactly the width that its content needs."""
    from rich.cells import cell_len

    table = make_table(tight=tight)
    for column in columns:
        heading = column.short_heading if tight and column.short_heading else column.heading
        # Rich measures all cells several times, which takes longer than a fit, unless the width is given.
        needed = max(cell_len(heading), max((cell.cell_len for cell in column.cells), default=0))
        table.add_column(heading, justify="left" if column.align_left else "right", no_wrap=True, width=needed)
    rows = list(zip(*(column.cells for column in columns), strict=True))
    for k, row in enumerate(rows):
        if has_total_row and k == len(rows) - 1:
            table.add_section()
        table.add_row(*row)
    table.width = _make_unlimited_console().measure(table).maximum
    return table


def _shorten(name: Text, length: int) -> Text:
    """Return a name without its middle."""
    if len(name) <= length:
        return name
    front = (length - 1) // 2
    return _make_text(f"{name.plain[:front]}…{name.plain[front - length + 1 :]}", name.style)


def _make_text(text: str, style: str | Style = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)


@cache
def _make_unlimited_console() -> Console:
    """Return a console that measures tables."""
    from rich.console import Console

    return Console(file=io.StringIO(), width=100_000)

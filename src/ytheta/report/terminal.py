"""Tables that fit into a terminal: heads are shortened first, then whole columns go; numbers are never cut."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

ENDLESS = Console(file=io.StringIO(), width=100_000)
SHORTEST = 12  # characters of a name that was shortened: as many as tell names apart


@dataclass(frozen=True)
class Column:
    """One column. ``short``: its head where there is little room. ``spare``: the highest goes first, 0 always stays."""

    head: str
    cells: Sequence[Text]
    short: str = ""
    spare: int = 0
    words: bool = False  # aligned to the left


@dataclass(frozen=True)
class Fitted:
    """A table that is ``width`` columns wide, and the heads for which there was no room."""

    table: Table
    width: int
    left_out: tuple[str, ...] = ()


def fitted(columns: Sequence[Column], room: int, *, total: bool = False) -> Fitted:
    """The table with as many of the columns as there is room for; ``total``: the last row stands apart."""
    spare = sorted((column for column in columns if column.spare), key=lambda column: -column.spare)
    kept: list[Column] = []
    for count in range(len(spare) + 1):
        kept = [column for column in columns if column not in spare[:count]]
        left_out = tuple(column.head for column in columns if column in spare[:count])
        for tight in (False, True):
            table = _table(kept, tight=tight, total=total)
            if table.width is not None and table.width <= room:
                return Fitted(table, table.width, left_out)
    first = kept[0]
    longest = max(len(cell) for cell in first.cells)
    most = max(SHORTEST, longest - (table.width or 0) + room)
    names = replace(first, cells=[_shortened(cell, most) for cell in first.cells])
    table = _table([names, *kept[1:]], tight=True, total=total)
    return Fitted(table, table.width or 0, left_out)


def _table(columns: Sequence[Column], *, tight: bool, total: bool) -> Table:
    """Of exactly the width that its content needs."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=tight)
    for column in columns:
        head = column.short if tight and column.short else column.head
        table.add_column(head, justify="left" if column.words else "right", no_wrap=True)
    rows = list(zip(*(column.cells for column in columns), strict=True))
    for k, row in enumerate(rows):
        if total and k == len(rows) - 1:
            table.add_section()
        table.add_row(*row)
    table.width = ENDLESS.measure(table).maximum
    return table


def _shortened(cell: Text, most: int) -> Text:
    """A name without its middle."""
    if len(cell) <= most:
        return cell
    front = (most - 1) // 2
    return Text(f"{cell.plain[:front]}…{cell.plain[front - most + 1 :]}", style=cell.style)

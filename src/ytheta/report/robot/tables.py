"""Tables of a robot's joints and links for a terminal of any width.

Names come from files and are never read as markup: everything is printed as ``Text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.report.terminal import escape_control_characters

Row: TypeAlias = Sequence[str | tuple[str, str]]

ZERO = "·"
UNKNOWN = "?"
QUANTITIES = (LINK_PARAMETERS[:1], LINK_PARAMETERS[1:4], LINK_PARAMETERS[4:])  # mass, first moments, inertia
MAX_ROUNDING_ERROR = 1e-12  # ratio to the largest entry of the same quantity; smaller entries are shown as zero
CONSISTENCY_LABELS: dict[bool | None, str | tuple[str, str]] = {True: "yes", False: ("no", "yellow"), None: UNKNOWN}


def build_joint_tables(console: Console, data: Mapping[str, Any]) -> list[Table]:
    """Return tables of the movable joints: axis, limits, drive parameters."""
    drive = (*ALL_JOINT_PARAMETERS, "friction_speed")
    rows = []
    for row in data["joint_table"]:
        if row["axis"] is None:
            continue
        lower, upper = row["position"]
        position = (
            "" if lower is None and upper is None else f"{_format_number(lower, '-∞')} … {_format_number(upper, '∞')}"
        )
        bounds = [_format_number(row[key], "") for key in ("velocity", "acceleration", "effort")]
        forces = [_format_number(row[key] or None, ZERO) for key in drive]
        rows.append([row["name"], row["type"], format_axis(row["axis"]), position, *bounds, *forces])
    limits = ("type", "axis", "position", "velocity", "acceleration", "effort")
    return _build_tables(console, ("joint", *limits, *drive), rows, groups=(limits, drive))


def build_link_tables(console: Console, data: Mapping[str, Any]) -> list[Table]:
    """Return tables of the moving links: ten parameters, and whether they are physically consistent."""
    rows: list[list[str | tuple[str, str]]] = []
    for row in data["link_table"]:
        parameters = row["parameters"]
        if parameters is not None:
            values = [text for group in QUANTITIES for text in _format_group([parameters[name] for name in group])]
        else:
            values = [UNKNOWN] * len(LINK_PARAMETERS)
            values[0] = UNKNOWN if row["mass"] is None else _format_number(row["mass"], ZERO)
        rows.append([row["name"], *values, CONSISTENCY_LABELS[row["consistent"]]])
    first, inertia = LINK_PARAMETERS[:4], LINK_PARAMETERS[4:]
    return _build_tables(
        console, ("link", *LINK_PARAMETERS, "consistent"), rows, groups=((*first, "consistent"), inertia)
    )


def make_text(*pieces: str | tuple[str, str]) -> Text:
    """Return one line from pieces of text, each plain or with a style."""
    pairs = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]
    return Text.assemble(*((escape_control_characters(words), style) for words, style in pairs))


def format_axis(axis: Sequence[float]) -> str:
    """Return an axis as text: a letter, or its entries."""
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return "(" + " ".join(f"{value:.4g}" for value in axis) + ")"


def build_table(columns: Sequence[str], chosen: Sequence[int], rows: Sequence[Row], *, tight: bool = False) -> Table:
    """Return a table with the first column and the chosen ones."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=tight)
    table.add_column(columns[0], overflow="fold")
    for k in chosen:
        table.add_column(columns[k], justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(make_text(row[k]) for k in (0, *chosen)))
    return table


def _format_group(values: Sequence[float]) -> list[str]:
    """Return the entries of one quantity as text; rotations of an inertia leave rounding errors instead of zeros."""
    limit = MAX_ROUNDING_ERROR * max(abs(value) for value in values)
    return [_format_number(value if abs(value) > limit else None, ZERO) for value in values]


def _build_tables(
    console: Console, columns: Sequence[str], rows: Sequence[Row], groups: Sequence[Sequence[str]]
) -> list[Table]:
    """Return one table. If it is too wide, return a table for each group of columns, or for parts of a group.

    The first column contains the names and is repeated in each table. Empty columns are left out.
    """
    filled = [k for k in range(1, len(columns)) if any(row[k] not in ("", ZERO) for row in rows)]
    whole = build_table(columns, filled, rows)
    if _fits(console, whole):
        return [whole]
    selections = [[columns.index(name) for name in group] for group in groups]
    return [
        table
        for group in selections
        for table in _split_columns(console, columns, [k for k in group if k in filled], rows)
    ]


def _split_columns(
    console: Console, columns: Sequence[str], chosen: Sequence[int], rows: Sequence[Row]
) -> Iterator[Table]:
    selected: list[int] = []
    for k in chosen:
        if selected and not _fits(console, build_table(columns, [*selected, k], rows, tight=True)):
            yield build_table(columns, selected, rows, tight=True)
            selected = []
        selected.append(k)
    if selected:
        yield build_table(columns, selected, rows, tight=True)


def _fits(console: Console, table: Table) -> bool:
    return console.measure(table, options=console.options.update(width=10_000)).maximum <= console.width


def _format_number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.4g}"

"""The catalog for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.report.terminal import safe_texts
from ytheta.robot.reading.catalog import Catalog


def print_catalog(console: Console, catalog: Catalog) -> None:
    """Print one row for each robot."""
    table = Table("robot", "joints", "loops", "about", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[1].justify = table.columns[2].justify = "right"
    for entry in catalog:
        table.add_row(*safe_texts((entry.name, str(entry.joints), str(entry.loops or ""), entry.about)))
    console.print(table)

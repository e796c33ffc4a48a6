"""The catalog for a terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.report.terminal import safe_texts


def print_catalog(console: Console, data: dict[str, Any]) -> None:
    """Print one row for each robot; ``data`` is the summary of the catalog."""
    table = Table("robot", "joints", "loops", "about", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[1].justify = table.columns[2].justify = "right"
    for row in data["robots"]:
        table.add_row(*safe_texts(str(row[key] or "") for key in ("name", "joints", "loops", "about")))
    console.print(table)

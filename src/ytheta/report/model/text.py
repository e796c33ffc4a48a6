"""A model file for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from ytheta.report.numbers import format_plain, significant_digits
from ytheta.report.terminal import Column, fit_table, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.identification.model_file import Model


def print_model(console: Console, model: Model) -> None:
    """Print one row for each base parameter, and the verdict of the identification."""
    rows = [(float(row["value"]), float(row["std"])) for row in model.table["parameters"]]
    values = [format_plain(value, significant_digits(value, std), zeros=True) for value, std in rows]
    columns = [
        Column(model.noun.removesuffix("s"), safe_texts(model.names), short_heading="parameter", align_left=True),
        Column("value", safe_texts(values)),
        Column("± std", safe_texts(format_plain(std, 2) for _, std in rows)),
        Column("seen", safe_texts(str(row.get("seen", "")) for row in model.table["parameters"]), align_left=True),
    ]
    marks = [str(row.get("mark", "")) for row in model.table["parameters"]]
    if any(marks):
        columns.append(Column("determined by", safe_texts(marks), short_heading="by", drop_priority=1, align_left=True))
    console.print(safe_text(f"{model.robot.name}: {len(model.names)} {model.noun}"))
    print_table(console, fit_table(columns, console.width))
    if "reason" in model.table:
        console.print(safe_text(str(model.table["reason"])))

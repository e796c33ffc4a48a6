"""A regrouped Lagrangian for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.identifiability.regrouping import Regrouping
from ytheta.report.regrouping.summary import summarize_regrouping
from ytheta.report.terminal import safe_text, safe_texts


def print_regrouping(console: Console, regrouping: Regrouping, *, verbose: bool = False) -> None:  # noqa: ARG001
    """Print one row for each model parameter: its value, its function of the motion, and its combination.

    ``verbose`` adds nothing.
    """
    data = summarize_regrouping(regrouping)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("F: function of the motion", overflow="fold")
    table.add_column("X: combination of standard parameters", overflow="fold")
    for row in data["parameters"]:
        value = "?" if row["value"] is None else f"{row['value']:.5g}"
        table.add_row(*safe_texts((row["name"], value, row["F"], row["expression"])))
    console.print(table)
    unknown = ", ".join((*data["unknown_lengths"], *data["unknown_angles"])) or "nothing"
    console.print(safe_text("The Lagrangian is the sum of all F · X; q1, qd1 … are positions and velocities."))
    console.print(
        safe_text(
            f"{data['name']}: {sum(data['counts'])} of {data['terms']} terms of the Lagrangian, {data['count']} model "
            f"parameters (method ha); unknown: {unknown}"
        )
    )

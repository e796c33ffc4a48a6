"""A model file and persistent excitation for a terminal, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ytheta.identification.persistent_excitation import PersistentExcitation
from ytheta.report.numbers import format_plain, replace_nonfinite, significant_digits
from ytheta.report.terminal import TerminalColumn, fit_table, make_table, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from rich.console import Console

    from ytheta.identification.model_file import Model


def print_model(console: Console, model: Model) -> None:
    """Print one row for each base parameter, and the verdict of the identification."""
    rows = [(float(row["value"]), float(row["std"])) for row in model.table["parameters"]]
    values = [format_plain(value, significant_digits(value, std), zeros=True) for value, std in rows]
    columns = [
        TerminalColumn(
            model.noun.removesuffix("s"), safe_texts(model.names), short_heading="parameter", align_left=True
        ),
        TerminalColumn("value", safe_texts(values)),
        TerminalColumn("± std", safe_texts(format_plain(std, 2) for _, std in rows)),
        TerminalColumn(
            "seen", safe_texts(str(row.get("seen", "")) for row in model.table["parameters"]), align_left=True
        ),
    ]
    marks = [str(row.get("mark", "")) for row in model.table["parameters"]]
    if any(marks):
        columns.append(
            TerminalColumn("determined by", safe_texts(marks), short_heading="by", drop_priority=1, align_left=True)
        )
    console.print(safe_text(f"{model.robot.name}: {len(model.names)} {model.noun}"))
    print_table(console, fit_table(columns, console.width))
    if "reason" in model.table:
        console.print(safe_text(str(model.table["reason"])))


# A model file as plain data.


def summarize_model(model: Model) -> dict[str, Any]:
    """Return the name of the robot and the table of its identification; infinite numbers become None."""
    data: dict[str, Any] = replace_nonfinite({"robot": model.robot.name, **model.table})
    return data


# Persistent excitation for a terminal.


def print_persistent_excitation(console: Console, excitation: PersistentExcitation) -> None:
    """Print one row for each joint."""
    table = make_table()
    table.add_column("joint", no_wrap=True)
    for heading in ("identified", "condition number", "unscaled"):
        table.add_column(heading, justify="right", no_wrap=True)
    for joint in excitation.joints:
        numbers = (joint.condition_number, joint.unscaled_condition_number)
        cells = (joint.joint, f"{joint.rank} of {len(joint.parameters)}", *map(format_plain, numbers))
        table.add_row(*safe_texts(cells))
    console.print(table)
    state = "persistently exciting" if excitation.exciting else "not persistently exciting"
    console.print(safe_text(f"{excitation.samples} samples, {state}"))


# Persistent excitation as plain data; infinite condition numbers become None.


def summarize_persistent_excitation(excitation: PersistentExcitation) -> dict[str, Any]:
    """Return the condition number of every joint, and the largest of them."""
    data: dict[str, Any] = replace_nonfinite(
        {
            "exciting": excitation.exciting,
            "condition_number": excitation.condition_number,
            "samples": excitation.samples,
            "joints": [
                {
                    "joint": joint.joint,
                    "parameters": list(joint.parameters),
                    "rank": joint.rank,
                    "condition_number": joint.condition_number,
                    "unscaled_condition_number": joint.unscaled_condition_number,
                }
                for joint in excitation.joints
            ],
        }
    )
    return data

"""Persistent excitation for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.identification.persistent_excitation import PersistentExcitation
from ytheta.report.numbers import format_plain
from ytheta.report.terminal import safe_text, safe_texts


def print_persistent_excitation(console: Console, excitation: PersistentExcitation) -> None:
    """Print one row for each joint."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
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

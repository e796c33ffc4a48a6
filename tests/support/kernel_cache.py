"""The machine code that this process keeps in memory."""

from __future__ import annotations

from ytheta.native import compile  # noqa: A004


def forget_machines() -> None:
    """Drop the compiled code that this process keeps, as a new process would have none."""
    compile._machines.clear()
    compile._recent_machines.clear()

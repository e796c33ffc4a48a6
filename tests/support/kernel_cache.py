"""The machine code and the graphs that this process keeps in memory."""

from __future__ import annotations

from ytheta.native import cache
from ytheta.native import compile as native_compile


def forget_machines() -> None:
    """Drop the compiled code that this process keeps, as a new process would have none."""
    native_compile._machines.clear()


def forget_graphs() -> None:
    """Drop the traced graphs that this process keeps."""
    cache._graphs.clear()

"""The machine code and the graphs that this process keeps in memory."""

from __future__ import annotations

from ytheta.native import cache as graph_cache
from ytheta.native import compile


def forget_machines() -> None:
    """Drop the compiled code that this process keeps, as a new process would have none."""
    compile._machines.clear()


def forget_graphs() -> None:
    """Drop the traced graphs that this process keeps."""
    graph_cache._graphs.clear()

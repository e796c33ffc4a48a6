"""Reading a ROS bag in a child process.

A bag contains the definitions of its messages, from which the library that reads bags makes code, and a .db3 file is a
database, whose tables may be queries. No check of sizes bounds what a made-up bag does: a view without an end loops for
ever, and a list of empty messages takes any memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import Limits, ProcessEndedError, run_limited
from ytheta.logs.reading.formats.bag import make_unreadable_error, read_bag
from ytheta.logs.reading.table import ColumnTable

# A message with seven joints has 300 bytes in a bag and takes 800 while it is read; compressed bags are smaller.
MIN_MEMORY, MEMORY_PER_BYTE = 2**31, 20  # bytes; bytes per byte of the bag
MIN_SECONDS, SECONDS_PER_BYTE = 30.0, 2e-6  # reading 10 MB of a bag takes about 1 s


def read_isolated_bag(
    path: Path,
    joints: Sequence[str],
    topic: str | None = None,
    *,
    locked: Sequence[str] = (),
    limits: Limits | None = None,
) -> ColumnTable:
    """Return the table of a bag as ``read_bag`` does. ``limits`` depend on the size of the bag unless they are set."""
    request = {"path": str(path), "joints": list(joints), "topic": topic, "locked": list(locked)}
    try:
        reply = run_limited(__name__, "send_table", request, limits or _choose_limits(path))
    except ProcessEndedError as error:
        raise make_unreadable_error(path, error) from None
    columns = {name: np.frombuffer(block) for name, block in zip(reply.content["names"], reply.blocks, strict=True)}
    table = ColumnTable.of(columns, reply.content["rows"], kind=reply.content["kind"])
    return replace(
        table,
        topic=reply.content["topic"],
        message_type=reply.content["message_type"],
        ignored_joints=tuple(reply.content["ignored_joints"]),
        spellings=reply.content["spellings"],
    )


def _choose_limits(path: Path) -> Limits:
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    seconds = MIN_SECONDS + SECONDS_PER_BYTE * size
    return Limits(MIN_MEMORY + MEMORY_PER_BYTE * size, seconds, processor_seconds=seconds)


# --- in the child process


def send_table(request: dict[str, Any]) -> Reply:
    """Read a bag and return its table as a reply."""
    table = read_bag(Path(request["path"]), request["joints"], request["topic"], locked=request["locked"])
    assert table.has_header
    assert not table.findings
    assert not table.others
    assert not table.starts
    fields = ("kind", "topic", "message_type", "ignored_joints", "spellings")
    origin = {name: getattr(table, name) for name in fields}
    columns = [np.ascontiguousarray(column[0 : table.rows], dtype=np.float64).data for column in table.columns]
    return Reply({"names": table.names, "rows": table.rows, **origin}, columns)

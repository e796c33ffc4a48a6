"""Reading a ROS bag in a child process.

A bag contains the definitions of its messages, from which the library that reads bags makes code, and a .db3 file is a
database, whose tables may be queries. No check of sizes bounds what a made-up bag does: a view without an end loops for
ever, and a list of empty messages takes any memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ytheta import errors
from ytheta.engine.limited_process import Limits, ProcessEndedError, run_limited
from ytheta.errors import InputError, YthetaError
from ytheta.logs.reading.formats.bag import make_unreadable_error, read_bag
from ytheta.logs.reading.table import ColumnTable

# A message with seven joints has 300 bytes in a bag and takes 800 while it is read; compressed bags are smaller.
MIN_MEMORY, MEMORY_PER_BYTE = 2**31, 20  # bytes; bytes per byte of the bag
MIN_SECONDS, SECONDS_PER_BYTE = 30.0, 2e-6  # reading 10 MB of a bag takes about 1 s


def read_isolated_bag(
    path: Path, joints: Sequence[str], topic: str | None = None, *, limits: Limits | None = None
) -> ColumnTable:
    """Return the table of a bag as ``read_bag`` does. ``limits`` depend on the size of the bag unless they are set."""
    request = {"path": str(path), "joints": list(joints), "topic": topic}
    try:
        return run_limited(__name__, "write_table", request, limits or _choose_limits(path), _receive_table)
    except ProcessEndedError as error:
        raise make_unreadable_error(path, error) from None


def _choose_limits(path: Path) -> Limits:
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    return Limits(MIN_MEMORY + MEMORY_PER_BYTE * size, MIN_SECONDS + SECONDS_PER_BYTE * size)


def _receive_table(stream: IO[bytes]) -> ColumnTable:
    head = stream.readline()
    if not head.endswith(b"\n"):
        raise EOFError
    answer = json.loads(head)
    if "error" in answer:
        raise getattr(errors, answer["error"])(answer["text"])
    columns = {}
    for name in answer["names"]:
        content = stream.read(8 * answer["rows"])
        if len(content) < 8 * answer["rows"]:
            raise EOFError
        columns[name] = np.frombuffer(content)
    table = ColumnTable.of(columns, answer["rows"], kind=answer["kind"])
    return replace(
        table,
        topic=answer["topic"],
        message_type=answer["message_type"],
        ignored_joints=tuple(answer["ignored_joints"]),
    )


# --- in the child process


def write_table(request: dict[str, Any], stream: IO[bytes]) -> None:
    """Read a bag; write its table, or the error, to a stream."""
    try:
        table = read_bag(Path(request["path"]), request["joints"], request["topic"])
    except YthetaError as error:
        kind = type(error).__name__ if hasattr(errors, type(error).__name__) else InputError.__name__
        _write_head(stream, {"error": kind, "text": str(error)})
        return
    assert table.has_header
    assert not table.findings
    assert not table.others
    assert not table.starts
    origin = {name: getattr(table, name) for name in ("kind", "topic", "message_type", "ignored_joints")}
    _write_head(stream, {"names": table.names, "rows": table.rows, **origin})
    for column in table.columns:
        stream.write(np.ascontiguousarray(column[0 : table.rows], dtype=np.float64).tobytes())


def _write_head(stream: IO[bytes], head: dict[str, object]) -> None:
    stream.write(json.dumps(head).encode() + b"\n")

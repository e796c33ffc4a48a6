"""Writing logs as tables that ``read_log`` can read: columns t, q1 …, qd1 …, tau1 … in SI units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ytheta.files.atomic import MARK, FileKind, check_writable, write_atomically, write_table
from ytheta.logs.log import Log, check_is_log
from ytheta.shapes import Float

SUFFIXES = (".csv", ".parquet", ".npz")


def write_log(log: Log, path: str | Path) -> Path:
    """Write a log in the format given by the file extension. The file is written atomically."""
    return write_marked_log(log, path, "log")


def write_marked_log(log: Log, path: str | Path, kind: FileKind) -> Path:
    """Write a log as ``write_log`` does, as a file of this kind: commands overwrite simulations, but no other logs."""
    check_is_log(log)
    path = check_writable(path, *SUFFIXES)
    columns = _name_columns(log)
    with write_atomically(path) as file:
        if path.suffix.lower() == ".npz":
            np.savez_compressed(file, **columns, **{MARK: np.array(kind)})  # type: ignore[arg-type]  # the stubs take any keyword for allow_pickle
        else:
            write_table(columns, file, suffix=path.suffix, content=kind)
    return path


def _name_columns(log: Log) -> dict[str, Float[np.ndarray, " samples"]]:
    columns = {"t": log.t}
    for name, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            columns |= {f"{name}{k + 1}": np.ascontiguousarray(values[:, k]) for k in range(values.shape[1])}
    return columns

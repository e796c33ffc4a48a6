"""Logs into files that ``read_log`` and everybody else reads: columns t, q1 …, qd1 …, tau1 …, in SI units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from ytheta.files.atomic import check_writable, write_atomically
from ytheta.logs.log import Log
from ytheta.shapes import Float

ENDINGS = (".csv", ".parquet", ".npz")


def write_log(log: Log, path: str | Path) -> Path:
    """Write a log; the ending of the name is its format. The file appears whole or not at all."""
    path = check_writable(path, *ENDINGS)
    columns = _columns(log)
    with write_atomically(path) as file:
        if path.suffix.lower() == ".npz":
            np.savez_compressed(file, **columns)  # type: ignore[arg-type]  # its stubs take them for its own flag
        elif path.suffix.lower() == ".parquet":
            pl.DataFrame(columns).write_parquet(file)
        else:
            pl.DataFrame(columns).write_csv(file)
    return path


def _columns(log: Log) -> dict[str, Float[np.ndarray, "samples"]]:
    columns = {"t": log.t}
    for name, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            columns |= {f"{name}{k + 1}": np.ascontiguousarray(values[:, k]) for k in range(values.shape[1])}
    return columns

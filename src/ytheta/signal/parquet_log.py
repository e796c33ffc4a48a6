"""Parquet logs, read column by column: an hour at 1 kHz needs its result and one column, not the file twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError
from ytheta.signal.log import Column
from ytheta.signal.table import Table

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 19  # rows decoded at a time


class ParquetColumns(Mapping[str, Column]):
    """The columns of a Parquet file; each look-up reads one of them."""

    def __init__(self, path: Path, schema: Mapping[str, pl.DataType], rows: int) -> None:
        self._path = path
        self._rows = rows
        self._schema = schema

    def __len__(self) -> int:
        return len(self._schema)

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __getitem__(self, name: str) -> Column:
        import polars as pl

        kind = self._schema[name]
        if not (kind.is_numeric() or kind == pl.Boolean):
            raise InputError(
                f"{self._path}: the column {name!r} holds {kind}, not numbers; store plain floating-point columns"
            )
        try:
            lazy = _scanned(self._path).select(pl.col(name).cast(pl.Float64))
            column = np.empty(self._rows)
            for first in range(0, self._rows, BLOCK):
                column[first : first + BLOCK] = lazy.slice(first, BLOCK).collect()[name].to_numpy()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(self._path, error) from None
        return column


def read_parquet(path: Path) -> Table:
    """The table of a Parquet file; only its footer is read here."""
    import polars as pl

    try:
        schema = _scanned(path).collect_schema()
        rows = int(_scanned(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, error) from None
    return Table(ParquetColumns(path, schema, rows), rows)


def _scanned(path: Path) -> pl.LazyFrame:
    """The file as it is named: no wildcards, no columns from folder names."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = (str(error).strip().splitlines() or ["no reason given"])[0]
    return InputError(f"{path} cannot be read as Parquet: {reason}; write it again, or check that it was copied whole")

"""Reading Parquet logs. Rows are read on demand, so that reading needs only about 1 MB in addition to the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.errors import InputError
from ytheta.logs.reading.table import ColumnTable
from ytheta.shapes import PerSample

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ParquetColumn:
    """One column of a Parquet file; each slice of rows is read on demand."""

    path: Path
    name: str

    def __getitem__(self, rows: slice, /) -> PerSample:
        import polars as pl

        try:
            lazy = _scan(self.path).select(pl.col(self.name).cast(pl.Float64))
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _make_unreadable_error(self.path, error) from None


class ParquetColumns(Mapping[str, ParquetColumn]):
    """The columns of a Parquet file by name. Access to a column that does not contain numbers raises InputError."""

    def __init__(self, path: Path, schema: Mapping[str, pl.DataType]) -> None:
        self._path = path
        self._schema = schema

    def __len__(self) -> int:
        return len(self._schema)

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __getitem__(self, name: str) -> ParquetColumn:
        import polars as pl

        kind = self._schema[name]
        if not (kind.is_numeric() or kind == pl.Boolean):
            raise InputError(
                f"{self._path}: the column {name!r} contains {kind}, not numbers; store plain floating-point columns"
            )
        return ParquetColumn(self._path, name)


def read_parquet(path: Path) -> ColumnTable:
    """Return the table of a Parquet file; only the file's footer is read here."""
    import polars as pl

    try:
        schema = _scan(path).collect_schema()
        rows = int(_scan(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _make_unreadable_error(path, error) from None
    return ColumnTable(ParquetColumns(path, schema), rows)


def _scan(path: Path) -> pl.LazyFrame:
    """Scan one file, without wildcards in its name and without columns from folder names."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _make_unreadable_error(path: Path, error: Exception) -> InputError:
    reason = (str(error).strip().splitlines() or ["no reason given"])[0]
    return InputError(
        f"{path} cannot be read as Parquet: {reason}; write it again, or check that it was copied completely"
    )

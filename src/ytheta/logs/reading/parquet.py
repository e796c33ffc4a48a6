"""Reading Parquet logs. Rows are read on demand, so that reading needs only about 1 MB in addition to the log."""

from __future__ import annotations

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
    """One column of a Parquet file; slices of its rows are read on demand. Other content than numbers is refused."""

    path: Path
    name: str
    kind: pl.DataType

    def __getitem__(self, rows: slice, /) -> PerSample:
        import polars as pl

        if not (self.kind.is_numeric() or self.kind == pl.Boolean):
            raise InputError(
                f"{self.path}: the column {self.name!r} contains {self.kind}, not numbers; store plain floating-point "
                "columns"
            )
        try:
            lazy = _scan(self.path).select(pl.col(self.name).cast(pl.Float64))
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _make_unreadable_error(self.path, error) from None


def read_parquet(path: Path) -> ColumnTable:
    """Return the table of a Parquet file; only the file's footer is read here."""
    import polars as pl

    try:
        schema = _scan(path).collect_schema()
        rows = int(_scan(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _make_unreadable_error(path, error) from None
    return ColumnTable.of({name: ParquetColumn(path, name, kind) for name, kind in schema.items()}, rows)


def _scan(path: Path) -> pl.LazyFrame:
    """Scan one file, without wildcards in its name and without columns from folder names."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _make_unreadable_error(path: Path, error: Exception) -> InputError:
    reason = (str(error).strip().splitlines() or ["no reason given"])[0]
    return InputError(
        f"{path} cannot be read as Parquet: {reason}; write it again, or check that it was copied completely"
    )

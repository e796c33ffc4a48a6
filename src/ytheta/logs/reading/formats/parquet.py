"""Reading Parquet logs. Rows are read on demand, so that reading needs only about 1 MB in addition to the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import Limits, ProcessEndedError, run_limited
from ytheta.errors import InputError
from ytheta.logs.reading.columns.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.dates import TextColumn
from ytheta.logs.reading.reshaping.vectors import MAX_WIDTH, Vectors, read_repeated_list
from ytheta.logs.reading.sizes.bounds import ENCODED
from ytheta.logs.reading.sizes.parquet import DeclaredSizes
from ytheta.logs.reading.table import Column, ColumnTable
from ytheta.shapes import PerSample

if TYPE_CHECKING:
    import polars as pl

UNNAMED_INDEX = "__index_level_0__"  # as pandas calls it
PROBE_LIMITS = Limits(memory=2**33, seconds=30.0, processor_seconds=30.0)  # Polars reserves some GB of addresses


@dataclass(frozen=True)
class ParquetColumn:
    """One column of a Parquet file; slices of its rows are read on demand. Other content than numbers is refused."""

    path: Path
    name: str
    kind: pl.DataType
    sizes: DeclaredSizes

    def __getitem__(self, rows: slice, /) -> PerSample:
        import polars as pl

        if not (self.kind.is_numeric() or self.kind == pl.Boolean):
            raise InputError(
                f"{self.path}: the column {self.name!r} contains {self.kind}, not numbers; store plain floating-point "
                "columns"
            )
        self.sizes.check_column(self.name)
        with explain_errors(self.path):
            lazy = scan_file(self.path).select(pl.col(self.name).cast(pl.Float64))
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()


@dataclass(frozen=True)
class ParquetDates:
    """One column of dates or durations of a Parquet file; it can only be the time."""

    path: Path
    name: str
    kind: pl.DataType
    sizes: DeclaredSizes

    def __getitem__(self, rows: slice, /) -> PerSample:
        raise InputError(
            f"{self.path}: the column {self.name!r} contains {self.kind}, not numbers; store plain floating-point "
            "columns"
        )

    def read_seconds(self, rows: slice) -> PerSample:
        """Return durations in seconds, or dates in seconds since the first one; those that are missing are NaN."""
        import polars as pl

        self.sizes.check_column(self.name)
        times = pl.col(self.name)
        since = times - times.drop_nulls().first() if self.kind.base_type() is pl.Datetime else times
        per_second = {"ns": 1e9, "us": 1e6, "ms": 1e3}[getattr(self.kind, "time_unit", "us")]
        with explain_errors(self.path):
            lazy = scan_file(self.path).select(since.cast(pl.Int64).cast(pl.Float64) / per_second)
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()


def read_parquet(path: Path) -> ColumnTable:
    """Return the table of a Parquet file; only the file's footer is read here."""
    import polars as pl

    sizes = DeclaredSizes(path)
    schema, rows = read_schema(path, sizes)
    columns: list[tuple[str, Column]] = []
    texts: dict[str, tuple[str, ...]] = {}
    for name, kind in schema.items():
        inner = getattr(kind, "inner", None)
        width = sizes.find_width(name) if inner is not None and rows else 0
        if inner is not None and inner.is_numeric() and 0 < width <= MAX_WIDTH:
            load = partial(_load_lists, path, name, sizes, width)
            columns += Vectors(name, str(path), width, load).list_columns()
        elif inner is not None and inner == pl.String and parse_label_name(name) is not None and width <= MAX_WIDTH:
            lists = _load_lists(path, name, sizes, width)
            texts[name] = read_repeated_list(lists, name, str(path))
        else:
            columns.append((_name_index(name, kind, schema), _make_column(path, name, kind, sizes)))
    names = tuple(name for name, _ in columns)
    return ColumnTable(names, [column for _, column in columns], rows, kind="Parquet", texts=texts)


def _name_index(name: str, kind: pl.DataType, schema: Iterable[str]) -> str:
    """Return the name of a column; an index of pandas without a name is the time if it consists of dates."""
    import polars as pl

    is_time = name == UNNAMED_INDEX and kind.base_type() in (pl.Datetime, pl.Duration)
    return "time" if is_time and not any(parse_time_name(each) for each in schema) else name


def _load_lists(path: Path, name: str, sizes: DeclaredSizes, width: int) -> Sequence[Any]:
    import polars as pl

    sizes.check_column(name, width=width)
    with explain_errors(path):
        return scan_file(path).select(pl.col(name)).collect()[name].to_list()


def _make_column(path: Path, name: str, kind: pl.DataType, sizes: DeclaredSizes) -> Column:
    import polars as pl

    if kind.base_type() in (pl.Datetime, pl.Duration):
        return ParquetDates(path, name, kind, sizes)
    if kind == pl.String:
        return TextColumn(partial(_load_texts, path, name, sizes), name, str(path))
    return ParquetColumn(path, name, kind, sizes)


def _load_texts(path: Path, name: str, sizes: DeclaredSizes) -> list[str | None]:
    import polars as pl

    sizes.check_column(name)
    with explain_errors(path):
        return scan_file(path).select(pl.col(name)).collect()[name].to_list()


def read_schema(path: Path, sizes: DeclaredSizes) -> tuple[Mapping[str, pl.DataType], int]:
    """Return the types of the columns and the number of rows; only the file's footer is read."""
    import polars as pl

    if sizes.check_footer():
        _probe_schema(path)
    with explain_errors(path):
        schema = scan_file(path).collect_schema()
        rows = int(scan_file(path).select(pl.len()).collect().item())
    if not ENCODED.allows(8 * rows, path.stat().st_size):
        raise InputError(
            f"{path} declares {rows:,} rows in {path.stat().st_size:,} bytes, so it is no record of a motion; check "
            "the file"
        )
    return schema, rows


def _probe_schema(path: Path) -> None:
    """Let Polars read the schema in a child process; InputError if this ends the process."""
    try:
        run_limited(__name__, "collect_schema", str(path), PROBE_LIMITS)
    except ProcessEndedError as error:
        raise InputError(
            f"{path} cannot be read as Parquet: {error}; write it again, or check that it was copied completely"
        ) from None


def collect_schema(path: str) -> Reply:
    """Read a schema in a child process; errors that can be caught are left to the parent, which reads it again."""
    with suppress(InputError), explain_errors(Path(path)):
        scan_file(Path(path)).collect_schema()
    return Reply()


def scan_file(path: Path) -> pl.LazyFrame:
    """Scan one file, without wildcards in its name and without columns from folder names."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn the errors that damaged files cause into one InputError."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError) as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise InputError(
            f"{path} cannot be read as Parquet: {reason}; write it again, or check that it was copied completely"
        ) from None

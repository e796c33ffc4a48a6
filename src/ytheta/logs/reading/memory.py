"""Tables in memory: dicts of arrays, Polars DataFrames and pandas DataFrames.

A dict has one array per column (``t``, ``q1``, …) or per quantity (``q``: samples x joints, whose columns are called
q1, q2, …); it may contain dicts. A pandas DataFrame is recognized without importing pandas, which is not a dependency.
Its index is a column if it has a name, as in a file written by ``to_csv``; of indices without a name, only those of
dates or durations are columns, called time. The labels of columns with several levels are joined: ("q", "elbow") is
q/elbow. Dates of a column of time become seconds since the first row, durations seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.reading.cells import Vectors, find_width, read_repeated_list
from ytheta.logs.reading.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.table import ColumnTable, TableColumn
from ytheta.shapes import PerSample, Shaped

NUMBERS = "fiub"  # NumPy's kinds of floating-point, integer and Boolean numbers
# Depth of dicts within dicts. Chosen on: rule of thumb.
MAX_DEPTH = 20
# Largest number of texts of a list of joint names. Chosen on: reasoning; no robot has so many joints.
MAX_TEXTS = 1000
TIMES = "mM"  # … of dates and durations


def is_frame(value: object) -> bool:
    """Return whether a value is a DataFrame of pandas or Polars."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] in ("pandas", "polars")
        for kind in type(value).__mro__
    )


def read_arrays(arrays: Mapping[Any, Any], source: str) -> ColumnTable:
    """Return the table of a dict of arrays; ``source`` names it in error messages.

    Entries of a dict in it are called outer/inner; those that are no columns of the same length are left out.
    """
    columns: list[tuple[str, PerSample]] = []
    inner: list[tuple[str, PerSample]] = []
    others: dict[str, str] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for name, values, depth in _iterate_entries(arrays, "", 0):
        if parse_label_name(name) is not None and (labels := list_texts(values)):
            texts[name] = labels
            continue
        try:
            array = _to_array(values, name, source)
        except InputError:
            if not depth:
                raise
            array = np.empty(())
        if array.ndim == 0:
            others[name] = "None" if values is None else f"a single value of type {type(values).__name__}"
        elif array.ndim > 2:
            others[name] = f"an array with {array.ndim} dimensions"
        else:
            (inner if depth else columns).extend(_split_array(name, array))
    lengths = [len(column) for _, column in columns or inner]
    samples = max(lengths, key=lengths.count, default=0)
    columns += [(name, column) for name, column in inner if len(column) == samples]
    rows = [len(column) for _, column in columns]
    return replace(make_table(columns, rows, others, source, kind="dict of arrays"), texts=texts)


def _split_array(name: str, array: Shaped[np.ndarray, "..."]) -> list[tuple[str, PerSample]]:
    """Return the columns of an array; a matrix of time has only one, which keeps its name."""
    if array.ndim == 1 or (array.shape[1] == 1 and parse_time_name(name) is not None):
        return [(name, array.reshape(-1))]
    return [(f"{name}{k + 1}", array[:, k]) for k in range(array.shape[1])]


def _iterate_entries(arrays: Mapping[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any, int]]:
    """Yield name, value and depth of the entries of a dict and of the dicts in it."""
    for name, values in arrays.items():
        if isinstance(values, Mapping) and depth < MAX_DEPTH:
            yield from _iterate_entries(values, f"{prefix}{name}/", depth + 1)
        else:
            yield f"{prefix}{name}", values, depth


def list_texts(values: Any) -> tuple[str, ...]:
    """Return the texts of a list or array, or those of a row if all rows are equal; nothing if it contains others."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        return ()
    if array.ndim == 2 and len(array) and bool(np.all(array == array[0])):
        array = array[0]
    if array.ndim != 1 or array.dtype.kind not in "OUST" or len(array) > MAX_TEXTS:
        return ()
    texts = [text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in array.tolist()]
    return tuple(texts) if all(isinstance(text, str) for text in texts) else ()


def make_table(
    columns: Sequence[tuple[str, TableColumn]],
    rows: Sequence[int],
    others: Mapping[str, str],
    source: str,
    *,
    kind: str,
) -> ColumnTable:
    """Return the table of named columns with these numbers of rows, which must be equal."""
    lengths = {length: name for length, (name, _) in reversed(list(zip(rows, columns, strict=True)))}
    if len(lengths) > 1:
        shown = ", ".join(f"{name} has {length}" for length, name in sorted(lengths.items()))
        raise InputError(f"{source}: the arrays have different numbers of rows ({shown}); store one row per sample")
    if not columns:
        raise InputError(f"{source} contains no arrays; it needs t, q and tau, with one row per sample")
    names, arrays = zip(*columns, strict=True)
    return ColumnTable(names, arrays, next(iter(lengths)), others=others, kind=kind)


def read_frame(frame: Any, source: str) -> ColumnTable:
    """Return the table of a DataFrame; ``source`` names it in error messages. Only columns in use are converted."""
    columns: list[tuple[str, TableColumn]] = []
    texts: dict[str, tuple[str, ...]] = {}
    for name, series in _iterate_series(frame):
        cell = _find_first_list(series)
        if (width := find_width(cell)) and (width > 1 or not name[-1:].isdigit()):  # q1 is one number
            columns += Vectors(name, source, width, partial(_list_cells, series)).list_columns()
        elif parse_label_name(name) is not None and list_texts(cell):
            texts[name] = read_repeated_list(_list_cells(series), name, source)
        else:
            columns.append((name, FrameColumn(series, name, source)))
    is_numbered = [str(label) for label in frame.columns] == [str(k) for k in range(len(frame.columns))]
    names = tuple(name for name, _ in columns)
    series_only = [column for _, column in columns]
    return ColumnTable(names, series_only, len(frame), has_header=not is_numbered, kind="DataFrame", texts=texts)


def _find_first_list(series: Any) -> Any:
    """Return the first cell of a column that is not missing, if it is a list or an array; otherwise None."""
    if getattr(series.dtype, "kind", "O") in NUMBERS + TIMES:
        return None
    known = series.dropna() if _is_pandas(series) else series.drop_nulls()
    if not len(known):
        return None
    cell = known.iloc[0] if _is_pandas(known) else known[0]
    if isinstance(cell, list | tuple | np.ndarray):
        return cell
    return cell.to_list() if hasattr(cell, "to_list") else None  # a Series of Polars


def _list_cells(series: Any) -> list[Any]:
    """Return the vectors of a column; None stands for a missing one."""
    if not _is_pandas(series):
        return list(series.to_list())
    return [None if cell is None or (isinstance(cell, float) and np.isnan(cell)) else cell for cell in series]


@dataclass(frozen=True, eq=False)
class FrameColumn:
    """One column of a DataFrame, which is converted when it is first read."""

    series: Any
    name: str
    source: str

    def __getitem__(self, rows: slice, /) -> PerSample:
        return self._values[rows]

    def list_labels(self) -> list[str]:
        """Return the first two different texts of the column, fewer if there are fewer."""
        if _is_pandas(self.series) and getattr(self.series.dtype, "kind", "O") in NUMBERS + TIMES:
            return []
        distinct = self.series.dropna().unique() if _is_pandas(self.series) else self.series.drop_nulls().unique()
        texts = [text for text in list(distinct) if isinstance(text, str) and text.strip()]
        return texts[:2]

    def load_texts(self) -> list[str | None]:
        """Return the texts of all rows."""
        return [value if isinstance(value, str) else None for value in self.series.to_list()]

    @cached_property
    def _values(self) -> PerSample:
        dtype = self.series.dtype
        if _is_pandas(self.series) and getattr(dtype, "kind", "") in NUMBERS:
            return np.asarray(self.series.to_numpy(dtype=np.float64, na_value=np.nan))
        series = self.series
        if _is_pandas(series) and getattr(dtype, "tz", None) is not None:  # otherwise, it would be an array of objects
            series = series.dt.tz_convert(None)
        values = np.asarray(series.to_numpy())
        if _is_pandas(self.series) and values.dtype.kind == "O":
            values = values.copy()
            values[self.series.isna().to_numpy()] = None
        return _to_numbers(values, self.name, self.source)


def _iterate_series(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and values of every column; in pandas, several columns can have the same name."""
    if not _is_pandas(frame):
        yield from ((series.name, series) for series in frame.get_columns())
        return
    names = [_join_levels(label) for label in frame.columns]
    for level, label in enumerate(frame.index.names):
        values = frame.index.get_level_values(level)
        if label is not None:
            yield str(label), values.to_series()
        elif getattr(values.dtype, "kind", "") in TIMES and not any(parse_time_name(name) for name in names):
            yield "time", values.to_series()
    for k, name in enumerate(names):
        yield name, frame.iloc[:, k]


def _join_levels(label: Any) -> str:
    """Return the name of a column; empty levels of a label are left out."""
    return "/".join(str(part) for part in label if str(part)) if isinstance(label, tuple) else str(label)


def _is_pandas(value: object) -> bool:
    return any(kind.__module__.partition(".")[0] == "pandas" for kind in type(value).__mro__)


def _to_array(values: Any, name: str, source: str) -> Shaped[np.ndarray, "..."]:
    """Return an entry of a dict as an array of numbers; texts and single values, which are comments, are left out."""
    if is_frame(values):
        values = np.column_stack([column[:] for column in read_frame(values, f"{source}[{name!r}]").columns])
    elif hasattr(values, "to_numpy"):  # a Series
        values = FrameColumn(values, name, source)[:]
    elif isinstance(values, np.ma.MaskedArray):  # masked entries are missing values
        is_numeric, mask = values.dtype.kind in NUMBERS, np.ma.getmaskarray(values)
        values = values.data.astype(np.float64 if is_numeric else object)
        values[mask] = None  # NaN in an array of numbers
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{source}: {name!r} is not an array of numbers; give one number for each sample") from None
    if array.ndim == 0 or array.dtype.kind in "US":
        return np.empty(())
    return _to_numbers(array, name, source)


def _to_numbers(values: Shaped[np.ndarray, "*shape"], name: str, source: str) -> Shaped[np.ndarray, "*shape"]:
    """Return an array of any type as floating-point numbers; None becomes NaN."""
    if values.dtype.kind in NUMBERS:
        return values.astype(np.float64, copy=False)
    if values.dtype.kind in TIMES and parse_time_name(name) is not None:
        return _to_seconds(values)
    if values.dtype.kind not in "OUST":
        raise InputError(
            f"{source}: the column {name!r} contains {values.dtype}, not numbers; convert it to floating-point numbers"
            + (" of seconds, or call it time" if values.dtype.kind in TIMES else "")
        )
    numbers = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        try:
            numbers[place] = np.nan if value is None else _to_number(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{source}, row {place[0]}: {str(value)[:40]!r} in the column {name!r} is not a number; correct or "
                "remove it"
            ) from None
    return numbers


def _to_seconds(values: Shaped[np.ndarray, "*shape"]) -> Shaped[np.ndarray, "*shape"]:
    """Return durations in seconds, and dates in seconds since the first one; those that are missing are NaN.

    The seconds of a date since 1970 would leave only a quarter of a microsecond to floating-point numbers.
    """
    is_known = ~np.isnat(values)
    seconds = np.full(values.shape, np.nan)
    if is_known.any():
        known = values[is_known]
        seconds[is_known] = (known - known[0] if values.dtype.kind == "M" else known) / np.timedelta64(1, "s")
    return seconds


def _to_number(value: Any) -> float:
    """Return a number or a text that contains a number; raise TypeError for lists, even of a single number."""
    if hasattr(value, "__len__") and not isinstance(value, str):
        raise TypeError
    return float(value)

"""Reading LeRobot datasets of version 3 (``data/chunk-*/file-*.parquet``) and 2 (one file per episode).

``meta/info.json`` describes the features. An entry of a vector is a column: ``observation.state.elbow.pos`` if the
feature has names, ``observation.state[0]`` otherwise. Every episode becomes a segment of the log. Files may be in any
order, since frames are sorted by episode and number. The time of a frame starts at 0 in every episode; here episodes
follow each other with a pause.

Reference     the page "LeRobotDataset v3.0" of the documentation of LeRobot (Hugging Face)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.files.atomic import report_input
from ytheta.files.bounded import read_small_file
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.formats.parquet import DeclaredSizes, explain_errors, read_schema, scan_file
from ytheta.logs.reading.table import ColumnTable, TableColumn
from ytheta.shapes import PerSample, RowIndices, Shaped

INFO = Path("meta") / "info.json"
DATA_PATTERN = "data/chunk-*/*.parquet"
# Largest size in bytes of info.json. Chosen on: rule of thumb.
MAX_INFO_SIZE = 1 << 22
# Largest number of data files of a dataset. Chosen on: rule of thumb.
MAX_FILES = 100_000
# Largest number of entries of a vector. Chosen on: reasoning; no robot has so many joints.
MAX_WIDTH = 1000
FRAME_KEYS = ("episode_index", "frame_index")
# Time in s between episodes. Chosen on: reasoning; any gap separates segments.
EPISODE_PAUSE = 1.0
NUMERIC_TYPES = frozenset(
    ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
)


@dataclass(frozen=True)
class _Feature:
    """A numeric feature; ``width`` is None if it has one number per frame."""

    name: str
    width: int | None
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _DataFile:
    path: Path
    sizes: DeclaredSizes
    schema: Mapping[str, Any]
    rows: int


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """The values of a feature in all files, which are read when they are first needed."""

    files: Sequence[_DataFile]
    feature: _Feature

    @cached_property
    def values(self) -> Shaped[np.ndarray, "rows width"]:
        rows = sum(file.rows for file in self.files)
        values = np.empty((rows, self.feature.width or 1))
        first = 0
        for file in self.files:
            values[first : first + file.rows] = self._read(file)
            first += file.rows
        return values

    def _read(self, file: _DataFile) -> Shaped[np.ndarray, "rows width"]:
        import polars as pl

        name, width = self.feature.name, self.feature.width
        kind = file.schema.get(name)
        if kind is None:
            raise InputError(f"{file.path} has no column {name!r}, which meta/info.json contains; download it again")
        is_list = isinstance(kind, pl.List | pl.Array)
        inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
        if not (inner.is_numeric() or inner == pl.Boolean) or (width is None and is_list):
            raise InputError(f"{file.path}: the column {name!r} contains {kind}, not numbers; check the dataset")
        file.sizes.check_column(name, width=width if is_list else None)
        with explain_errors(file.path):
            series = scan_file(file.path).select(pl.col(name)).collect()[name]
            if is_list:
                lengths = series.arr.len() if isinstance(kind, pl.Array) else series.list.len()
                if series.null_count() or not bool((lengths == width).all()):
                    raise InputError(
                        f"{file.path}: not all vectors of {name!r} have {width} entries; check the dataset"
                    )
                series = series.explode()
            numbers = series.cast(pl.Float64).to_numpy()
        if len(numbers) != file.rows * (width or 1):
            raise InputError(f"{file.path}: the column {name!r} has {len(numbers)} numbers for {file.rows} rows")
        return numbers.reshape(file.rows, -1)


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """One entry of a feature; ``order`` lists its rows in the order of frames, None if the files have this order."""

    feature: FeatureValues
    number: int
    order: RowIndices | None = None

    def __getitem__(self, rows: slice, /) -> PerSample:
        return np.asarray(self.feature.values[rows if self.order is None else self.order[rows], self.number])


def read_lerobot(folder: Path) -> ColumnTable:
    """Return the table of a dataset: all episodes, one after the other."""
    info = _read_info(folder)
    features = list(_parse_features(folder, info))
    files = _open_files(folder)
    rows = sum(file.rows for file in files)
    order = _sort_frames(files, [feature for feature in features if feature.name in FRAME_KEYS])
    columns: dict[str, TableColumn] = {}
    for feature in features:
        values = FeatureValues(files, feature)
        if feature.width is None:
            columns[feature.name] = FeatureColumn(values, 0, order)
        else:
            columns |= {name: FeatureColumn(values, k, order) for k, name in enumerate(feature.names)}
    starts: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    if rows and "episode_index" in columns and "timestamp" in columns:
        episode = columns["episode_index"][0:rows]
        starts = tuple((np.flatnonzero(np.diff(episode) != 0.0) + 1).tolist())
        columns["timestamp"] = _join_times(columns["timestamp"][0:rows], starts)
        findings = (_report_episodes(len(starts) + 1),)
    listed = ", ".join(f"{name} {_format_shape(value)}" for name, value in info["features"].items())
    table = ColumnTable.of(columns, rows, kind=f"LeRobot dataset {info.get('codebase_version', '')}".strip())
    return replace(table, starts=starts, findings=findings, contents=f"the dataset has the features {listed}")


def _sort_frames(files: Sequence[_DataFile], keys: Sequence[_Feature]) -> RowIndices | None:
    """Return the rows sorted by episode and number of the frame; None if they are sorted already.

    Rows stay as they are if these numbers are missing or occur twice, as in datasets that were joined carelessly.
    """
    values = {key.name: FeatureValues(files, key).values[:, 0] for key in keys if key.width is None}
    if set(values) != set(FRAME_KEYS):
        return None
    numbers = np.stack([values[name] for name in FRAME_KEYS])  # episode, frame
    order = np.lexsort(numbers[::-1])
    steps = np.diff(numbers[:, order])
    if not np.all((steps[0] > 0.0) | ((steps[0] == 0.0) & (steps[1] > 0.0))) or np.all(np.diff(order) == 1):
        return None
    return order


def _read_info(folder: Path) -> dict[str, Any]:
    path = folder / INFO
    content = read_small_file(path, "the description of a LeRobot dataset", max_size=MAX_INFO_SIZE)
    try:
        info = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not valid JSON; download the dataset again") from None
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict) or not all(isinstance(feature, dict) for feature in features.values()):
        raise InputError(f"{path} does not describe the features of a LeRobot dataset; download the dataset again")
    return dict(info)


def _parse_features(folder: Path, info: Mapping[str, Any]) -> Iterator[_Feature]:
    """Yield the numeric features with one or no axis."""
    for name, feature in info["features"].items():
        shape = feature.get("shape")
        if str(feature.get("dtype")) not in NUMERIC_TYPES or not isinstance(shape, list) or len(shape) > 1:
            continue
        if shape == [0]:  # a feature that this robot does not have
            continue
        width = shape[0] if shape else 1
        if not isinstance(width, int) or isinstance(width, bool) or not 0 < width <= MAX_WIDTH:
            raise InputError(
                f"{folder / INFO}: {name!r} has the shape {str(shape)[:40]}; a vector has 1 to {MAX_WIDTH} entries"
            )
        labels = _list_labels(feature.get("names"))
        if width == 1 and len(labels) != 1:
            yield _Feature(name, None, ())
        elif width == 1:
            yield _Feature(name, 1, (f"{name}.{labels[0]}" if labels[0] != name else name,))
        else:
            distinct = len(labels) == width == len(set(labels))
            yield _Feature(
                name, width, tuple(f"{name}.{labels[k]}" if distinct else f"{name}[{k}]" for k in range(width))
            )


def _list_labels(names: Any) -> list[str]:
    """Return the names of the entries of a feature: a list, a list in a list, or a list in a dict; or nothing.

    A dict may also contain the number of each name, counted from 0.
    """
    for _ in range(3):
        if (
            isinstance(names, dict)
            and names
            and sorted(map(str, names.values())) == sorted(map(str, range(len(names))))
        ):
            return sorted(names, key=lambda name: int(names[name]))
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        if isinstance(names, dict) and len(names) == 1:
            (names,) = names.values()
        elif isinstance(names, list) and len(names) == 1:
            (names,) = names
    return []


def _open_files(folder: Path) -> list[_DataFile]:
    paths = sorted(folder.glob(DATA_PATTERN))
    if not paths:
        raise InputError(f"{folder} has no files {DATA_PATTERN}; download the data of the dataset too")
    if len(paths) > MAX_FILES:
        raise InputError(f"{folder} has {len(paths)} data files, more than {MAX_FILES}; choose some of them")
    files = []
    for path in paths:
        if not path.is_file() or not path.stat().st_size:
            raise InputError(f"{path} is empty or not a regular file; download it again")
        report_input(path)
        sizes = DeclaredSizes(path)
        schema, rows = read_schema(path, sizes)
        files.append(_DataFile(path, sizes, schema, rows))
    return files


def _join_times(times: PerSample, starts: Sequence[int]) -> PerSample:
    """Return times that continue from episode to episode with a pause."""
    joined = times.copy()
    for start, stop in pairwise([*starts, len(times)]):
        last = float(joined[start - 1])
        shift = last + EPISODE_PAUSE - float(times[start])
        joined[start:stop] += shift if math.isfinite(shift) else 0.0
    return joined


def _format_shape(feature: Mapping[str, Any]) -> str:
    shape = feature.get("shape")
    return f"({', '.join(str(size)[:10] for size in shape[:4])})" if isinstance(shape, list) else "(?)"


def _report_episodes(count: int) -> Finding:
    noun = "episode" if count == 1 else "episodes, each a segment of the log"
    return Finding(
        LogFindingCode.EPISODES, Severity.NOTE, f"the dataset has {count} {noun}", fields={"episodes": count}
    )

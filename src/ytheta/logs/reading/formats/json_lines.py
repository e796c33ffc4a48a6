"""Reading JSON lines: one object per line and sample, such as {"t": 0.01, "q": [0.1, 0.2], "tau": [3, 4]}.

Nested objects give columns such as ``state.q1``; the entries of a list are counted from 1. A list of names beside lists
of numbers of the same length, as in a JointState message, gives columns such as ``position.elbow``. A list of objects
is like an object whose keys are their names (``joints.elbow.position``) or, without names, their numbers from 1. The
first object defines the columns; a value that is missing in another line is a missing value of the log.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.table import MAX_COLUMNS, ColumnTable

# Largest number of bytes of a line. Chosen on: reasoning; a sample has some hundred bytes.
MAX_LINE_LENGTH = 1 << 20
# Depth of objects within objects. Chosen on: rule of thumb.
MAX_DEPTH = 20
NAME_KEYS = ("name", "names", "joint_names")
ITEM_NAME_KEYS = ("name", "joint", "joint_name")  # of an object in a list


def read_json_lines(path: Path) -> ColumnTable:
    """Return the table of a file with one JSON object per line."""
    layout: _Layout | None = None
    numbers = array("d")  # row by row
    rows, incomplete, has_objects = 0, 0, False
    labels: dict[str, tuple[str, ...]] = {}
    for number, line in _iterate_lines(path):
        if incomplete:
            raise _make_error(path, incomplete, "it is not a JSON object")
        record = _parse_line(line)
        if record is None:
            if not rows or line.endswith(b"\n"):
                raise _make_error(path, number, "it is not a JSON object")
            incomplete = number
            continue
        if layout is None:
            _check_first_object(path, number, line, record)
            has_objects = _name_objects(record, 0) != record
        if has_objects:
            record = _name_objects(record, 0)
        if layout is None:
            layout = _Layout.of(record)
            labels = _find_labels(record)
            if len(layout.names) > MAX_COLUMNS:
                raise _make_error(path, number, f"it has more than {MAX_COLUMNS} numbers")
        if labels and _find_labels(record) != labels:
            raise _make_error(path, number, "its joint names are others than those of the first object")
        numbers.extend(layout.read(record))
        rows += 1
    if layout is None:
        raise InputError(f"{path} contains no data; record the motion again, or choose another file")
    matrix = np.array(numbers).reshape(rows, len(layout.names))
    arrays = {name: matrix[:, k] for k, name in enumerate(layout.names)}
    table = ColumnTable.of(arrays, rows, kind="JSON lines")
    return replace(table, findings=(_report_truncated(incomplete),) if incomplete else (), texts=labels)


@dataclass(frozen=True)
class _Layout:
    """Where the numbers of an object are: in most files, all objects have the layout of the first.

    ``places`` are the keys that lead to each number or list of numbers, and the length of the list; ``labels`` are the
    keys that lead to lists of texts, and these lists.
    """

    names: tuple[str, ...]
    places: tuple[tuple[tuple[str, ...], int | None], ...]
    labels: tuple[tuple[tuple[str, ...], list[str]], ...]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> _Layout:
        names = dict.fromkeys(name for name, _ in _flatten(record, "", 0))
        leaves = list(_iterate_leaves(record, (), 0))
        places = [(keys, None if not isinstance(value, list) else len(value)) for keys, value in leaves
                  if not _is_list_of(value, str)]  # fmt: skip
        labels = [(keys, value) for keys, value in leaves if _is_list_of(value, str)]
        return cls(tuple(names), tuple(places), tuple(labels))

    def read(self, record: Mapping[str, Any]) -> array[float]:
        """Return the numbers of an object in the order of ``names``."""
        try:
            row: list[float] = []
            for keys, count in self.places:
                value: Any = record
                for key in keys:
                    value = value[key]
                if count is None:
                    row.append(value)
                elif len(value) == count and isinstance(value, list):
                    row += value
                else:
                    break
            numbers = array("d", row)
            if len(numbers) == len(self.names) and all(self._has_labels(record, *pair) for pair in self.labels):
                return numbers
        except (KeyError, TypeError, OverflowError):  # another layout, or missing values
            pass
        values = dict(_flatten(record, "", 0))
        return array("d", [values.get(name, np.nan) for name in self.names])

    @staticmethod
    def _has_labels(record: Mapping[str, Any], keys: tuple[str, ...], labels: list[str]) -> bool:
        value: Any = record
        for key in keys:
            value = value[key]
        return bool(value == labels)


def _iterate_leaves(
    record: Mapping[str, Any], keys: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the numbers, lists of numbers and lists of texts of an object, with the keys that lead to them."""
    for key, value in record.items():
        if isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _iterate_leaves(value, (*keys, key), depth + 1)
        elif isinstance(value, int | float | None) or _is_list_of(value, int | float | None) or _is_list_of(value, str):
            yield (*keys, key), value


def _iterate_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_LENGTH + 1):
            number += 1
            if len(line) > MAX_LINE_LENGTH:
                raise _make_error(path, number, f"it is longer than {MAX_LINE_LENGTH:,} bytes")
            if line.strip():
                yield number, line


def _parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line; None if it is none."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # also bytes that are no text, and numbers of thousands of digits
        return None
    return record if isinstance(record, dict) else None


def _check_first_object(path: Path, number: int, line: bytes, record: Mapping[str, Any]) -> None:
    """Refuse an object that contains all samples, and one with a repeated key, of which only the last would be read."""
    for keys, value in _iterate_leaves(record, (), 0):
        if isinstance(value, list) and len(value) > 1 and parse_time_name(".".join(keys)) is not None:
            reason = f"{'.'.join(keys)!r} is a list of {len(value)} times, but each object is one sample"
            raise _make_error(path, number, reason)

    def refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in content if names.count(name) > 1)
            raise _make_error(path, number, f"the key {repeated[:40]!r} is there more than once")
        return content

    json.loads(line.decode("utf-8-sig"), object_pairs_hook=refuse_repeated_keys)


def _flatten(record: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, float]]:
    """Yield name and value of every number of an object."""
    labels = next((record[key] for key in NAME_KEYS if _is_list_of(record.get(key), str)), None)
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _flatten(value, f"{name}.", depth + 1)
        elif _is_list_of(value, int | float | None):
            named = labels is not None and len(labels) == len(value)
            for k, entry in enumerate(value):
                yield f"{name}.{labels[k]}" if named and labels else f"{name}{k + 1}", _to_number(entry)
        elif isinstance(value, int | float | None):
            yield name, _to_number(value)


def _find_labels(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the texts of numbered joint names, such as name_0 and name_1, as lists called names."""
    numbered: dict[tuple[str, ...], dict[int, str]] = {}
    for keys, value in _iterate_texts(record, (), 0):
        parsed = parse_label_name(".".join(keys))
        if parsed is not None and parsed[1] is not None:
            numbered.setdefault(parsed[0], {})[parsed[1]] = value
    return {".".join((*scope, "names")): tuple(texts[k] for k in sorted(texts)) for scope, texts in numbered.items()}


def _iterate_texts(
    record: Mapping[str, Any], keys: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in record.items():
        if isinstance(value, str):
            yield (*keys, key), value
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _iterate_texts(value, (*keys, key), depth + 1)


def _name_objects(record: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Return an object in which lists of objects are objects, whose keys are names or numbers from 1."""
    named = {}
    for key, value in record.items():
        if _is_list_of(value, dict) and depth < MAX_DEPTH:
            names = [next((each[name] for name in ITEM_NAME_KEYS if name in each), None) for each in value]
            is_named = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
            keys = [str(name) for name in names] if is_named else [str(k + 1) for k in range(len(value))]
            named[key] = _name_objects(dict(zip(keys, value, strict=True)), depth + 1)
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            named[key] = _name_objects(value, depth + 1)
        else:
            named[key] = value
    return named


def _is_list_of(value: object, kind: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, kind) for entry in value)


def _to_number(value: float | None) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return np.inf


def _make_error(path: Path, number: int, reason: str) -> InputError:
    return InputError(
        f"{path}, line {number}: {reason}; write one JSON object per line, such as "
        '{"t": 0.01, "q": [0.1, 0.2], "tau": [3, 4]}'
    )


def _report_truncated(number: int) -> Finding:
    return Finding(
        LogFindingCode.TRUNCATED,
        Severity.REPAIRED,
        f"the last line ({number}) is incomplete",
        remedy="it was dropped",
        fields={"line": number},
    )

"""Arrays of MATLAB files up to version 7.2; called in the process of ``array_server``.

Fields of structs are called ``data.q``. A struct array with one struct per sample gives one row per struct, and a cell
array of matrices one array per cell. Numeric variables are read when they are needed, structs at once.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from ytheta.logs.reading.column_names import parse_label_name
from ytheta.logs.reading.formats.array_server import NUMBERS, ListedArray, Listing, RefusedError
from ytheta.logs.reading.memory import list_texts

NUMERIC_CLASSES = frozenset(
    ["double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical"]
)
# Largest number of arrays. Chosen on: reasoning; a log has fewer.
MAX_ARRAYS = 10_000
# Depth of structs within structs. Chosen on: rule of thumb.
MAX_DEPTH = 20
# Largest number of cells of a cell array that is not one row per sample. Chosen on: rule of thumb.
MAX_CELLS = 1000


def list_arrays(path: Path) -> Listing:
    """List the matrices of a file, and those in its structs and cell arrays."""
    arrays: list[ListedArray] = []
    others: dict[str, str] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for name, shape, kind in scipy.io.whosmat(str(path)):
        if (
            kind in ("char", "cell")
            and parse_label_name(name) is not None
            and (labels := _read_labels(_load(path, name)))
        ):
            texts[name] = labels
        elif kind in NUMERIC_CLASSES:
            arrays.append(ListedArray(name, tuple(map(int, shape)), None, partial(_load_numbers, path, name)))
        elif kind in ("struct", "cell"):
            _add(name, _load(path, name), 0, arrays, others, texts)
        else:
            others[name] = "a text" if kind == "char" else f"a MATLAB object ({kind}); save matrices or structs instead"
    return Listing(arrays, others, texts)


def _load(path: Path, name: str) -> Any:
    return scipy.io.loadmat(str(path), variable_names=[name], verify_compressed_data_integrity=True)[name]


def _load_numbers(path: Path, name: str) -> Any:
    """Load a numeric variable, whose listing does not say whether it is complex."""
    values = _load(path, name)
    if values.dtype.kind not in NUMBERS:
        raise RefusedError(f"{name!r} contains numbers of type {values.dtype}; save its real values")
    return values


def _read_labels(value: Any) -> tuple[str, ...]:
    """Return the texts of a char matrix, one per row, or of a cell array of texts; nothing if it contains others."""
    if not isinstance(value, np.ndarray):
        return ()
    cells = list(value.ravel(order="F"))
    if value.dtype == object and all(isinstance(cell, np.ndarray) and cell.size == 1 for cell in cells):
        return list_texts([cell.item() for cell in cells])
    return list_texts(cells) if value.dtype.kind in "US" else ()


def _add(
    name: str,
    value: Any,
    depth: int,
    arrays: list[ListedArray],
    others: dict[str, str],
    texts: dict[str, tuple[str, ...]],
) -> None:
    if len(arrays) + len(others) > MAX_ARRAYS:
        raise RefusedError(f"it has more than {MAX_ARRAYS} arrays; a log has fewer")
    if not isinstance(value, np.ndarray) or depth > MAX_DEPTH:
        others[name] = f"a value of type {type(value).__name__}"
    elif parse_label_name(name) is not None and (labels := _read_labels(value)):
        texts[name] = labels
    elif value.dtype.names:
        for field in value.dtype.names:
            _add_entries(f"{name}.{field}", value[field], depth, arrays, others, texts, separator="")
    elif value.dtype == object:
        _add_entries(name, value, depth, arrays, others, texts, separator="cells")
    elif value.dtype.kind in NUMBERS:
        arrays.append(ListedArray(name, value.shape, value.nbytes, lambda: value))
    else:
        others[name] = "a text" if value.dtype.kind in "US" else f"an array of {value.dtype}"


def _add_entries(
    name: str,
    entries: Any,
    depth: int,
    arrays: list[ListedArray],
    others: dict[str, str],
    texts: dict[str, tuple[str, ...]],
    *,
    separator: str,
) -> None:
    """Add the contents of the cells of a cell array, or of one field of all structs of a struct array."""
    values = list(entries.ravel(order="F"))
    if len(values) == 1:
        _add(name, values[0], depth + 1, arrays, others, texts)
        return
    if not separator or len(values) > MAX_CELLS:
        rows = _stack_rows(values)
        if rows is None:
            others[name] = f"{len(values):,} entries of different kinds or sizes"
        else:
            arrays.append(ListedArray(name, rows.shape, rows.nbytes, lambda: rows))
        return
    for k, value in enumerate(values):
        _add(f"{name}{k + 1}", value, depth + 1, arrays, others, texts)


def _stack_rows(values: list[Any]) -> Any:
    """Return small numeric arrays of the same size as the rows of one array; None if they are not."""
    first = values[0] if values else None
    if not all(
        isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS and value.size == getattr(first, "size", -1)
        for value in values
    ):
        return None
    return np.array([value.ravel() for value in values], dtype=np.float64) if values else None

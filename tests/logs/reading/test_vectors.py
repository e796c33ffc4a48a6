"""Columns whose cells are vectors give one column for each entry, and lists of texts the names of the joints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.support.log_files import ARM, ARM_LOG, assert_same_log, codes_above_notes, write_file
from ytheta.errors import InputError
from ytheta.logs.reading.cells import parse_list
from ytheta.logs.reading.read import read_log

ORDER = [1, 0]  # of the joints in the files, which is not that of the robot
NAMES = [ARM.actuated[k] for k in ORDER]
assert ARM_LOG.qd is not None
assert ARM_LOG.tau is not None
VECTORS = {"position": ARM_LOG.q[:, ORDER], "velocity": ARM_LOG.qd[:, ORDER], "effort": ARM_LOG.tau[:, ORDER]}
CELLS = {"time": ARM_LOG.t.tolist(), "name": [NAMES] * len(ARM_LOG.t)}
CELLS |= {name: values.tolist() for name, values in VECTORS.items()}


def make_pandas_arrays(cells: dict[str, Any]) -> pd.DataFrame:
    arrays = {name: list(np.array(values)) for name, values in cells.items() if name in VECTORS}
    return pd.DataFrame(cells | arrays)


def make_polars_arrays(cells: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(cells).with_columns(pl.col(list(VECTORS)).list.to_array(len(ORDER)))


MAKERS = {"pandas": pd.DataFrame, "arrays": make_pandas_arrays, "polars": pl.DataFrame, "fixed": make_polars_arrays}


@pytest.mark.parametrize("maker", MAKERS)
def test_vectors_and_names_in_the_cells_of_frames(maker: str) -> None:
    log = read_log(MAKERS[maker](CELLS), ARM)
    assert_same_log(log, ARM_LOG)
    assert not codes_above_notes(log)
    # The twin: without names, the order is that of the robot.
    without = {name: values for name, values in CELLS.items() if name != "name"}
    np.testing.assert_array_equal(read_log(MAKERS[maker](without), ARM).q, VECTORS["position"])


@pytest.mark.parametrize("maker", ["polars", "fixed"])
def test_vectors_in_parquet_files(maker: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    MAKERS[maker](CELLS).write_parquet(path, row_group_size=40)
    assert_same_log(read_log(path, ARM), ARM_LOG)


LISTS: dict[str, Callable[[list[Any]], str]] = {
    "list": str,
    "tuple": lambda entries: str(tuple(entries)),
    "array of Python": lambda entries: str(entries) if isinstance(entries[0], str) else f"array('d', {entries})",
    "array of NumPy": lambda entries: "[" + " ".join(f"{entry!r}" for entry in entries) + "]",
}


@pytest.mark.parametrize("kind", LISTS)
def test_lists_in_text_files(kind: str, tmp_path: Path) -> None:
    texts = {name: [LISTS[kind](cell) for cell in cells] for name, cells in CELLS.items() if name != "time"}
    pd.DataFrame({"time": CELLS["time"], **texts}).to_csv(tmp_path / "log.csv", index=False)
    assert_same_log(read_log(tmp_path / "log.csv", ARM), ARM_LOG)


def test_missing_vectors_are_missing_rows() -> None:
    cells: dict[str, Any] = CELLS | {"effort": [None, *CELLS["effort"][1:]]}
    for frame in (pd.DataFrame(cells), pl.DataFrame(cells)):
        log = read_log(frame, ARM)
        assert len(log) == len(ARM_LOG) - 1
        assert codes_above_notes(log) == {"missing"}


def test_vectors_of_other_lengths_and_names_that_change_are_refused(tmp_path: Path) -> None:
    cells: dict[str, Any] = CELLS | {"effort": [*CELLS["effort"][:-1], [1.0]]}
    with pytest.raises(InputError, match=r"row 149: '\[1.0\]' in the column 'effort' is not a vector of 2 numbers"):
        read_log(pd.DataFrame(cells), ARM)
    pl.DataFrame(cells).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match="no columns tau1"):
        read_log(tmp_path / "log.parquet", ARM, strict=True)
    with pytest.raises(InputError, match=r"row 1: the joint names in the column 'name' are others"):
        read_log(pl.DataFrame(CELLS | {"name": [NAMES, NAMES[::-1]] * (len(ARM_LOG) // 2)}), ARM)
    lines = ["time,position,effort", *(f'{t},"[1.0, 2.0]","[1.0, 2.0]"' for t in range(20)), '20,"[1.0]","[1.0, 2.0]"']
    with pytest.raises(InputError, match=r"row 20: .* 'position' is not a vector"):
        read_log(write_file(tmp_path, "\n".join(lines)), ARM)


def test_lists_in_texts() -> None:
    assert parse_list("[1, 2.5]") == parse_list("(1, 2.5,)") == parse_list("[1 2.5]") == ["1", "2.5"]
    assert parse_list("array([1., 2.5], dtype=float32)") == ["1.", "2.5"]
    for text in ("", "1, 2", "[1, [2]]", "run (2)", "2026-03-01"):
        assert not parse_list(text)

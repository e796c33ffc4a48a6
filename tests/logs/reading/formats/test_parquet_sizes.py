"""Sizes that Parquet files declare: files of every kind are accepted, and files whose numbers disagree are refused."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS
from ytheta.engine.limited_process import EndReason, ProcessEndedError
from ytheta.errors import InputError
from ytheta.logs.reading.formats.parquet import DeclaredSizes, read_parquet
from ytheta.logs.reading.read import read_log

ROWS = 3000
TABLE = pl.DataFrame(
    {
        "noise": np.random.default_rng(0).normal(size=ROWS),
        "zero": np.zeros(ROWS),
        "steps": np.arange(ROWS) // 7,
        "text": ["a", "b", "c"] * (ROWS // 3),
        "missing": [None if k % 5 else float(k) for k in range(ROWS)],
        "flags": np.arange(ROWS) % 3 == 0,
    }
)
OPTIONS: dict[str, dict[str, Any]] = {
    "zstd": {"compression": "zstd"},
    "snappy": {"compression": "snappy"},
    "plain": {"compression": "uncompressed"},
    "groups": {"row_group_size": 100},
    "pages": {"data_page_size": 512},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_intact_files_are_accepted(options: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    TABLE.write_parquet(path, **OPTIONS[options])
    sizes = DeclaredSizes(path)
    for name in TABLE.columns:
        sizes.check_column(name)


def write_varint(number: int) -> bytes:
    content = b""
    while number > 127:
        content += bytes([number & 127 | 128])
        number >>= 7
    return content + bytes([number])


def test_pages_that_promise_too_much_are_refused(tmp_path: Path) -> None:
    """The number of values of the first page, in its header, becomes larger."""
    path = tmp_path / "table.parquet"
    TABLE.select("noise").write_parquet(path, compression="uncompressed")
    content = path.read_bytes()
    before, after = write_varint(2 * ROWS), write_varint(2 * (ROWS + 4096))
    assert len(before) == len(after)
    place = content.index(before)
    path.write_bytes(content[:place] + after + content[place + len(after) :])
    with pytest.raises(InputError, match=f"declares {ROWS + 4096} values, but there are {ROWS}|instead of {ROWS}"):
        DeclaredSizes(path).check_column("noise")


def make_footer(depth: int, arrow: bytes = b"") -> bytes:
    """A footer in the compact protocol: a column within ``depth`` others, no rows, and a schema of Arrow."""
    root, group, column = (
        b"\x35\x00\x18\x01r\x15\x02\x00",
        b"\x35\x00\x18\x01g\x15\x02\x00",
        b"\x15\x0a\x25\x00\x18\x01t\x00",
    )
    schema = b"\xfc" + write_varint(depth + 2) + root + depth * group + column
    note = b"\x18\x0cARROW:schema\x18" + write_varint(len(arrow)) + arrow + b"\x00"
    return b"\x15\x02\x19" + schema + b"\x16\x00\x19\x0c" + (b"\x19\x1c" + note if arrow else b"") + b"\x00"


def write_footer(path: Path, footer: bytes) -> Path:
    path.write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


def test_columns_in_columns_are_bounded(tmp_path: Path) -> None:
    """Polars reads them by recursion, and with ten thousand the process ends without an exception."""
    path = tmp_path / "table.parquet"
    for depth, words in ((3, "contains no rows"), (10_000, "nested too deeply")):
        with pytest.raises(InputError, match=words):
            read_log(write_footer(path, make_footer(depth)), ARM)
    assert pl.scan_parquet(write_footer(path, make_footer(3))).collect_schema() != {}  # a footer that Polars accepts


def test_long_schemas_are_tried_in_a_child_first(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    for size, is_long in ((1000, False), (100_000, True)):
        assert DeclaredSizes(write_footer(path, make_footer(0, b"A" * size))).check_footer() is is_long
    with pytest.raises(InputError, match="cannot be read as Parquet"):  # what Polars refuses is refused as ever
        read_log(path, ARM)
    pl.DataFrame({f"column{k}": [1.0] for k in range(300)} | {"t": [0.0]}).write_parquet(path)
    assert DeclaredSizes(path).check_footer()
    assert "t" in read_parquet(path).names
    with (
        mock.patch(
            "ytheta.logs.reading.formats.parquet.run_limited",
            side_effect=ProcessEndedError("it ended", EndReason.CRASHED),
        ),
        pytest.raises(InputError, match=r"table\.parquet cannot be read as Parquet: it ended; write it again"),
    ):
        read_parquet(path)


@pytest.mark.parametrize("length", [0, 10, 2**31, 2**32 - 1])
def test_footers_of_wrong_length_are_refused(length: int, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    TABLE.write_parquet(path)
    path.write_bytes(path.read_bytes()[:-8] + struct.pack("<I", length) + b"PAR1")
    with pytest.raises(InputError, match="is damaged"):
        DeclaredSizes(path).check_column("noise")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    for content in (b"PAR1", b"PAR1" + 8 * b"\x00" + b"PAR1", b"x" * 100, b"\x1c" * 5000 + b"\x88\x13\x00\x00PAR1"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is damaged"):
            DeclaredSizes(path).check_column("noise")


@pytest.mark.parametrize("damage", range(60))
def test_damaged_logs_are_refused_or_read(damage: int, tmp_path: Path) -> None:
    """Whatever is changed: either our error, or a log; never another error."""
    path = tmp_path / "log.parquet"
    pl.DataFrame(ARM_COLUMNS).write_parquet(path, compression=("zstd", "uncompressed")[damage % 2])
    rng = np.random.default_rng(damage)
    content = bytearray(path.read_bytes())
    places = rng.integers(0, len(content), 1 + damage % 5) if damage % 3 else -1 - rng.integers(0, 1500, 2)
    for place in places:
        content[place] = rng.integers(0, 256)
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read_log(path, ARM)

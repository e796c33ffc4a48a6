"""Parquet logs: row groups, other types, damaged files, and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_file_refused, assert_same_log, write_file
from ytheta.logs.reading.read import read_log


def test_parquet_files_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "log [1]*.parquet"  # no wildcards
    pl.DataFrame(ARM_COLUMNS).write_parquet(path, row_group_size=40)
    assert_same_log(read_log(path, ARM), ARM_LOG)
    pl.DataFrame(ARM_COLUMNS).with_columns(pl.lit("x").alias("remark"), pl.col("q1").cast(pl.Float32)).write_parquet(
        path
    )
    np.testing.assert_allclose(read_log(path, ARM).q, ARM_LOG.q, rtol=1e-6)  # single precision
    pl.DataFrame(ARM_COLUMNS).with_columns(pl.lit("x").alias("q1")).write_parquet(path)
    assert_file_refused(path, "'q1'", "texts ('x' in row 0)")
    path.write_bytes(path.read_bytes()[:-20])
    assert_file_refused(path, str(path), "Parquet", "copied completely")
    assert_file_refused(write_file(tmp_path, "no parquet", "a.parquet"), "does not end as a Parquet file")
    pl.DataFrame({name: [] for name in ARM_COLUMNS}, schema=dict.fromkeys(ARM_COLUMNS, pl.Float64)).write_parquet(path)
    assert_file_refused(path, "contains no rows")


def test_reading_in_chunks_gives_the_same_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(ARM_COLUMNS).write_parquet(path, row_group_size=40)
    whole = read_log(path, ARM, mapping={"rows": [3, 60]})
    monkeypatch.setattr("ytheta.logs.reading.assemble.ROWS_PER_CHUNK", 7)
    small = read_log(path, ARM, mapping={"rows": [3, 60]})
    assert len(small) == 57
    for ours, theirs in ((small.t, whole.t), (small.q, whole.q), (small.tau, whole.tau)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux")
def test_a_long_file_needs_little_memory_beside_the_log(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import polars, ytheta
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.formats.parquet import read_parquet
robot, path = ytheta.load("ur10"), Path(sys.argv[1])
def peak():  # ru_maxrss would count the process that started this one
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
log = assemble_log(read_parquet(path), robot, ColumnMapping(), "log")
print(peak() - before, log.t.nbytes + log.q.nbytes + log.tau.nbytes)
"""
    path = tmp_path / "long.parquet"
    column = np.random.default_rng(0).standard_normal(1_500_000)
    names = ["t", *(f"{kind}{k}" for kind in ("q", "tau") for k in range(1, 7))]
    pl.DataFrame(dict.fromkeys(names, column)).write_parquet(path, compression="uncompressed")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    peak, result = (int(figure) for figure in done.stdout.split())
    # The threads of Polars need about 40 MB more for files of any length.
    assert peak < result + 70e6

"""Small files that declare huge content: one sentence, without the memory that they ask for, in every format."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import polars as pl
import pytest
import scipy.io

from tests.support.array_files import name_matrices, write_hdf5
from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_file_refused, assert_same_log
from tests.support.paths import ROOT
from ytheta.logs.reading import assemble
from ytheta.logs.reading.read import read_log

MAX_MEMORY = 4 * 2**30  # bytes of addresses, of which Polars reserves 1 to 2 GB
MANY = 30 * 10**9


def write_wide_hdf5(path: Path) -> None:
    """A matrix of 30 · 10⁹ columns, of which none is stored, beside a log."""
    write_hdf5(path, name_matrices(ARM_LOG))
    with h5py.File(path, "a") as file:
        file.create_dataset("wide", (len(ARM_LOG), MANY), chunks=(1, 1000), dtype="f8")


def write_many_wide_hdf5(path: Path) -> None:
    """Matrices that are narrow enough one by one."""
    write_hdf5(path, name_matrices(ARM_LOG))
    with h5py.File(path, "a") as file:
        for k in range(3000):
            file.create_dataset(f"wide{k}", (len(ARM_LOG), 9_999), chunks=(1, 1000), dtype="f8")


def write_wide_mat(path: Path) -> None:
    """A matrix whose header declares 2³¹ - 1 columns."""
    rows = len(ARM_LOG)
    scipy.io.savemat(path, {**name_matrices(ARM_LOG), "wide": np.zeros((rows, 77_777))}, do_compression=False)
    dimensions = np.array([rows, 77_777], dtype="<i4").tobytes()
    content = path.read_bytes()
    assert content.count(dimensions) == 1
    start = content.index(dimensions)
    content = content.replace(dimensions, np.array([rows, 2**31 - 1], dtype="<i4").tobytes())
    path.write_bytes(content[: start + 4096])


def write_constant_parquet(path: Path) -> None:
    """Fifty million equal rows, as 0.8 MB."""
    rows = 50_000_000
    pl.select([pl.repeat(0.0, rows).alias(name) for name in ("t", "q1", "q2", "tau1", "tau2")]).write_parquet(path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces a limit of memory")
@pytest.mark.parametrize(
    ("name", "write", "code"),
    [
        ("wide.h5", write_wide_hdf5, 0),
        ("many.h5", write_many_wide_hdf5, 0),
        ("wide.mat", write_wide_mat, 0),
        ("constant.parquet", write_constant_parquet, 1),
    ],
)
def test_declared_sizes_are_not_believed(name: str, write: Callable[[Path], None], code: int, tmp_path: Path) -> None:
    """Matrices that are no part of the log do no harm; a file without a motion is refused."""
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 3_000_000

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))

    run = subprocess.run(
        [sys.executable, "-m", "ytheta", "check", "lu-two-link", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=limit_memory,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "Traceback" not in run.stderr
    assert run.returncode == code, run.stderr
    assert "memory" not in run.stderr.lower()


def test_a_wide_matrix_is_no_part_of_the_log(tmp_path: Path) -> None:
    write_wide_hdf5(tmp_path / "log.h5")
    assert_same_log(read_log(tmp_path / "log.h5", ARM), ARM_LOG)


def test_a_log_must_fit_into_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(ARM_COLUMNS).write_parquet(path)
    size = 8 * len(ARM_LOG) * len(ARM_COLUMNS)
    monkeypatch.setattr(assemble, "MIN_CHECKED_SIZE", 0)
    monkeypatch.setattr(assemble, "measure_free_memory", lambda: assemble.MEMORY_PER_BYTE * size)
    read_log(path, ARM)
    monkeypatch.setattr(assemble, "measure_free_memory", lambda: assemble.MEMORY_PER_BYTE * size - 1)
    assert_file_refused(path, "of memory for 150 rows of 7 columns", "are free; choose rows with --rows")
    read_log(path, ARM, rows=(0, 140))

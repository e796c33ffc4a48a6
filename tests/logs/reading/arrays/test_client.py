"""The process that reads files of arrays: what it imports, how it ends, and what becomes of its failures."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from tests.support.array_files import name_matrices, write_hdf5
from tests.support.log_files import ARM, ARM_LOG, assert_same_log
from tests.support.processes import is_running
from ytheta.errors import InputError
from ytheta.logs.reading.arrays.client import ArrayFile
from ytheta.logs.reading.read import read_log

MATRICES = name_matrices(ARM_LOG)


def test_modules_beside_the_log_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, marker = write_hdf5(tmp_path / "log.h5", MATRICES), tmp_path / "marker"
    for name in ("h5py", "numpy", "json", "ytheta"):
        (tmp_path / f"{name}.py").write_text(f"open({str(marker)!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert_same_log(read_log("log.h5", ARM), ARM_LOG)
    assert not marker.exists()
    assert path.exists()


def test_the_process_ends_with_the_table(tmp_path: Path) -> None:
    file = ArrayFile(write_hdf5(tmp_path / "log.h5", MATRICES), "hdf5", "HDF5 file")
    arrays = {array.name: array for array in file.list_arrays()}
    pid = file._process.pid
    assert is_running(pid)
    assert np.array_equal(arrays["q"].values, ARM_LOG.q)
    del file, arrays
    gc.collect()
    assert not is_running(pid)


def test_a_process_that_dies_is_an_input_error(tmp_path: Path) -> None:
    file = ArrayFile(write_hdf5(tmp_path / "log.h5", MATRICES), "hdf5", "HDF5 file")
    first, *_ = file.list_arrays()
    os.kill(file._process.pid, 9)
    with pytest.raises(InputError, match="cannot be read as an HDF5 file: the library that reads it has crashed"):
        _ = first.values

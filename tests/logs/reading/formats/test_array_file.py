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
from ytheta.errors import InputError, MissingExtraError
from ytheta.logs.reading.formats import arrays as client
from ytheta.logs.reading.formats.arrays import ArrayFile
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


def test_a_process_that_takes_too_long_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_hdf5(tmp_path / "log.h5", MATRICES)
    assert_same_log(read_log(path, ARM), ARM_LOG)  # the twin
    monkeypatch.setattr(client, "MIN_SECONDS", 0.01)
    with pytest.raises(InputError, match=r"cannot be read as an HDF5 file: it takes longer than 0\.01\d* s; write it"):
        read_log(path, ARM)


def test_a_missing_library_is_named_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_hdf5(tmp_path / "log.h5", MATRICES)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "h5py.py").write_text("raise ModuleNotFoundError(name='h5py')")
    monkeypatch.syspath_prepend(tmp_path / "hidden")
    with pytest.raises(MissingExtraError, match=r"log\.h5 is an HDF5 file, and the library h5py .* 'ytheta\[hdf5\]'"):
        read_log(path, ARM)


def test_a_process_that_dies_is_an_input_error(tmp_path: Path) -> None:
    file = ArrayFile(write_hdf5(tmp_path / "log.h5", MATRICES), "hdf5", "HDF5 file")
    first, *_ = file.list_arrays()
    os.kill(file._process.pid, 9)
    with pytest.raises(InputError, match="cannot be read as an HDF5 file: the library that reads it has crashed"):
        _ = first.values

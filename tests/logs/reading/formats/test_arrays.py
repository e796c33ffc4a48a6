"""MATLAB and HDF5 files give the same log as the text file of the same numbers, whichever axis of a matrix is time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars as pl
import pytest

from tests.support.array_files import name_matrices, write_hdf5, write_mat, write_mat73
from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    codes_above_notes,
    format_csv,
    load_shared_robot,
    write_file,
)
from tests.support.paths import SHARED_DATA
from ytheta.errors import MissingExtraError
from ytheta.logs.reading.formats.arrays import read_mat
from ytheta.logs.reading.read import read_log

MATRICES = name_matrices(ARM_LOG)
TRANSPOSED = {name: values.T if values.ndim == 2 else values for name, values in MATRICES.items()}
NESTED = {"run": {"arm": MATRICES, "note": "a text"}, "gains": np.eye(3)}
STRUCTS = np.zeros((1, 150), dtype=[("t", object), ("q", object), ("qd", object), ("tau", object)])
for _k in range(150):
    STRUCTS[0, _k] = tuple(np.atleast_2d(values[_k]) for values in MATRICES.values())
CELLS = np.empty((1, 2), dtype=object)
CELLS[0, 0], CELLS[0, 1] = ARM_LOG.q[:, :1], ARM_LOG.q[:, 1:]

MAT_FILES: dict[str, dict[str, Any]] = {
    "matrices": MATRICES,
    "transposed": TRANSPOSED,
    "columns": ARM_COLUMNS,
    "struct in a struct": NESTED,
    "struct with transposed matrices": {"data": TRANSPOSED},
    "a struct per sample": {"samples": STRUCTS},
    "cell array": MATRICES | {"q": CELLS},
    "timeseries": {
        name: {"Time": ARM_LOG.t[:, None], "Data": values} for name, values in MATRICES.items() if name != "t"
    },
    "structures with time": {
        name: {"time": ARM_LOG.t[:, None], "signals": {"values": values, "dimensions": 2.0, "label": ""}}
        for name, values in MATRICES.items()
        if name != "t"
    },
    "output of a simulation": {"out": {"tout": ARM_LOG.t[:, None]} | {k: v for k, v in MATRICES.items() if k != "t"}},
}


def make_table() -> np.ndarray:
    """One record per sample."""
    table = np.zeros(150, dtype=[(name, "f8") for name in ARM_COLUMNS])
    for name, values in ARM_COLUMNS.items():
        table[name] = values
    return table


@pytest.fixture
def from_text(tmp_path: Path) -> Any:
    """The log that the text file of the same numbers gives."""
    return read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM)


@pytest.mark.parametrize("content", MAT_FILES)
@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files(content: str, compressed: bool, tmp_path: Path, from_text: Any) -> None:
    log = read_log(write_mat(tmp_path / "log.mat", MAT_FILES[content], compressed=compressed), ARM)
    assert_same_log(log, from_text)
    assert codes_above_notes(log) == set()
    assert log.origin is not None
    assert log.origin.format == "MATLAB file"


def test_a_changed_number_is_noticed(tmp_path: Path, from_text: Any) -> None:
    """The twin: one other torque, and exchanged joints."""
    changed = MATRICES | {"tau": MATRICES["tau"] + 1e-9 * (np.arange(150) == 7)[:, None]}
    with pytest.raises(AssertionError):
        assert_same_log(read_log(write_mat(tmp_path / "a.mat", changed), ARM), from_text)
    with pytest.raises(AssertionError):
        assert_same_log(
            read_log(write_hdf5(tmp_path / "a.h5", MATRICES | {"q": MATRICES["q"][:, ::-1]}), ARM), from_text
        )


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_hdf5(path, MATRICES),
        lambda path: write_hdf5(path, TRANSPOSED),
        lambda path: write_hdf5(path, ARM_COLUMNS),
        lambda path: write_hdf5(path, {f"run/arm/{k}": v for k, v in MATRICES.items()} | {"images": np.zeros(9)}),
        lambda path: write_hdf5(path, {"observations/qpos": ARM_LOG.q, "observations/qvel": ARM_LOG.qd,
                                       "observations/effort": ARM_LOG.tau, "t": ARM_LOG.t}),
        lambda path: write_hdf5(path, {"log": make_table()}),
        lambda path: write_hdf5(path, MATRICES, compression="gzip", chunks=True),
    ],
)  # fmt: skip
def test_hdf5_files(write: Callable[[Path], Path], tmp_path: Path, from_text: Any) -> None:
    log = read_log(write(tmp_path / "log.h5"), ARM)
    assert_same_log(log, from_text)
    assert codes_above_notes(log) == set()


def test_matlab_7_3_files(tmp_path: Path, from_text: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_log(read_log(write_mat73(tmp_path / "log.mat", MATRICES), ARM), from_text)
    nested = write_mat73(tmp_path / "b.mat", {f"data/{name}": values for name, values in MATRICES.items()})
    log = read_log(nested, ARM)
    assert_same_log(log, from_text)
    assert log.origin is not None
    assert log.origin.format == "MATLAB 7.3 file"
    blocker = tmp_path / "blocked"
    blocker.mkdir()
    (blocker / "h5py.py").write_text("raise ModuleNotFoundError('blocked', name='h5py')", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(blocker), *sys.path])
    with pytest.raises(MissingExtraError, match=r"MATLAB 7.3 file, and the library h5py .* 'ytheta\[hdf5\]'"):
        read_log(nested, ARM)


def test_a_cell_array_of_matlab_7_3(tmp_path: Path, from_text: Any) -> None:
    path = write_mat73(tmp_path / "log.mat", {name: MATRICES[name] for name in ("t", "qd", "tau")})
    with h5py.File(path, "r+") as file:
        cells = [file.create_dataset(f"#refs#/{k}", data=ARM_LOG.q[:, k : k + 1].T) for k in range(2)]
        file["q"] = np.array([[cell.ref] for cell in cells], dtype=h5py.ref_dtype)
    assert_same_log(read_log(path, ARM), from_text)


def test_matrices_of_a_single_joint(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "log.mat", {"t": ARM_LOG.t, "q": ARM_LOG.q[:, :1], "tau1": ARM_LOG.t})
    assert read_mat(path, ["hinge"]).names == ("t", "q1", "tau1")
    assert read_mat(path, ["shoulder", "elbow"]).names == ("t", "q", "tau1")


def test_only_data_inside_the_file_are_read(tmp_path: Path) -> None:
    path, other = tmp_path / "log.h5", write_hdf5(tmp_path / "other.h5", MATRICES)
    write_hdf5(path, MATRICES)
    with h5py.File(path, "a") as file:
        file["more"] = h5py.ExternalLink(str(other), "q")
    assert_file_refused(path, "is refused", "'more' is an external link to another file", "copy the data")
    write_hdf5(path, MATRICES)
    with h5py.File(path, "a") as file:
        layout = h5py.VirtualLayout((150, 2), "f8")
        layout[:] = h5py.VirtualSource(str(other), "q", (150, 2))
        file.create_virtual_dataset("run/virtual", layout)
    assert_file_refused(path, "'run/virtual' is a virtual dataset")
    write_hdf5(path, MATRICES)
    with h5py.File(path, "a") as file:
        file.create_dataset("outside", (150,), "f8", external=[("/etc/passwd", 0, 1200)])
    assert_file_refused(path, "'outside' stores its data in other files")
    write_hdf5(path, MATRICES)
    with h5py.File(path, "a") as file:  # the twin: links within the file, even in a circle
        file["same"] = h5py.SoftLink("/q")
        inner = file.create_group("a/b")
        inner["back"] = file["a"]
    assert_same_log(read_log(path, ARM), ARM_LOG)


def test_sizes_are_checked_before_arrays_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.h5"
    for rows, message in ((10**9, "declares 1,000,000,000 rows in"), (10**7, "has 0.08 GB but only 0 MB in the file")):
        with h5py.File(path, "w") as file:
            file.create_dataset("q", (rows, 2), chunks=(1000, 2), dtype="f8")
            file.create_dataset("t", (rows,), chunks=(1000,), dtype="f8")
        assert_file_refused(path, message)
    bomb = write_mat(tmp_path / "bomb.mat", {"data": {"q": np.zeros((30_000_000, 2))}}, compressed=True)
    assert_file_refused(bomb, "needs too much memory")


def test_faulty_files_are_refused(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "log.mat", {"a": {"t": ARM_LOG.t}, "b": {"t": ARM_LOG.t[:-1]}})
    assert_file_refused(path, "different numbers of samples (a.t has 150, b.t has 149)", "--topic a")
    assert_file_refused(path, "no group or struct 'c'", "a, b", mapping={"topic": "c"})
    path = write_mat(tmp_path / "log.mat", {"a": MATRICES, "b": MATRICES})
    assert_file_refused(path, "several groups of columns with positions (a.q1 … a.q2; b.q1 … b.q2)")
    assert_same_log(read_log(path, ARM, topic="b"), ARM_LOG)
    assert_file_refused(write_mat(tmp_path / "log.mat", {"x": np.zeros((5, 3))}), "no vector of time", "x (5, 3)")
    content = path.read_bytes()
    assert_file_refused(
        write_file(tmp_path, content[: len(content) // 2], "cut.mat"), "cannot be read as a MATLAB file"
    )
    whole = write_hdf5(tmp_path / "log.h5", MATRICES).read_bytes()
    assert_file_refused(write_file(tmp_path, whole[:3000], "cut.h5"), "cannot be read as an HDF5 file")
    assert_file_refused(write_file(tmp_path, b"not a file of arrays" * 20, "text.h5"), "cannot be read as an HDF5 file")
    assert_file_refused(write_file(tmp_path, "", "empty.mat"), "is empty")


def test_a_recorded_log_as_matlab_file(tmp_path: Path) -> None:
    """The log of the Panda, with one column per sample, equals its Parquet file."""
    source = next(iter(sorted((SHARED_DATA / "panda").glob("*.parquet"))), None)
    if source is None:
        pytest.skip("the shared logs are not here")
    robot, frame = load_shared_robot(SHARED_DATA, "panda"), pl.read_parquet(source)
    matrices = {name: frame[[f"{name}{k}" for k in range(1, 8)]].to_numpy().T for name in ("q", "qd", "tau")}
    path = write_mat(tmp_path / "panda.mat", {"t": frame["t"].to_numpy(), "franka": matrices}, compressed=True)
    assert_same_log(read_log(path, robot), read_log(source, robot))


def test_complex_numbers_are_refused(tmp_path: Path) -> None:
    complex_file = write_mat(tmp_path / "complex.mat", MATRICES | {"q": ARM_LOG.q + 1j})
    assert_file_refused(complex_file, "'q' contains numbers of type complex128", "real values")
    struct = write_mat(tmp_path / "struct.mat", {"run": MATRICES | {"q": ARM_LOG.q + 1j}})
    assert_file_refused(struct, "no columns q1")
    unused = write_mat(tmp_path / "unused.mat", MATRICES | {"spectrum": ARM_LOG.q + 1j})
    assert_same_log(read_log(unused, ARM), ARM_LOG)  # the twin: complex numbers that are not part of the log


@pytest.mark.parametrize("write", [write_mat, write_hdf5])
def test_the_option_that_chooses_one_of_two_groups_is_named(write: Callable[..., Path], tmp_path: Path) -> None:
    is_mat = write is write_mat
    runs = {"Run1": MATRICES, "Run2": MATRICES | {"q": 0.5 * ARM_LOG.q}}
    flat = {f"{run}/{name}": values for run, matrices in runs.items() for name, values in matrices.items()}
    path = write(tmp_path / ("runs.mat" if is_mat else "runs.h5"), runs if is_mat else flat)
    assert_file_refused(path, "several groups of columns with positions", "choose a group with --topic Run1, or one in")
    assert_same_log(read_log(path, ARM, topic="Run1"), ARM_LOG)
    with pytest.raises(AssertionError):  # the twin: the other group
        assert_same_log(read_log(path, ARM, topic="Run2"), ARM_LOG)


def test_files_with_very_many_groups_are_refused(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path / "many.h5", MATRICES)
    with h5py.File(path, "r+") as file:
        for k in range(10_001):
            file.create_group(f"g{k}")
    assert_file_refused(path, "more than 10000 groups and datasets")
    with h5py.File(path, "r+") as file:  # the twin
        for k in range(100, 10_001):
            del file[f"g{k}"]
    assert_same_log(read_log(path, ARM), ARM_LOG)


def test_objects_of_matlab_are_named(tmp_path: Path) -> None:
    """A timeseries in a file of version 7.3 is a row of whole numbers that refer to a table of objects."""
    path = write_mat73(tmp_path / "log.mat", {name: values for name, values in MATRICES.items() if name != "q"})
    with h5py.File(path, "a") as file:
        file["q"] = np.array([[0xDD000000, 2, 1, 1, 1, 1]], dtype=np.uint32)
        file["q"].attrs["MATLAB_class"] = np.bytes_("timeseries")
        file["q"].attrs["MATLAB_object_decode"] = np.int32(3)
    assert_file_refused(path, "'q' is a MATLAB object", "save matrices or structs")


def test_recordings_of_different_lengths_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "demos.h5"
    with h5py.File(path, "w") as file:
        for k, rows in enumerate((150, 140, 130)):
            for name, values in (("pos", ARM_LOG.q), ("vel", ARM_LOG.qd), ("torque", ARM_LOG.tau)):
                assert values is not None
                file[f"data/arm_{k}/obs/robot0_joint_{name}"] = values[:rows]
    message = assert_file_refused(path, "--topic data/arm_0/obs", "has 150", "has 140", "has 130")
    assert message.count(" has 150") == 1
    log = read_log(path, ARM, topic="data/arm_1", rate=100.0)
    assert np.array_equal(log.q, ARM_LOG.q[:140])

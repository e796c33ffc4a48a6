"""Extensions and contents of files: both must agree."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.array_files import name_matrices, write_hdf5, write_mat
from tests.support.joint_state_bags import write_bag, write_ros1_bag
from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    format_csv,
    write_file,
)
from ytheta.logs.reading.read import read_log


def test_content_of_another_format_is_named(tmp_path: Path) -> None:
    pl.DataFrame(ARM_COLUMNS).write_parquet(tmp_path / "a.parquet")
    np.savez(tmp_path / "b.npz", allow_pickle=False, **ARM_COLUMNS)
    write_hdf5(tmp_path / "c.h5", name_matrices(ARM_LOG))
    write_mat(tmp_path / "d.mat", name_matrices(ARM_LOG))
    write_ros1_bag(tmp_path / "e.bag", ARM_LOG, names=list(ARM.actuated))
    for name, kind in (
        ("a.parquet", "a Parquet file"),
        ("b.npz", "a zip archive"),
        ("c.h5", "an HDF5 file"),
        ("d.mat", "a MATLAB file"),
        ("e.bag", "a ROS 1 bag"),
    ):
        assert len(read_log(tmp_path / name, ARM)) == 150  # the twin
        for suffix in (".csv", ".log", ""):
            copy = write_file(tmp_path, (tmp_path / name).read_bytes(), f"copy{suffix}")
            assert_file_refused(copy, f"its content is that of {kind}", f"rename it to copy{Path(name).suffix}")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".npz", ".mat", ".h5", ".bag", ".mcap", ".db3"])
def test_empty_files_are_refused(suffix: str, tmp_path: Path) -> None:
    assert_file_refused(write_file(tmp_path, "", f"log{suffix}"), "is empty")
    assert "\n" not in assert_file_refused(write_file(tmp_path, b"\x00" * 40, f"log{suffix}"), f"log{suffix}")


def test_an_hdf5_file_called_mat_is_read(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path / "log.mat", name_matrices(ARM_LOG))  # SciPy and others write them without the header
    assert_same_log(read_log(path, ARM), ARM_LOG)
    assert_file_refused(write_file(tmp_path, "1,2", "log.xyz"), "ends in '.xyz'", "not a supported log format")


@pytest.mark.parametrize(
    ("compress", "name"), [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")]
)
def test_compressed_files_are_recognised(compress: Callable[[bytes], bytes], name: str, tmp_path: Path) -> None:
    content = format_csv(ARM_COLUMNS).encode()
    for file in ("log.csv", "log.csv.gz"):
        assert_file_refused(write_file(tmp_path, compress(content), file), f"compressed with {name}; decompress it")
    assert_same_log(read_log(write_file(tmp_path, content), ARM), ARM_LOG)  # the twin


def test_a_file_of_a_lerobot_dataset_is_refused_since_it_has_no_joint_names(tmp_path: Path) -> None:
    path = tmp_path / "set" / "data" / "chunk-000" / "file-000.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame(ARM_COLUMNS).write_parquet(path)
    assert_same_log(read_log(path, ARM), ARM_LOG)
    (tmp_path / "set" / "meta").mkdir()
    (tmp_path / "set" / "meta" / "info.json").write_text("{}")
    assert_file_refused(path, "a part of the LeRobot dataset set", "give the folder")


def test_a_bag_without_metadata_can_be_reindexed(tmp_path: Path) -> None:
    assert "reindex" not in assert_file_refused(tmp_path, "choose a log file in it")
    write_file(tmp_path, "content", "bag_0.mcap")
    assert_file_refused(tmp_path, "choose a log file in it", f"ros2 bag reindex {tmp_path.name}")


def test_a_container_of_other_messages_than_those_of_ros_2(tmp_path: Path) -> None:
    """The header of an MCAP file contains its profile, which is empty for messages of other systems."""
    path = next(write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=list(ARM.actuated)).glob("*.mcap"))
    content = path.read_bytes()
    assert content.count(b"ros2") >= 1
    path.write_bytes(content.replace(b"ros2", b"ros9", 1))
    assert_file_refused(path, "an MCAP file without messages of ROS 2", "JSON lines")

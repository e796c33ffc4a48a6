"""Sizes of ROS 1 bags: records within the file, and chunks of the declared size."""

from __future__ import annotations

import bz2
import struct
from pathlib import Path

import pytest

from tests.support.joint_state_bags import write_ros1_bag
from tests.support.log_files import ARM, ARM_LOG
from ytheta.logs.reading.formats.bag_files import ROS1_MAGIC, check_ros1_bag
from ytheta.logs.reading.formats.expansion import DamagedError


def make_record(fields: dict[str, bytes], data: bytes) -> bytes:
    header = b"".join(struct.pack("<I", len(k) + 1 + len(v)) + k.encode() + b"=" + v for k, v in fields.items())
    return struct.pack("<I", len(header)) + header + struct.pack("<I", len(data)) + data


def make_chunk(data: bytes, size: int, compression: str) -> bytes:
    fields = {"op": b"\x05", "compression": compression.encode(), "size": struct.pack("<I", size)}
    return ROS1_MAGIC + make_record(fields, data)


@pytest.mark.parametrize("compression", [None, "BZ2", "LZ4"])
def test_written_bags_pass(compression: str | None, tmp_path: Path) -> None:
    check_ros1_bag(write_ros1_bag(tmp_path / "a.bag", ARM_LOG, names=list(ARM.actuated), compression=compression))


BOMB = bz2.compress(bytes(100_000_000))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (make_chunk(b"1234", 5, "none"), "does not have the 5 bytes"),
        (make_chunk(BOMB, 1000, "bz2"), "does not have at most 1000 bytes"),
        (make_chunk(BOMB, 100_000_000, "bz2"), "0.1 GB but only"),
        (make_chunk(b"x" * 40, 10, "lz4"), "cannot be decompressed"),
        (make_chunk(b"xxxx", 10, "zip"), "compressed with 'zip'"),
        (make_chunk(b"1234", 4, "none")[:-2], "ends within a record"),
        (ROS1_MAGIC + struct.pack("<I", 2**32 - 1), "ends within the header"),
        (ROS1_MAGIC + struct.pack("<II", 4, 9), "cannot be parsed"),
        (ROS1_MAGIC + make_record({"op": b"\x03", "index_pos": bytes(8)}, b" " * 40), "was not closed"),
        (b"#ROSBAG V1.2\n" + bytes(50), "version 2.0"),
    ],
)
def test_contradictions_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.bag"
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=words):
        check_ros1_bag(path)


def test_a_chunk_of_the_declared_size_passes(tmp_path: Path) -> None:
    """The twin: the same records with the right size."""
    path = tmp_path / "a.bag"
    for content in (make_chunk(b"1234", 4, "none"), make_chunk(bz2.compress(bytes(1000)), 1000, "bz2")):
        path.write_bytes(content)
        check_ros1_bag(path)

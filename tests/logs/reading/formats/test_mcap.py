"""Declared sizes of MCAP files are checked before they are believed."""

from __future__ import annotations

import struct
from pathlib import Path

import lz4.frame
import pytest
from backports import zstd

from tests.support.joint_state_bags import write_bag
from tests.support.log_files import ARM, ARM_LOG, assert_file_refused
from ytheta.errors import InputError
from ytheta.logs.reading.formats.bag_files import MCAP_MAGIC, check_mcap
from ytheta.logs.reading.read import read_log

COMPRESSORS = {"": bytes, "lz4": lz4.frame.compress, "zstd": zstd.compress}
BOMB_SIZE = 200_000_000  # bytes


def make_record(code: int, content: bytes) -> bytes:
    return struct.pack("<BQ", code, len(content)) + content


def make_chunk(data: bytes, size: int, compression: str) -> bytes:
    name = compression.encode()
    head = struct.pack("<QQQII", 0, 0, size, 0, len(name)) + name
    return make_record(0x06, head + struct.pack("<Q", len(data)) + data)


def write_chunk(path: Path, chunk: bytes, *, index: bytes = b"", summary: int = 0) -> Path:
    footer = make_record(0x02, struct.pack("<QQI", summary, 0, 0))
    path.write_bytes(MCAP_MAGIC + make_record(0x01, b"header") + chunk + index + footer + MCAP_MAGIC)
    return path


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_chunks_have_the_size_that_they_declare(compression: str, tmp_path: Path) -> None:
    compress, path = COMPRESSORS[compression], tmp_path / "a.mcap"
    content = bytes(range(200))
    check_mcap(write_chunk(path, make_chunk(compress(content), 200, compression)))
    for data, size in ((compress(content), 199), (compress(content), 201), (compress(content) * 2, 200), (b"", 200)):
        with pytest.raises(InputError, match="a chunk does not have the"):
            check_mcap(write_chunk(path, make_chunk(data, size, compression)))
    with pytest.raises(InputError, match="longer than the chunk"):
        check_mcap(write_chunk(path, make_chunk(b"", 200, compression)[:-8] + struct.pack("<Q", 10)))


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_small_chunks_do_not_become_large(compression: str, tmp_path: Path) -> None:
    """Whether they declare it or not."""
    bomb, path = COMPRESSORS[compression](bytes(BOMB_SIZE)), tmp_path / "a.mcap"
    with pytest.raises(InputError, match=r"a chunk has 0\.2 GB but only"):
        check_mcap(write_chunk(path, make_chunk(bomb, BOMB_SIZE, compression)))
    with pytest.raises(InputError, match="does not have the 100 bytes"):
        check_mcap(write_chunk(path, make_chunk(bomb, 100, compression)))


def test_damaged_chunks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    for compression, words in (("zstd", "cannot be decompressed"), ("rar", "compressed with 'rar'"), ("lz4", "cannot")):
        with pytest.raises(InputError, match=words):
            check_mcap(write_chunk(path, make_chunk(b"not compressed", 14, compression)))
    with pytest.raises(InputError, match="a record is longer than the file"):
        check_mcap(write_chunk(path, struct.pack("<BQ", 0x05, 2**62)))
    with pytest.raises(InputError, match="its summary cannot be found"):
        check_mcap(write_chunk(path, b"", summary=9))


def test_the_index_agrees_with_the_chunks(tmp_path: Path) -> None:
    chunk, path = make_chunk(b"abc", 3, ""), tmp_path / "a.mcap"
    start = len(MCAP_MAGIC) + 9 + len(b"header")

    def index(place: int, size: int) -> bytes:
        return make_record(0x08, struct.pack("<QQQQIQIQQ", 0, 0, place, len(chunk), 0, 0, 0, 3, size))

    check_mcap(write_chunk(path, chunk, index=index(start, 3), summary=start + len(chunk)))
    for place, size in ((start + 1, 3), (start, 2**40)):
        with pytest.raises(InputError, match="its index does not agree with its chunks"):
            check_mcap(write_chunk(path, chunk, index=index(place, size), summary=start + len(chunk)))


def test_files_in_a_bag_are_checked(tmp_path: Path) -> None:
    folder = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=list(ARM.actuated))
    (file,) = folder.glob("*.mcap")
    assert len(read_log(folder, ARM)) == len(ARM_LOG)
    content = bytearray(file.read_bytes())
    content[9:17] = struct.pack("<Q", 2**62)  # the length of the first record
    file.write_bytes(content)
    for path in (file, folder):
        assert_file_refused(path, "a record is longer than the file", "copied completely")

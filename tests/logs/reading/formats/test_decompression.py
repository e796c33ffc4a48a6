"""Decompression with bounds, and libraries that are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import lz4.frame
import pytest
from backports import zstd

from ytheta.errors import MissingExtraError
from ytheta.logs.reading.formats.bag_files import create_decompressor, decompress, decompress_file
from ytheta.logs.reading.formats.expansion import DamagedError

COMPRESSORS = {"lz4": lz4.frame.compress, "zstd": zstd.compress}
LARGE = 200_000_000  # bytes


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_frames_have_a_bound(compression: str) -> None:
    data = COMPRESSORS[compression](bytes(1000))
    assert decompress(data, compression, 1000) == bytes(1000)
    for damaged, max_size in ((data, 999), (data * 2, 5000), (data[:-8], 5000)):
        with pytest.raises(DamagedError, match=f"at most {max_size} bytes"):
            decompress(damaged, compression, max_size)
    with pytest.raises(DamagedError, match="cannot be decompressed"):
        decompress(b"no frame at all", compression, 1000)


@pytest.mark.parametrize("compression", COMPRESSORS)
def test_files_have_a_bound(compression: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a.db3.compressed", tmp_path / "a.db3"
    content = bytes(range(256)) * 20_000  # several pieces
    source.write_bytes(COMPRESSORS[compression](content))
    decompress_file(source, target, compression)
    assert target.read_bytes() == content
    frame = source.read_bytes()
    for damaged, words in (
        (frame[:-20], "incomplete"),
        (frame + b"more", "continues after its content"),
        (b"no frame at all", "cannot be decompressed"),
        (COMPRESSORS[compression](bytes(LARGE)), "larger than a log can"),
    ):
        source.write_bytes(damaged)
        with pytest.raises(DamagedError, match=words):
            decompress_file(source, target, compression)
    assert target.stat().st_size < LARGE


@pytest.mark.parametrize(("compression", "module"), [("lz4", "lz4.frame"), ("zstd", "backports.zstd")])
def test_a_missing_library_is_not_a_damaged_file(
    compression: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.version_info >= (3, 14) and compression == "zstd":
        pytest.skip("zstd is part of this Python")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"is not installed; run: pip install 'ytheta\[rosbags\]'"):
        create_decompressor(compression)


def test_unknown_compressions_are_named() -> None:
    with pytest.raises(DamagedError, match="compressed with 'rar'"):
        create_decompressor("rar")

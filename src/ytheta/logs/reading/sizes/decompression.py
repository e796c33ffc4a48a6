"""Decompression of parts of bags with a bound on the result, by the libraries that the library for bags uses."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ytheta.errors import MissingExtraError
from ytheta.logs.reading.sizes.bounds import RECORDED, DamagedError

MODULES = {
    "bz2": ("bz2", "BZ2Decompressor"),
    "lz4": ("lz4.frame", "LZ4FrameDecompressor"),
    "zstd": ("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", "ZstdDecompressor"),
}
PIECE_SIZE = 2**20  # bytes of a decompressed file at a time


def create_decompressor(compression: str) -> Any:
    """Return a decompressor for one frame."""
    if compression not in MODULES:
        raise DamagedError(f"it is compressed with {compression[:20]!r}, which is not supported")
    module, name = MODULES[compression]
    try:
        return getattr(import_module(module), name)()
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"the bag is compressed with {compression}, and the library {module.partition('.')[0]!r} that decompresses "
            "it is not installed; run: pip install 'ytheta[rosbags]'"
        ) from None


def decompress(data: bytes, compression: str, max_size: int) -> bytes:
    """Return the content of one frame; DamagedError if it is larger than ``max_size`` or damaged."""
    decompressor = create_decompressor(compression)
    try:
        content: bytes = decompressor.decompress(data, max_length=max_size + 1)
    except Exception as error:  # every library has its own kind
        raise DamagedError(f"it cannot be decompressed ({str(error)[:100]})") from None
    # Data after the first frame would be decompressed, too.
    if len(content) > max_size or not decompressor.eof or decompressor.unused_data:
        raise DamagedError(f"it does not have at most {max_size} bytes after decompression")
    return content


def decompress_file(source: Path, target: Path, compression: str) -> None:
    """Decompress a file of one frame; DamagedError if it becomes larger than a log can."""
    decompressor = create_decompressor(compression)
    size, size_in_file = 0, source.stat().st_size
    with source.open("rb") as compressed, target.open("wb") as file:
        while not decompressor.eof:
            piece = compressed.read(PIECE_SIZE) if decompressor.needs_input else b""
            if decompressor.needs_input and not piece:
                raise DamagedError(f"{source.name} is incomplete")
            try:
                content = decompressor.decompress(piece, max_length=PIECE_SIZE)
            except Exception as error:  # every library has its own kind
                raise DamagedError(f"{source.name} cannot be decompressed ({str(error)[:100]})") from None
            size += file.write(content)
            if not RECORDED.allows(size, size_in_file):
                raise DamagedError(f"{source.name} has {size_in_file / 1e6:.3g} MB but becomes larger than a log can")
        if decompressor.unused_data or compressed.read(1):
            raise DamagedError(f"{source.name} continues after its content")

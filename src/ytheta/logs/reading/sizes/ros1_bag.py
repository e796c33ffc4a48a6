"""Sizes that a ROS 1 bag declares, compared with the file before the library that reads bags believes them.

All records of the file are visited. Every record must lie within the file, and a chunk must have the size that it
declares after decompression. Messages are not decoded.

Reference     Bag format 2.0, http://wiki.ros.org/Bags/Format/2.0
"""

from __future__ import annotations

import bz2
import mmap
import struct
from pathlib import Path
from typing import Any

from ytheta.errors import InputError

MAGIC = b"#ROSBAG V2.0\n"
BAG_HEADER, CHUNK = 3, 5  # operation codes of records
MAX_RECORDS = 5_000_000  # outside of chunks; a bag of a day has some ten thousand
# Recorded numbers have noise, which cannot be compressed much: a small chunk that becomes large is not part of a log.
MAX_CHECKED_RATIO = 100  # size of a chunk divided by its size in the file, if the chunk is large
MAX_UNCHECKED_SIZE = 2**26  # bytes; smaller chunks may have any ratio


def check_ros1_bag(path: Path) -> None:
    """Raise InputError if the records of a file contradict each other or the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            _check_records(content)
        except (_DamagedError, struct.error, UnicodeDecodeError) as error:
            reason = str(error) if isinstance(error, _DamagedError) else "a record is incomplete"
            raise InputError(
                f"{path} cannot be read as a ROS 1 bag: {reason}; check that it was closed and copied completely; "
                "rosbag reindex repairs a bag that was not closed"
            ) from None


class _DamagedError(Exception):
    """The declared sizes cannot be right."""


def _check_records(content: mmap.mmap) -> None:
    if content[: len(MAGIC)] != MAGIC:
        raise _DamagedError("it does not begin as a bag of version 2.0")
    place, count = len(MAGIC), 0
    while place < len(content):
        fields, place = _read_fields(content, place)
        (size,) = struct.unpack_from("<I", content, place)
        place += 4
        if size > len(content) - place:
            raise _DamagedError("it ends within a record")
        code = fields.get("op", b"")
        if code == bytes([CHUNK]):
            _check_chunk(fields, content[place : place + size])
        elif code == bytes([BAG_HEADER]) and fields.get("index_pos") == bytes(8):
            raise _DamagedError("it has no index, because it was not closed")
        place, count = place + size, count + 1
        if count > MAX_RECORDS:
            raise _DamagedError(f"it has more than {MAX_RECORDS} records")


def _read_fields(content: mmap.mmap, place: int) -> tuple[dict[str, bytes], int]:
    """Return the fields of a record's header, and the place after them."""
    (size,) = struct.unpack_from("<I", content, place)
    place += 4
    end = place + size
    if end > len(content):
        raise _DamagedError("it ends within the header of a record")
    fields: dict[str, bytes] = {}
    while place < end:
        (length,) = struct.unpack_from("<I", content, place)
        name, equals, value = content[place + 4 : min(end, place + 4 + length)].partition(b"=")
        if place + 4 + length > end or not equals:
            raise _DamagedError("the header of a record cannot be parsed")
        fields[name.decode()] = value
        place += 4 + length
    return fields, end


def _check_chunk(fields: dict[str, bytes], data: bytes) -> None:
    (size,) = struct.unpack("<I", fields.get("size", b""))
    compression = fields.get("compression", b"").decode()
    if size > MAX_UNCHECKED_SIZE and size > MAX_CHECKED_RATIO * max(1, len(data)):
        raise _DamagedError(f"a chunk has {size / 1e9:.3g} GB but only {len(data) / 1e6:.3g} MB in the file")
    if _measure(data, compression, size) != size:
        raise _DamagedError(f"a chunk does not have the {size} bytes that it declares")


def _measure(data: bytes, compression: str, max_size: int) -> int:
    """Return the size of decompressed data, or a larger number than ``max_size``: the rest is not decompressed."""
    if compression == "none":
        return len(data)
    decompressor = _create_decompressor(compression)
    try:
        size = len(decompressor.decompress(data, max_length=max_size + 1))
    except Exception as error:  # every library has its own kind
        raise _DamagedError(f"a chunk cannot be decompressed ({str(error)[:100]})") from None
    # Data after the first stream would be decompressed, too.
    return size if decompressor.eof and not decompressor.unused_data else max_size + 1


def _create_decompressor(compression: str) -> Any:
    """Return a decompressor of the libraries with which the library for bags decompresses."""
    if compression == "bz2":
        return bz2.BZ2Decompressor()
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor()
    raise _DamagedError(f"a chunk is compressed with {compression[:20]!r}, which is not supported")

"""Sizes that a ROS 1 bag declares, compared with the file before the library that reads bags believes them.

All records of the file are visited. Every record must lie within the file, and a chunk must have the size that it
declares after decompression. Messages are not decoded.

Reference     Bag format 2.0, http://wiki.ros.org/Bags/Format/2.0
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from ytheta.logs.reading.sizes.bounds import RECORDED, DamagedError
from ytheta.logs.reading.sizes.decompression import decompress

MAGIC = b"#ROSBAG V2.0\n"
BAG_HEADER, CHUNK = 3, 5  # operation codes of records
MAX_RECORDS = 5_000_000  # outside of chunks; a bag of a day has some ten thousand


def check_ros1_bag(path: Path) -> None:
    """Raise DamagedError if the records of a file contradict each other or the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            _check_records(content)
        except (struct.error, UnicodeDecodeError):
            raise DamagedError("a record is incomplete") from None


def _check_records(content: mmap.mmap) -> None:
    if content[: len(MAGIC)] != MAGIC:
        raise DamagedError("it does not begin as a bag of version 2.0")
    place, count = len(MAGIC), 0
    while place < len(content):
        fields, place = _read_fields(content, place)
        (size,) = struct.unpack_from("<I", content, place)
        place += 4
        if size > len(content) - place:
            raise DamagedError("it ends within a record")
        code = fields.get("op", b"")
        if code == bytes([CHUNK]):
            _check_chunk(fields, content[place : place + size])
        elif code == bytes([BAG_HEADER]) and fields.get("index_pos") == bytes(8):
            raise DamagedError("it has no index, because it was not closed")
        place, count = place + size, count + 1
        if count > MAX_RECORDS:
            raise DamagedError(f"it has more than {MAX_RECORDS} records")


def _read_fields(content: mmap.mmap, place: int) -> tuple[dict[str, bytes], int]:
    """Return the fields of a record's header, and the place after them."""
    (size,) = struct.unpack_from("<I", content, place)
    place += 4
    end = place + size
    if end > len(content):
        raise DamagedError("it ends within the header of a record")
    fields: dict[str, bytes] = {}
    while place < end:
        (length,) = struct.unpack_from("<I", content, place)
        name, equals, value = content[place + 4 : min(end, place + 4 + length)].partition(b"=")
        if place + 4 + length > end or not equals:
            raise DamagedError("the header of a record cannot be parsed")
        fields[name.decode()] = value
        place += 4 + length
    return fields, end


def _check_chunk(fields: dict[str, bytes], data: bytes) -> None:
    (size,) = struct.unpack("<I", fields.get("size", b""))
    compression = fields.get("compression", b"").decode()
    if not RECORDED.allows(size, len(data)):
        raise DamagedError(f"a chunk has {size / 1e9:.3g} GB but only {len(data) / 1e6:.3g} MB in the file")
    content = data if compression == "none" else decompress(data, compression, size)
    if len(content) != size:
        raise DamagedError(f"a chunk does not have the {size} bytes that it declares")

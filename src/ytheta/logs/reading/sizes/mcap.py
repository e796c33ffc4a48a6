"""Sizes that an MCAP file declares, compared with the file before the library that reads bags believes them.

The library allocates what a record declares, and decompresses chunks without a bound: a file of 1 MB could need any
memory. Here all records of a file are visited. Every record must lie within the file, the index must refer to chunks of
the file, and a chunk must have the size that it declares after decompression. Messages are not decoded.

Reference     MCAP format specification, https://mcap.dev/spec
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from ytheta.errors import InputError
from ytheta.logs.reading.sizes.bounds import RECORDED, DamagedError
from ytheta.logs.reading.sizes.decompression import create_decompressor

MAGIC = b"\x89MCAP0\r\n"
FOOTER_SIZE = 1 + 8 + 20  # bytes: operation code, length and content
FOOTER, CHUNK, CHUNK_INDEX = 0x02, 0x06, 0x08  # operation codes of records


def check_mcap(path: Path) -> None:
    """Raise InputError if the records of a file contradict each other or the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            _check_records(content)
        except (DamagedError, struct.error, UnicodeDecodeError) as error:
            reason = str(error) if isinstance(error, DamagedError) else "a record is incomplete"
            raise InputError(
                f"{path} cannot be read as a ROS 2 bag: {reason}; check that it was closed and copied completely"
            ) from None


@dataclass(frozen=True)
class _Chunk:
    """A chunk of messages: its place in the file, and what its record or the index says about its data."""

    start: int
    length: int
    compression: str
    size_in_file: int
    size: int


def _check_records(content: mmap.mmap) -> None:
    end = len(content) - len(MAGIC)
    if end < len(MAGIC) or content[: len(MAGIC)] != MAGIC or content[end:] != MAGIC:
        raise DamagedError("the magic at its beginning or end is not that of an MCAP file")
    starts: set[int] = set()
    chunks: dict[int, _Chunk] = {}
    indexed: list[_Chunk] = []
    place = len(MAGIC)
    while place < end:
        code, size = struct.unpack_from("<BQ", content, place)
        first = place + 9
        if size > end - first:
            raise DamagedError("a record is longer than the file")
        starts.add(place)
        if code == CHUNK:
            chunks[place] = _check_chunk(content, place, first, first + size)
        elif code == CHUNK_INDEX:
            indexed.append(_read_index(content[first : first + size]))
        place = first + size
    _check_footer(content, end, starts)
    if any(chunks.get(chunk.start) != chunk for chunk in indexed):
        raise DamagedError("its index does not agree with its chunks")


def _check_footer(content: mmap.mmap, end: int, starts: set[int]) -> None:
    """The summary starts with a record, if there is one; the footer is the last record."""
    start = end - FOOTER_SIZE
    code, _, summary = struct.unpack_from("<BQQ", content, start) if start in starts else (0, 0, 0)
    if code != FOOTER or (summary and summary not in starts):
        raise DamagedError("its summary cannot be found")


def _check_chunk(content: mmap.mmap, place: int, first: int, last: int) -> _Chunk:
    (size,) = struct.unpack_from("<Q", content, first + 16)
    (name_length,) = struct.unpack_from("<I", content, first + 28)
    data = first + 40 + name_length
    if data > last:
        raise DamagedError("a chunk is incomplete")
    compression = content[first + 32 : first + 32 + name_length].decode()
    (size_in_file,) = struct.unpack_from("<Q", content, data - 8)
    if size_in_file > last - data:
        raise DamagedError("the data of a chunk are longer than the chunk")
    if not RECORDED.allows(size, size_in_file):
        raise DamagedError(f"a chunk has {size / 1e9:.3g} GB but only {size_in_file / 1e6:.3g} MB in the file")
    if _measure(content[data : data + size_in_file], compression, size) != size:
        raise DamagedError(f"a chunk does not have the {size} bytes that it declares")
    return _Chunk(place, last - place, compression, size_in_file, size)


def _read_index(record: bytes) -> _Chunk:
    start, length, offsets_size = struct.unpack_from("<QQI", record, 16)
    place = 36 + offsets_size + 8
    (name_length,) = struct.unpack_from("<I", record, place)
    compression = record[place + 4 : place + 4 + name_length].decode()
    size_in_file, size = struct.unpack_from("<QQ", record, place + 4 + name_length)
    return _Chunk(start, length, compression, size_in_file, size)


def _measure(data: bytes, compression: str, max_size: int) -> int:
    """Return the size of decompressed data, or a larger number than ``max_size``: the rest is not decompressed."""
    if not compression:
        return len(data)
    if not data:  # an empty chunk need not be a frame
        return 0
    decompressor = create_decompressor(compression)
    try:
        size = len(decompressor.decompress(data, max_length=max_size + 1))
    except Exception as error:  # every library has its own kind
        raise DamagedError(f"a chunk cannot be decompressed ({str(error)[:100]})") from None
    # Data after the first frame would be decompressed, too.
    return size if decompressor.eof and not decompressor.unused_data else max_size + 1

"""The files of a bag: the sizes that they declare are checked, and compressed ones are decompressed with a bound.

The library that reads bags would read metadata and decompress files and messages without a bound, and open whatever
file the metadata name.
"""

from __future__ import annotations

import mmap
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from ytheta.errors import InputError, MissingExtraError
from ytheta.files.bounded import read_small_file
from ytheta.logs.reading.formats.expansion import RECORDED, DamagedError

# Largest size in bytes of metadata.yaml. Chosen on: bags, where a topic has about 1 kB.
MAX_METADATA_SIZE = 2**20
# Highest version of metadata.yaml. Fixed by: the format.
MAX_METADATA_VERSION = 9
# Largest number of files of a bag. Chosen on: rule of thumb.
MAX_FILES = 10_000
# Largest size in bytes of a message after decompression. Chosen on: reasoning; a JointState has some hundred bytes.
MAX_MESSAGE_SIZE = 2**24
SUFFIXES = (".mcap", ".db3")
URI_CHARACTERS = "%?#"  # SQLite receives the path as a URI, and would open another file


@dataclass(frozen=True)
class BagFiles:
    """Checked files of a bag, and the compression of the messages in them ("" if there is none)."""

    paths: tuple[Path, ...]
    message_compression: str = ""

    def decompress_message(self, data: bytes) -> bytes:
        """Return the content of a message; DamagedError if it is too large."""
        return decompress(data, self.message_compression, MAX_MESSAGE_SIZE) if self.message_compression else data


@contextmanager
def open_bag_files(path: Path) -> Iterator[BagFiles]:
    """Yield the files of a bag: a folder, or a single file. Decompressed files are removed at the end."""
    if path.is_file():
        yield BagFiles((_check_file(path),))
        return
    metadata = _read_metadata(path / "metadata.yaml")
    names = metadata.get("relative_file_paths")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DamagedError("its metadata.yaml has no list of files ('relative_file_paths')")
    if not 0 < len(set(names)) == len(names) <= MAX_FILES:
        raise DamagedError(f"its metadata.yaml lists no files, more than {MAX_FILES}, or one of them twice")
    files = [_find_file(path, name) for name in names]
    mode = str(metadata.get("compression_mode") or "none").lower()
    compression = str(metadata.get("compression_format") or "")
    if mode not in ("none", "file", "message"):
        raise DamagedError(f"its compression mode {mode[:20]!r} is not known")
    if mode != "file":
        yield BagFiles(tuple(map(_check_file, files)), compression if mode == "message" else "")
        return
    with tempfile.TemporaryDirectory(prefix="ytheta-bag-") as folder:
        contents = []
        for file in files:
            contents.append(Path(folder) / file.stem)
            decompress_file(file, contents[-1], compression)
        yield BagFiles(tuple(map(_check_file, contents)))


def _read_metadata(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    content = read_small_file(path, "the metadata of a bag", max_size=MAX_METADATA_SIZE)
    try:
        metadata = YAML(typ="safe").load(content.decode())["rosbag2_bagfile_information"]
        version = metadata["version"]
        if not isinstance(metadata, dict) or not isinstance(version, int):
            raise TypeError
    except (YAMLError, UnicodeDecodeError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise DamagedError(f"its metadata.yaml is not valid YAML ({reason[:100]})") from None
    except (KeyError, TypeError, AttributeError):
        raise DamagedError("its metadata.yaml does not describe a bag with a version") from None
    if version > MAX_METADATA_VERSION:
        raise InputError(
            f"{path.parent} is a bag of version {version}, but versions up to {MAX_METADATA_VERSION} are supported; "
            "name its files one by one instead of the folder"
        )
    return metadata


def _find_file(folder: Path, name: str) -> Path:
    path = folder / PurePath(name).name  # the metadata of some recorders have the name of the folder, too
    if not path.is_file():
        raise DamagedError(f"the file {name[:100]!r}, which its metadata.yaml lists, is missing")
    return path


def _check_file(path: Path) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise DamagedError(f"its file {path.name[:100]!r} does not end in .mcap or .db3")
    if path.suffix.lower() == ".mcap":
        check_mcap(path)
    elif characters := [character for character in URI_CHARACTERS if character in str(path)]:
        raise InputError(
            f"{path} has {characters[0]!r} in its path, which SQLite does not read literally; rename the file or folder"
        )
    return path


# Sizes that an MCAP file declares, compared with the file before the library that reads bags believes them.
#
# The library allocates what a record declares, and decompresses chunks without a bound: a file of 1 MB could need any
# memory. Here all records of a file are visited. Every record must lie within the file, the index must refer to chunks
# of the file, and a chunk must have the size that it declares after decompression. Messages are not decoded.
#
# Reference     MCAP format specification, https://mcap.dev/spec

MCAP_MAGIC = b"\x89MCAP0\r\n"
FOOTER_SIZE = 1 + 8 + 20  # bytes: operation code, length and content. Fixed by: the format MCAP.
FOOTER, MCAP_CHUNK, CHUNK_INDEX = 0x02, 0x06, 0x08  # operation codes of records. Fixed by: the format MCAP.


def check_mcap(path: Path) -> None:
    """Raise InputError if the records of a file contradict each other or the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            _check_mcap_records(content)
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


def _check_mcap_records(content: mmap.mmap) -> None:
    end = len(content) - len(MCAP_MAGIC)
    if end < len(MCAP_MAGIC) or content[: len(MCAP_MAGIC)] != MCAP_MAGIC or content[end:] != MCAP_MAGIC:
        raise DamagedError("the magic at its beginning or end is not that of an MCAP file")
    starts: set[int] = set()
    chunks: dict[int, _Chunk] = {}
    indexed: list[_Chunk] = []
    place = len(MCAP_MAGIC)
    while place < end:
        code, size = struct.unpack_from("<BQ", content, place)
        first = place + 9
        if size > end - first:
            raise DamagedError("a record is longer than the file")
        starts.add(place)
        if code == MCAP_CHUNK:
            chunks[place] = _check_mcap_chunk(content, place, first, first + size)
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


def _check_mcap_chunk(content: mmap.mmap, place: int, first: int, last: int) -> _Chunk:
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


# Sizes that a ROS 1 bag declares, compared with the file before the library that reads bags believes them.
#
# All records of the file are visited. Every record must lie within the file, and a chunk must have the size that it
# declares after decompression. Messages are not decoded.
#
# Reference     Bag format 2.0, http://wiki.ros.org/Bags/Format/2.0


ROS1_MAGIC = b"#ROSBAG V2.0\n"
BAG_HEADER, ROS1_CHUNK = 3, 5  # operation codes of records. Fixed by: the format of ROS 1 bags.
# Largest number of records outside of chunks. Chosen on: reasoning; a bag of a day has some ten thousand.
MAX_RECORDS = 5_000_000


def check_ros1_bag(path: Path) -> None:
    """Raise DamagedError if the records of a file contradict each other or the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            _check_ros1_records(content)
        except (struct.error, UnicodeDecodeError):
            raise DamagedError("a record is incomplete") from None


def _check_ros1_records(content: mmap.mmap) -> None:
    if content[: len(ROS1_MAGIC)] != ROS1_MAGIC:
        raise DamagedError("it does not begin as a bag of version 2.0")
    place, count = len(ROS1_MAGIC), 0
    while place < len(content):
        fields, place = _read_fields(content, place)
        (size,) = struct.unpack_from("<I", content, place)
        place += 4
        if size > len(content) - place:
            raise DamagedError("it ends within a record")
        code = fields.get("op", b"")
        if code == bytes([ROS1_CHUNK]):
            _check_ros1_chunk(fields, content[place : place + size])
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


def _check_ros1_chunk(fields: dict[str, bytes], data: bytes) -> None:
    (size,) = struct.unpack("<I", fields.get("size", b""))
    compression = fields.get("compression", b"").decode()
    if not RECORDED.allows(size, len(data)):
        raise DamagedError(f"a chunk has {size / 1e9:.3g} GB but only {len(data) / 1e6:.3g} MB in the file")
    content = data if compression == "none" else decompress(data, compression, size)
    if len(content) != size:
        raise DamagedError(f"a chunk does not have the {size} bytes that it declares")


# Decompression of parts of bags with a bound on the result, by the libraries that the library for bags uses.

MODULES = {
    "bz2": ("bz2", "BZ2Decompressor"),
    "lz4": ("lz4.frame", "LZ4FrameDecompressor"),
    "zstd": ("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", "ZstdDecompressor"),
}
PIECE_SIZE = 2**20  # bytes of a decompressed file at a time; affects only memory


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

"""The files of a bag, as its metadata list them: all are checked, and compressed ones are decompressed with a bound.

The library that reads bags would read metadata and decompress files and messages without a bound, and open whatever
file the metadata name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from ytheta.errors import InputError
from ytheta.files.bounded import read_small_file
from ytheta.logs.reading.sizes.bounds import DamagedError
from ytheta.logs.reading.sizes.decompression import decompress, decompress_file
from ytheta.logs.reading.sizes.mcap import check_mcap

MAX_METADATA_SIZE = 2**20  # bytes; a topic has about 1 kB
MAX_METADATA_VERSION = 9
MAX_FILES = 10_000
MAX_MESSAGE_SIZE = 2**24  # bytes of a message after decompression
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

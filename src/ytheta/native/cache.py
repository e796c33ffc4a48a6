"""The cache of graphs and object code on disk. It is optional: without it, every process traces and compiles again.

Folder     ``YTHETA_CACHE``, or ``ytheta/kernels`` in ``XDG_CACHE_HOME`` or ``~/.cache``; created with mode 0700
File       named after its key and the kind of its payload; a header (magic, key, SHA-256 and length of the payload),
           then the payload
Trust      a file is used only if it is a regular file, it and its folder belong to this user and are not writable by
           anybody else, and every field of its header is as expected; any other file is treated as missing and
           replaced. In a folder that others can write, nothing is stored
Writing    to a temporary file, then an atomic rename: readers see a complete file or none. If several processes write
           the file of the same key, they write the same content
Errors     if the folder cannot be created or written, or the disk is full, the error is logged, and the next
           process makes the payload again
Size       the first time that a process writes a file, it deletes temporary files of killed processes, files that have
           not been used for ``MAX_AGE``, and those not used for the longest time if all files together are larger than
           ``MAX_FOLDER_SIZE``. Files of other programs are never deleted: name and magic must be those of the cache
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import stat
import struct
import time
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ytheta.files.atomic import create_temporary, remove_stale_files
from ytheta.native.graph import Graph, Input, SerializedFunction

KINDS = OBJECT_CODE, GRAPH, BASIS = "o", "graph", "basis"  # kinds of payload; they are the extensions of the files
MAX_FOLDER_SIZE = 2**29  # bytes
KEPT_SHARE = 0.5  # of MAX_FOLDER_SIZE, after files were deleted
MAX_AGE = 180 * 86400.0  # seconds since the last use

_MAGIC_OF_ALL_VERSIONS = b"ytheta kernel "
_MAGIC = _MAGIC_OF_ALL_VERSIONS + b"1\n"
_HEADER = struct.Struct(f"<{len(_MAGIC)}s32s32sQ")
_FINAL_NAME = re.compile(rf"[0-9a-f]{{64}}\.({'|'.join(KINDS)})")
# Links are not followed, and opening a pipe does not block.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_UTIME_TAKES_DESCRIPTORS = os.utime in os.supports_fd
_LOG = logging.getLogger("ytheta")


def find_cache_folder() -> Path:
    """Return the folder of the cache."""
    configured_folder = os.environ.get("YTHETA_CACHE")
    if configured_folder:
        return Path(configured_folder)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "ytheta" / "kernels"


def make_key(*parts: str) -> bytes:
    """Hash everything that determines a payload."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)) + data)
    return digest.digest()


def make_cache_path(key: bytes, kind: str = OBJECT_CODE) -> Path:
    """Return the path of the file of a key."""
    return find_cache_folder() / f"{key.hex()}.{kind}"


def read(key: bytes, kind: str = OBJECT_CODE) -> bytes | None:
    """Return the payload stored under a key, or None."""
    try:
        path = make_cache_path(key, kind)
        if not _is_trusted_folder(path.parent):
            return None
        descriptor = os.open(path, _READING)
        with open(descriptor, "rb") as file:
            if not _is_trusted(os.fstat(descriptor)):
                _LOG.warning("%s is not a file that only this user can write; it will be replaced", path)
                return None
            content = file.read()
            with contextlib.suppress(OSError):  # the time of the last use, which decides about deletion
                os.utime(descriptor if _UTIME_TAKES_DESCRIPTORS else path)
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory
        _LOG.info("the cache of kernels cannot be read: %s", error)
        return None
    payload = content[_HEADER.size :]
    if content[: _HEADER.size] != _make_header(key, payload):
        _LOG.warning("%s is damaged; it will be replaced", path)
        return None
    return payload


def write(key: bytes, payload: bytes, kind: str = OBJECT_CODE) -> None:
    """Store a payload under a key."""
    try:
        path = make_cache_path(key, kind)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_trusted_folder(path.parent):
            return
        clean_folder(path.parent)
        with create_temporary(path, mode=0o600) as temporary:
            temporary.write_bytes(_make_header(key, payload) + payload)
            os.replace(temporary, path)
    except (OSError, RuntimeError) as error:
        _LOG.info("%s cannot be stored in the cache of kernels: %s", kind, error)


class _File(NamedTuple):
    """A file of the folder. The order is that of deletion."""

    last_use: float
    size: int
    path: str


@cache  # once per process, since listing a large folder takes as long as compiling a small graph
def clean_folder(folder: Path) -> None:
    """Delete temporary files of killed processes, old files, and further files if the folder is too large."""
    remove_stale_files(folder)
    oldest, files = time.time() - MAX_AGE, _list_files(folder, _FINAL_NAME)
    size = sum(file.size for file in files)
    max_size = MAX_FOLDER_SIZE if size <= MAX_FOLDER_SIZE else KEPT_SHARE * MAX_FOLDER_SIZE
    for file in files:
        if size <= max_size and file.last_use >= oldest:
            return
        _delete(file)
        size -= file.size


def _list_files(folder: Path, name: re.Pattern[str]) -> list[_File]:
    """Return the regular files whose names match, those that were not used for the longest time first."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):  # another process may have deleted it
                    status = entry.stat(follow_symlinks=False)
                    files.append(_File(status.st_mtime, status.st_size, entry.path))
    return sorted(files)


def _delete(file: _File) -> None:
    """Delete a file if its first bytes are those of a file of the cache."""
    with contextlib.suppress(OSError):  # another process may have deleted it
        with open(os.open(file.path, _READING), "rb") as content:
            belongs_to_cache = content.read(len(_MAGIC_OF_ALL_VERSIONS)) == _MAGIC_OF_ALL_VERSIONS
        if belongs_to_cache:
            os.unlink(file.path)


def _make_header(key: bytes, payload: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, key, hashlib.sha256(payload).digest(), len(payload))


def _is_trusted_folder(folder: Path) -> bool:
    """Return whether only this user can write to a folder; False if it does not exist."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode) or not _belongs_to_user(status):
        _warn_about_folder(folder)
        return False
    return True


@cache  # one warning per process is enough
def _warn_about_folder(folder: Path) -> None:
    _LOG.warning(
        "%s is not used as a cache of kernels, because others can write to it; run: chmod 700 %s", *2 * [folder]
    )


def _is_trusted(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and _belongs_to_user(status)


def _belongs_to_user(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to this user, and nobody else can write it."""
    if not hasattr(os, "getuid"):  # Windows: the folder's access list decides
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# Values that are found again: as long as somebody uses them, and the most recent ones longer.


Value = TypeVar("Value")


class RecentValues(Generic[Value]):
    """Values by their keys. The ``kept`` values that were stored or found last stay, even if nobody else uses them.

    Several threads may use it at once without a lock: at worst, a value stays for a shorter time.
    """

    def __init__(self, kept: int) -> None:
        self._used: WeakValueDictionary[bytes, Value] = WeakValueDictionary()
        self._recent: OrderedDict[bytes, Value] = OrderedDict()
        self._kept = kept

    def find(self, key: bytes) -> Value | None:
        """Return the value stored under a key, or None."""
        value = self._used.get(key)
        if value is not None:
            self.store(key, value)
        return value

    def store(self, key: bytes, value: Value) -> None:
        """Store a value as the most recent one."""
        self._used[key] = value
        self._recent.pop(key, None)
        self._recent[key] = value
        if len(self._recent) > self._kept:
            self._recent.popitem(last=False)

    def clear(self) -> None:
        """Forget all values."""
        self._recent.clear()
        self._used.clear()


# The cache of graphs: traced computations are found again, in this process or in the cache on disk.
#
# Payload    one line of JSON (name, inputs, shape, places, made_from, instructions), then the text of the function
# Trust      see above: CasADi parses only texts that this user's processes have stored, checksum included


_graphs: RecentValues[Graph] = RecentValues(kept=64)


def find_graph(key: bytes) -> Graph | None:
    """Return the graph stored under a key, in the memory of this process or on disk, or None."""
    graph = _graphs.find(key)
    if graph is None:
        payload = read(key, GRAPH)
        graph = None if payload is None else decode_graph(payload)
        if graph is not None:
            _graphs.store(key, graph)
    return graph


def store_graph(key: bytes, graph: Graph) -> None:
    """Store a graph in the memory of this process and on disk."""
    _graphs.store(key, graph)
    write(key, encode_graph(graph), GRAPH)


def encode_graph(graph: Graph) -> bytes:
    """Return the payload of a graph."""
    layout = {
        "name": graph.name,
        "inputs": [[entry.name, entry.size, entry.shared] for entry in graph.inputs],
        "shape": graph.shape,
        "places": graph.places,
        "made_from": graph.made_from,
        "instructions": graph.serialized.instructions,
    }
    return json.dumps(layout).encode() + b"\n" + graph.serialized.text.encode()


def decode_graph(payload: bytes) -> Graph | None:
    """Return the graph of a payload, or None if it has another layout. The function is restored when first used."""
    line, _, text = payload.partition(b"\n")
    try:
        layout = json.loads(line)
        return Graph(
            layout["name"],
            tuple(Input(*entry) for entry in layout["inputs"]),
            tuple(layout["shape"]),
            tuple(layout["places"]),
            SerializedFunction(text.decode(), layout["instructions"]),
            layout["made_from"],
        )
    except (ValueError, LookupError, TypeError):
        return None

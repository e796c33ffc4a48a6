"""Object code on disk: found again only if it is exactly what was asked for, and never needed.

Folder     ``YTHETA_CACHE``, or ``ytheta/kernels`` in ``XDG_CACHE_HOME`` or ``~/.cache``; made with mode 0700
File       named by its key; a header (magic, key, SHA-256 and length of the payload) and the payload
Trust      a file is used if it is a regular file of this user that nobody else may write and every field of its header
           agrees; anything else counts as not there and is replaced
Writing    into a temporary file, then an atomic rename: a reader sees a whole file or none, and the last of several
           writers wins with the same content
Trouble    a folder that cannot be made or written, or a full disk, costs the next process a compilation; a line in the
           log says so
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import struct
import tempfile
from pathlib import Path

_MAGIC = b"ytheta kernel 1\n"
_HEADER = struct.Struct(f"<{len(_MAGIC)}s32s32sQ")
_LOG = logging.getLogger("ytheta")


def folder() -> Path:
    """Where object code is kept."""
    chosen = os.environ.get("YTHETA_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "ytheta" / "kernels"


def key(*parts: str) -> bytes:
    """The key of everything that decides what the object code is."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)) + data)
    return digest.digest()


def path(name: bytes) -> Path:
    """The file of a key."""
    return folder() / f"{name.hex()}.o"


def read(name: bytes) -> bytes | None:
    """The payload kept under a key, or nothing."""
    # Neither a link is followed nor a pipe waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path(name), flags)
        with open(descriptor, "rb") as file:
            if not _trusted(os.fstat(descriptor)):
                _LOG.warning("%s is not a file that only this user can write; compiling anew", path(name))
                return None
            content = file.read()
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory
        _LOG.info("no kernel is read from the cache: %s", error)
        return None
    payload = content[_HEADER.size :]
    if content[: _HEADER.size] != _header(name, payload):
        _LOG.warning("%s is damaged; compiling anew", path(name))
        return None
    return payload


def write(name: bytes, payload: bytes) -> None:
    """Keep a payload under a key."""
    try:
        place = path(name)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=place.parent, prefix="new-")
        try:
            with open(descriptor, "wb") as file:
                file.write(_header(name, payload) + payload)
            os.replace(temporary, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except (OSError, RuntimeError) as error:
        _LOG.info("the kernel is not kept in the cache: %s", error)


def _header(name: bytes, payload: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, name, hashlib.sha256(payload).digest(), len(payload))


def _trusted(status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: the folder's access list decides
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

"""Temporary files next to the files that they become, and the removal of those that a killed process left behind.

A process locks its temporary file as long as it writes it. The operating system removes the lock when the process ends,
in whatever way, so a temporary file without a lock is stale.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a file that is in use cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

PREFIX = ".ytheta-"
_NAME = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{16}}(\.[^.]+)?")


@contextmanager
def create_temporary(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Yield a new empty file in the folder of ``path``; remove it at the end, unless it was renamed.

    It has the extension of ``path``, because some writers depend on it. ``mode``: its permissions, before the umask.
    """
    descriptor, temporary = _create_locked(path, mode)
    try:
        yield temporary
    finally:
        with suppress(OSError):  # it was renamed
            temporary.unlink()
        os.close(descriptor)


def remove_stale_files(folder: Path) -> None:
    """Remove temporary files in a folder that no process is writing."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_stale(Path(entry.path))


def _create_locked(path: Path, mode: int) -> tuple[int, Path]:
    """Create a temporary file and lock it."""
    while True:
        temporary = path.with_name(f"{PREFIX}{secrets.token_hex(8)}{path.suffix}")
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), mode)
        _lock(descriptor, wait=True)
        if temporary.exists():  # another process may have removed it as stale before it was locked
            return descriptor, temporary
        os.close(descriptor)


def _remove_if_stale(path: Path) -> None:
    with suppress(OSError):  # it was renamed or removed, or belongs to someone else
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            if _lock(descriptor, wait=False):
                path.unlink()
        finally:
            os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; return whether it is locked, or whether this system has no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by another process, or a file system without locks
        return False
    return True

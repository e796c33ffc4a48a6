"""Atomic writes: a file appears complete or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ytheta.errors import InputError
from ytheta.files.command_files import declare_output
from ytheta.files.paths import check_path
from ytheta.files.temporary import create_temporary, remove_stale_files

FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_writable(path: str | Path, *endings: str) -> Path:
    """Raise InputError if this file cannot be written. An existing file is not changed.

    ``endings`` are the allowed file name extensions; if there are none, every extension is allowed.
    """
    path = check_path(path, "the file to write")
    if endings and path.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise InputError(f"{path}: this file must have the extension {allowed}; change its name")
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(path.stat().st_mode):
                raise InputError(f"{path} is a folder; give the name of a file in it")
            if not os.access(path, os.W_OK):
                raise InputError(f"{path} is write-protected; remove it or choose another name")
        target = Path(os.path.realpath(path))  # what is written if the path is a link
        remove_stale_files(target.parent)  # now, since they may fill the disk
        with create_temporary(target):
            pass
    except (OSError, ValueError) as error:  # no such folder, no permission, disk full, or a null character in the path
        raise _make_write_error(path, error) from None
    return path


def refuse_unknown_fields(path: str | Path, field: str, meaning: str) -> None:
    """Raise an error if a name contains a placeholder in braces other than ``field``."""
    unknown = [found for found in re.findall(r"\{[^{}]*\}", str(path)) if found != field]
    if unknown:
        raise InputError(f"{path}: {unknown[0]} means nothing here; write {field} for {meaning}")


def refuse_to_overwrite(path: str | Path, inputs: Iterable[str | Path | None]) -> None:
    """Raise InputError if the file to write is one of these existing files; None and other names are ignored."""
    for source in inputs:
        if source is not None and Path(source).exists() and Path(path).exists() and Path(path).samefile(source):
            raise InputError(f"{path} is one of the inputs and would be overwritten; choose another name")


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Yield the path of a temporary file in the same folder. After writing, this file is renamed to ``path``.

    If ``path`` is a symbolic link, the file to which it refers is written. Raise InputError if the command read it.
    """
    path = Path(path)
    declare_output(path)
    target = Path(os.path.realpath(path))
    remove_stale_files(target.parent)
    try:
        with create_temporary(target) as temporary:
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, target)
    except OSError as error:
        raise _make_write_error(path, error) from None


def _make_write_error(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    is_full = getattr(error, "errno", None) in FULL_DISK_ERRORS
    remedy = "free some space, or choose another place" if is_full else "check the folder"
    return InputError(f"{path} cannot be written: {reason}; {remedy}")

"""Files that appear whole or not at all, and the question beforehand whether they can."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ytheta.errors import InputError


def check_writable(path: str | Path, *endings: str) -> Path:
    """InputError where a file of this name cannot be written; nothing that is there changes.

    ``endings``: what the name may end in, anything if there are none.
    """
    path = Path(path)
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path}: what is written there has the ending {' or '.join(endings)}; let the name end so")
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(path.stat().st_mode):
                raise InputError(f"{path} is a folder; give the name of a file in it")
            if not os.access(path, os.W_OK):
                raise InputError(f"{path} is write-protected; remove it or choose another name")
        trial = _beside(path)
        with open(trial, "xb"):
            pass
        trial.unlink()
    except (OSError, ValueError) as error:  # no such folder, no permission, no room; a null character
        raise _refusal(path, error) from None
    return path


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """A file beside ``path`` to write into; it takes the name when all is written and on the disk, or disappears."""
    path = Path(path)
    temporary = _beside(path)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        with suppress(OSError):  # after success, and where it never came to be, there is nothing to remove
            temporary.unlink()


def _beside(path: Path) -> Path:
    """A name in the same folder, so that renaming is one step; with the same ending, which some writers go by."""
    return path.with_name(f".ytheta-{secrets.token_hex(8)}{path.suffix}")


def _refusal(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{path} cannot be written: {reason}; check the folder")

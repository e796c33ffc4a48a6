"""Atomic writes: a file appears complete or not at all.

First the writing itself, then temporary files, tables as CSV or Parquet, and which files may be overwritten.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ytheta.arguments import check_path
from ytheta.errors import InputError
from ytheta.files.panics import catch_panics

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
            kind = path.stat().st_mode
            if stat.S_ISDIR(kind):
                raise InputError(f"{path} is a folder; give the name of a file in it")
            if not stat.S_ISREG(kind):
                raise InputError(f"{path} is not a regular file, and would be replaced by one; choose another name")
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
        with ExitStack() as stack:
            group = _group.get()
            temporary = (stack if group is None else group.temporaries).enter_context(create_temporary(target))
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            if group is None:
                _replace(temporary, target)
            else:
                group.renames.append((temporary, target))
    except OSError as error:
        raise _make_write_error(path, error) from None


@dataclass(frozen=True, eq=False)
class _Group:
    temporaries: ExitStack
    renames: list[tuple[Path, Path]]


_group: ContextVar[_Group | None] = ContextVar("group", default=None)


@contextmanager
def write_together() -> Iterator[None]:
    """Let the files that ``write_atomically`` writes in a ``with`` block appear one right after the other at its end.

    If anything fails before, none of them appears. A process that is killed exactly then can leave some of them old.
    """
    with ExitStack() as temporaries:
        group = _Group(temporaries, [])
        token = _group.set(group)
        try:
            yield
        finally:
            _group.reset(token)
        for temporary, target in group.renames:
            try:
                _replace(temporary, target)
            except OSError as error:
                raise _make_write_error(target, error) from None


def _replace(temporary: Path, target: Path) -> None:
    """Rename a temporary file; it gets the permissions of the file that it replaces."""
    with suppress(FileNotFoundError):
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
    os.replace(temporary, target)


def _make_write_error(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    is_full = getattr(error, "errno", None) in FULL_DISK_ERRORS
    remedy = "free some space, or choose another place" if is_full else "check the folder"
    return InputError(f"{path} cannot be written: {reason}; {remedy}")


# Temporary files next to the files that they become, and the removal of those that a killed process left behind.
#
# A process locks its temporary file as long as it writes it. The operating system removes the lock when the process
# ends, in whatever way, so a temporary file without a lock is stale.


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


@contextmanager
def create_temporary_folder(path: Path) -> Iterator[Path]:
    """Yield a new empty folder beside ``path``; remove what has its name at the end."""
    remove_stale_files(path.parent)
    temporary = path.with_name(f"{PREFIX}{secrets.token_hex(8)}")
    temporary.mkdir()
    descriptor = os.open(temporary, os.O_RDONLY) if fcntl is not None else None
    try:
        if descriptor is not None:
            _lock(descriptor, wait=True)
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


EXCHANGE, CURRENT_FOLDER = 2, -100  # RENAME_EXCHANGE and AT_FDCWD. Fixed by: Linux.


def exchange_folders(first: Path, second: Path) -> None:
    """Exchange the names of two folders in one step; OSError if the system cannot."""
    import ctypes  # imported here, since few commands need it

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(CURRENT_FOLDER, os.fsencode(first), CURRENT_FOLDER, os.fsencode(second), EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def remove_stale_files(folder: Path) -> None:
    """Remove temporary files and folders in a folder that no process is writing."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and not entry.is_symlink():
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
        is_folder = path.is_dir()
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            if _lock(descriptor, wait=False) and is_folder:
                shutil.rmtree(path, ignore_errors=True)
            elif not is_folder and _lock(descriptor, wait=False):
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


# Writing tables as CSV or Parquet. Polars reports a full disk as an error of its own; here it becomes an OSError.


_ERROR_NUMBER = re.compile(r"\(os error (\d+)\)")


def write_table(columns: Mapping[str, Any], path: Path, *, suffix: str, content: str) -> None:
    """Write columns as the format of ``suffix``, ".csv" or ".parquet"; ``content`` is what Parquet's mark says.

    The name of the path itself may be that of a temporary file.
    """
    import polars as pl

    table = pl.DataFrame(dict(columns))
    try:
        if suffix.lower() == ".parquet":
            table.write_parquet(path, metadata={MARK: content})
        else:
            table.write_csv(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        number = _ERROR_NUMBER.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


# Which files may be overwritten: not those that a command reads, and without asking only those that ytheta wrote.
#
# A command declares its outputs before its work begins. From then on every reader reports the files that it opens:
# robots and what they extend or include, meshes, logs and mappings. If one of them is an output, an error ends the
# command before anything is written. Without a command, as in a program that uses the library, nothing is recorded.


FileIdentity = tuple[int, int]  # device and number of a file, which all of its names and links have in common


@dataclass
class _CommandFiles:
    inputs: set[FileIdentity] = field(default_factory=set)
    outputs: set[FileIdentity] = field(default_factory=set)


_command_files: ContextVar[_CommandFiles | None] = ContextVar("command_files", default=None)


@contextmanager
def record_command_files() -> Iterator[None]:
    """Record the files of one command, from the beginning to the end of the ``with`` block."""
    token = _command_files.set(_CommandFiles())
    try:
        yield
    finally:
        _command_files.reset(token)


def report_input(path: str | Path) -> None:
    """Report that a file is read. Raise InputError if the command is going to overwrite it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.outputs:
        raise _make_error(path)
    files.inputs.add(identity)


def declare_output(path: str | Path) -> None:
    """Declare that a file will be written. Raise InputError if the command has already read it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.inputs:
        raise _make_error(path)
    files.outputs.add(identity)


def _identify(path: str | Path) -> FileIdentity | None:
    """Return the identity of an existing file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # it does not exist, or its name contains a null character
        return None
    return status.st_dev, status.st_ino


def _make_error(path: str | Path) -> InputError:
    return InputError(f"{path} is one of the inputs and would be overwritten; choose another name")


# Recognizing files that ytheta wrote: such files may be overwritten without asking, others may not.
#
# Every written file has a mark where its format allows it: a comment in TOML and YAML, a ``meta`` element in HTML,
# a key in the metadata of Parquet, an array in NPZ. CSV and MCAP files have no place for a mark, so none is recognized.
#
# A file is overwritten only by a file of its kind, so that a trajectory never replaces a model. Marks of Parquet and
# NPZ contain the kind; the kind of a TOML file follows from a key that only this kind has.


MARK = "ytheta"
TOML_MARK = f"# Written by {MARK}."
HTML_MARK = f'<meta name="generator" content="{MARK}'
HEAD_BYTES = 4096  # within which the mark of a text file stands
FileKind = Literal["model", "trajectory", "log", "simulation", "prediction"]
# Lines that only one kind of TOML file has. A robot description has neither, so that no command overwrites it.
TOML_LINES: dict[FileKind, bytes] = {"model": rb"^\[identification\]", "trajectory": rb"^parametrisation *="}
MAX_TOML_BYTES = 64 * 1024 * 1024  # of a file whose kind is looked for


def is_own_file(path: Path, kind: FileKind | None = None) -> bool:
    """Return whether ytheta wrote a file, according to its mark, and it is of this kind; False if it is unreadable."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _has_parquet_mark(path, kind)
    if suffix == ".npz":
        return _has_npz_mark(path, kind)
    mark = TOML_MARK if suffix in (".toml", ".yaml", ".yml") else HTML_MARK
    line = TOML_LINES.get(kind) if kind is not None and suffix == ".toml" else None
    try:
        with path.open("rb") as file:
            content = file.read(HEAD_BYTES if line is None else MAX_TOML_BYTES)
    except OSError:
        return False
    return mark.encode() in content[:HEAD_BYTES] and (
        line is None or re.search(line, content, flags=re.MULTILINE) is not None
    )


def _has_parquet_mark(path: Path, kind: FileKind | None) -> bool:
    import polars as pl

    try:
        with catch_panics():
            found = pl.read_parquet_metadata(path).get(MARK)
    except (pl.exceptions.PolarsError, OSError):
        return False
    return found is not None and kind in (None, found)


def _has_npz_mark(path: Path, kind: FileKind | None) -> bool:
    import zipfile
    import zlib

    name = f"{MARK}.npy"
    try:
        with zipfile.ZipFile(path) as archive:
            if kind is None or name not in archive.namelist():
                return name in archive.namelist()
            with archive.open(name) as file:
                content = file.read(HEAD_BYTES)
    except (OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error):
        return False
    return content.endswith(b"\n" + kind.encode("utf-32-le"))  # the array is one string, after a header of one line

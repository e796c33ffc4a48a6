"""Writing the files of an export: all of them whole, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.files.temporary import PREFIX, create_temporary


def check_targets(paths: Iterable[Path], *, force: bool, force_option: str = "force=True") -> None:
    """Raise InputError if a file cannot be written, or if it exists and ``force`` is false.

    ``force_option`` is how the caller's user spells ``force``.
    """
    for path in paths:
        if path.exists() and not path.is_dir() and not force:
            raise InputError(f"{path} exists; choose another name, or use {force_option} to overwrite it")
        if path.parent.is_dir() or not path.parent.parent.is_dir():
            check_writable(path)
        elif path.parent.exists():
            raise InputError(f"{path.parent} is a file; choose another name for the folder")


def write_files(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files, and return their paths. A new folder appears with all of its files.

    In a folder that exists, every file is written to a temporary one first, so that a full disk changes nothing. If one
    of them cannot be renamed, those that were renamed before get their old content back.
    """
    new_folders = {path.parent for path in files if not path.parent.exists()}
    for folder in new_folders:
        _write_folder(folder, {path.name: content for path, content in files.items() if path.parent == folder})
    replaced = {path: content for path, content in files.items() if path.parent not in new_folders}
    with ExitStack() as backups:
        if len(replaced) > 1:  # a single file is replaced in one step
            for path in replaced:
                backups.enter_context(_restore_on_failure(path))
        with ExitStack() as stack:  # all temporary files are renamed at its end
            for path, content in replaced.items():
                stack.enter_context(write_atomically(path)).write_bytes(content)
    return tuple(files)


@contextmanager
def _restore_on_failure(path: Path) -> Iterator[None]:
    """Keep a copy of a file, or its absence, and restore it if anything is raised, an interruption included."""
    target = Path(os.path.realpath(path))  # what is written if the path is a link
    with ExitStack() as stack:
        try:
            before = target.stat() if target.exists() else None
            backup = None if before is None else stack.enter_context(create_temporary(target))
            if backup is not None:
                shutil.copy2(target, backup)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}; check the folder") from None
        try:
            yield
        except BaseException:
            if backup is None:
                target.unlink(missing_ok=True)
            elif before is not None and not (target.exists() and os.path.samestat(before, target.stat())):
                os.replace(backup, target)
            raise


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder under another name, and rename it."""
    temporary = None
    try:
        temporary = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder.parent))
        temporary.chmod(0o755)
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        temporary.rename(folder)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                shutil.rmtree(temporary)
        raise InputError(f"{folder} cannot be written: {error.strerror or error}; check the folder") from None

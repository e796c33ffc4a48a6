"""Writing the files of an export: all of them whole, or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.files.temporary import PREFIX


def check_targets(paths: Iterable[Path], *, force: bool) -> None:
    """Raise InputError if a file cannot be written, or if it exists and ``force`` is false."""
    for path in paths:
        if path.exists() and not path.is_dir() and not force:
            raise InputError(f"{path} exists; choose another name, or use force to overwrite it")
        if path.parent.is_dir() or not path.parent.parent.is_dir():
            check_writable(path)
        elif path.parent.exists():
            raise InputError(f"{path.parent} is a file; choose another name for the folder")


def write_files(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files, and return their paths. A new folder appears with all of its files.

    In a folder that exists, every file is written to a temporary one first, so that a full disk changes nothing.
    """
    new_folders = {path.parent for path in files if not path.parent.exists()}
    for folder in new_folders:
        _write_folder(folder, {path.name: content for path, content in files.items() if path.parent == folder})
    with ExitStack() as stack:  # all temporary files are renamed at its end
        for path, content in files.items():
            if path.parent not in new_folders:
                stack.enter_context(write_atomically(path)).write_bytes(content)
    return tuple(files)


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

"""Files of an earlier export to the same folder under another name."""

from __future__ import annotations

import re
from pathlib import Path

MARK = b"Written by ytheta."  # in the first line of every exported file
CMAKE_FILE = "CMakeLists.txt"
MAX_MARK_POSITION = 8  # bytes before the mark: the beginning of a comment
_PROJECT = re.compile(rb"^project\((\w+) C\)$", re.MULTILINE)


def list_file_names(prefix: str) -> tuple[str, ...]:
    """Return the names of the header, of the source file and of its self-test."""
    return f"{prefix}.h", f"{prefix}.c", f"{prefix}_selftest.c"


def find_earlier_files(folder: Path, prefix: str) -> tuple[Path, ...]:
    """Return the files that the CMake file of the folder names, if another prefix was used and ytheta wrote them."""
    build = _read_own(folder / CMAKE_FILE)
    project = None if build is None else _PROJECT.search(build)
    if project is None or project[1].decode() == prefix:
        return ()
    paths = (folder / name for name in list_file_names(project[1].decode()))
    return tuple(path for path in paths if _read_own(path) is not None)


def _read_own(path: Path) -> bytes | None:
    """Return the content of a file that ytheta wrote; None for other files."""
    try:
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    except OSError:
        return None
    return content if 0 <= content.find(MARK) <= MAX_MARK_POSITION else None

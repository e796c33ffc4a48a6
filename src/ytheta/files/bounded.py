"""Bounded reading: the kind and size of a file are checked first, and references must not leave the robot's folder."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ytheta.errors import InputError, RobotFileError
from ytheta.files.atomic import report_input

# Largest robot description (bytes) that is read. Chosen on: the largest ones in public use, which have about 1 MB.
MAX_ROBOT_SIZE = 16 * 1024 * 1024
XACRO_EXTENSION = ".xacro"  # of files that are programs


def read_bytes(path: Path) -> bytes:
    """Return the content of a robot description; RobotFileError if it cannot be read."""
    try:
        return read_small_file(
            path,
            "a robot description",
            max_size=MAX_ROBOT_SIZE,
            if_missing="check the path, or list the catalog: ytheta robots",
        )
    except InputError as error:
        raise RobotFileError(str(error)) from None


def read_small_file(path: Path, thing: str, *, max_size: int, if_missing: str = "check the path") -> bytes:
    """Return the content of a regular file of at most ``max_size`` bytes.

    ``thing`` is what the file should contain, and ``if_missing`` what to do if there is no file.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{path} is a folder; name the file in it that contains {thing}")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file; save {thing} into one and name that")
        if status.st_size > max_size:
            raise InputError(
                f"{path} has {status.st_size / 1e6:.0f} MB and was not read, since {thing} has at most "
                f"{max_size / 1e6:.0f} MB; check that this is the right file"
            )
        report_input(path)
        with path.open("rb") as file:
            content = file.read(max_size + 1)  # a file may grow, and some have no size before they are read
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} does not exist; {if_missing}") from None
    except PermissionError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from None
    except (OSError, ValueError) as error:  # a name that is too long, circular links, a null character
        raise InputError(f"{path} cannot be read: {_describe_cause(error)}; check the path") from None
    if len(content) > max_size:
        raise InputError(f"{path} is longer than {max_size / 1e6:.0f} MB; check that this is the right file")
    if not content.strip():
        raise InputError(f"{path} is empty; write {thing} into it or name another file")
    return content


def find_robot_folder(path: Path) -> Path:
    """Return the ROS package of a file: the nearest folder above it with a package.xml.

    If there is no such folder, return the file's own folder.
    """
    parent = path.resolve().parent
    for folder in (parent, *parent.parents):
        if (folder / "package.xml").is_file():
            return folder
    return parent


def resolve_reference(reference: str, path: Path, where: str, allow_paths: Sequence[Path] = ()) -> Path | None:
    """Return the path of a file that is to be opened, or None for a ``package://`` reference.

    No file is opened here. Raises RobotFileError if the reference leaves the robot's folder and ``allow_paths``, or if
    it is a xacro file: its expansion can run code, so only the user can ask for it.
    """
    try:
        inside, target = _locate(reference, path, allow_paths)
    except (OSError, RuntimeError, ValueError) as error:
        raise RobotFileError(
            f"{where}: the path {reference!r} cannot be resolved: {_describe_cause(error)}; correct or remove it"
        ) from None
    if target is not None and target.suffix.lower() == XACRO_EXTENSION:
        raise RobotFileError(
            f"{where}: {reference!r} is a xacro file, which can run code, so it is expanded only if you name it "
            f"yourself; write its expansion with: ytheta export {target.name} --to urdf -o "
            f"{target.name.partition('.')[0]}.urdf, and name that file here"
        )
    if inside:
        if target is not None:
            report_input(target)
        return target
    raise RobotFileError(
        f"{where}: the path {reference!r} leaves the robot's folder and is not opened; allow its folder with "
        "--allow-path (allow_paths), put a package.xml into the folder that contains both, or remove the reference"
    )


def locate_reference(reference: str, path: Path, allow_paths: Sequence[Path] = ()) -> Path | None:
    """Return the path of a file that may be opened later, such as a mesh; None if it is unknown or may not be opened.

    A reference to a file that nobody opens is not an error, whatever it contains.
    """
    try:
        inside, target = _locate(reference, path, allow_paths)
    except (OSError, RuntimeError, ValueError):
        return None
    if not inside or target is None:
        return None
    report_input(target)
    return target


def is_file(path: Path) -> bool:
    """Whether there is a file at a path, which may be impossible."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or contains a null character
        return False


def _locate(reference: str, path: Path, allow_paths: Sequence[Path]) -> tuple[bool, Path | None]:
    """Return whether a reference stays inside the robot's folder, and the path of the file (None if unknown)."""
    if reference.startswith(("package://", "model://")):
        inside = PurePosixPath(reference.partition("://")[2])
        return ".." not in inside.parts, None
    reference = reference.removeprefix("file://")
    if "://" in reference:
        return False, None
    target = (path.resolve().parent / reference).resolve()
    return any(target.is_relative_to(folder) for folder in (find_robot_folder(path), *allow_paths)), target


def _describe_cause(error: Exception) -> str:
    """Return the message of the operating system, without the path."""
    if isinstance(error, RuntimeError):  # raised by Path.resolve
        return "its symbolic links are circular"
    return str(getattr(error, "strerror", None) or error)


def shorten(text: str, length: int = 200) -> str:
    """Return the text, cut to this length if it is longer."""
    return text if len(text) <= length else text[: length - 2] + " …"

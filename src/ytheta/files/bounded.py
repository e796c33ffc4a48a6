"""The one way a file from outside is opened: kind and size checked first, and nothing beyond the robot's folder."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from ytheta.errors import RobotFileError

# The largest robot descriptions in public use have about 1 MB; more is a mesh, a log or a mistake.
MAX_FILE_SIZE = 16 * 1024 * 1024


def read_bytes(path: Path) -> bytes:
    """The content of a robot description, or a sentence why not."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise RobotFileError(f"{path} is a directory; name the robot file in it (.urdf, .xml or .toml)")
        if not stat.S_ISREG(found.st_mode):
            raise RobotFileError(f"{path} is not a regular file; save the robot description into one and name that")
        if found.st_size > MAX_FILE_SIZE:
            raise RobotFileError(
                f"{path} has {found.st_size / 1e6:.0f} MB, a robot description at most {MAX_FILE_SIZE / 1e6:.0f} MB; "
                "it was not read: check that this is the right file"
            )
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise RobotFileError(
            f"{path} is not a file that exists; check the path, or list the catalog: ytheta robots"
        ) from None
    except PermissionError as error:
        raise RobotFileError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from None
    except (OSError, ValueError) as error:  # a name that is too long, links in a circle, a null character
        raise RobotFileError(f"{path} cannot be read: {_reason(error)}; check the path") from None
    if not content.strip():
        raise RobotFileError(f"{path} is empty; write the robot description into it or name another file")
    return content


def find_robot_folder(path: Path) -> Path:
    """The robot's folder: the ROS package it lies in (the nearest parent with a package.xml), else its directory."""
    own = path.resolve().parent
    for folder in (own, *own.parents):
        if (folder / "package.xml").is_file():
            return folder
    return own


def resolve_reference(reference: str, path: Path, where: str) -> Path | None:
    """Check a mesh or include reference; the file it means, or None for a ``package://`` reference.

    Nothing is opened here. Raises RobotFileError for a reference that leaves the robot's folder.
    """
    try:
        inside, target = _followed(reference, path)
    except (OSError, RuntimeError, ValueError) as error:
        raise RobotFileError(
            f"{where}: the path {reference!r} cannot be followed: {_reason(error)}; correct it or remove the reference"
        ) from None
    if inside:
        return target
    raise RobotFileError(
        f"{where}: the path {reference!r} leaves the robot's folder and is not opened; put a package.xml into the "
        "folder that holds both, move the file beside the robot, or remove the reference"
    )


def _followed(reference: str, path: Path) -> tuple[bool, Path | None]:
    """Whether a reference stays inside the robot's folder, and the file it means there."""
    if reference.startswith(("package://", "model://")):
        inside = PurePosixPath(reference.partition("://")[2])
        return ".." not in inside.parts, None
    if "://" in reference:
        return False, None
    target = (path.resolve().parent / reference).resolve()
    return target.is_relative_to(find_robot_folder(path)), target


def _reason(error: Exception) -> str:
    """What the system said, without the path it says it about."""
    if isinstance(error, RuntimeError):  # Path.resolve
        return "its symbolic links run in a circle"
    return str(getattr(error, "strerror", None) or error)

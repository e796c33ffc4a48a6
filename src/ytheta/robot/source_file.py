"""The one way a file from outside is opened: kind and size checked first, and nothing beyond the robot's folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ytheta.errors import RobotFileError

# The largest robot descriptions in public use have about 1 MB; more is a mesh, a log or a mistake.
LARGEST_FILE = 16 * 1024 * 1024


def read_bytes(path: Path) -> bytes:
    """The content of a robot description, or a sentence why not."""
    if path.is_dir():
        raise RobotFileError(f"{path} is a directory; name the robot file in it (.urdf, .xml or .toml)")
    try:
        if not path.is_file():
            raise RobotFileError(
                f"{path} is not a file that exists; check the path, or list the catalog: ytheta robots"
            )
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise RobotFileError(
                f"{path} has {size / 1e6:.0f} MB, a robot description at most {LARGEST_FILE / 1e6:.0f} MB; "
                "it was not read: check that this is the right file"
            )
        content = path.read_bytes()
    except OSError as error:
        raise RobotFileError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from None
    if not content.strip():
        raise RobotFileError(f"{path} is empty; write the robot description into it or name another file")
    return content


def folder_of(path: Path) -> Path:
    """The robot's folder: the ROS package it lies in (the nearest parent with a package.xml), else its directory."""
    own = path.resolve().parent
    for folder in (own, *own.parents):
        if (folder / "package.xml").is_file():
            return folder
    return own


def refuse_escape(reference: str, path: Path, where: str) -> Path | None:
    """Check a mesh or include reference; the file it means, or None for a ``package://`` reference.

    Nothing is opened here. Raises RobotFileError for a reference that leaves the robot's folder.
    """
    if reference.startswith(("package://", "model://")):
        inside = PurePosixPath(reference.partition("://")[2])
        if ".." not in inside.parts:
            return None
    elif "://" not in reference:
        folder = folder_of(path)
        target = (path.resolve().parent / reference).resolve()
        if target.is_relative_to(folder):
            return target
    raise RobotFileError(
        f"{where}: the path {reference!r} leaves the robot's folder and is not opened; "
        "move the file beside the robot or remove the reference"
    )

"""ROS packages: the folders that ``package://NAME/…`` and ``$(find NAME)`` mean.

They are searched for in three groups of places:

1. the folders that the user gave (``--package-path``), and the folders in them;
2. the folders around the description, the nearest first, and the folders in them;
3. the folders of ``ROS_PACKAGE_PATH``, and ``share`` in those of ``AMENT_PREFIX_PATH``, and the folders in them.

In each group, the name in a package.xml counts more than the name of a folder. A description may come from a stranger,
so it cannot choose any folder of this machine: around it, only a folder with a package.xml, or one that contains the
description, is a package. Of a xacro file, folders inside of one that contains it are packages, too. Folders that many
things share, such as /home and the home folder itself, are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ytheta.errors import InputError
from ytheta.files.bounded import MAX_ROBOT_SIZE, read_small_file

MANIFEST = "package.xml"
SCHEME = "package://"
# Largest number of folders in which packages are looked for, inside of one folder. Chosen on: rule of thumb.
MAX_SUBFOLDERS = 2000
_ROS_1, _ROS_2 = "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"


def list_packages(path: Path, package_paths: Sequence[Path] = (), *, is_xacro: bool = False) -> dict[str, Path]:
    """Return the folders of all packages that are found for a description, by name.

    ``is_xacro``: a folder beside the description, or beside a folder around it, needs no package.xml.
    """
    around = list_folders_around(path)
    own = [around[0], *(folder for folder in around[1:] if not _is_shared(folder))]
    beside = _list_candidates(folder for folder in own if not _is_shared(folder)) if is_xacro else ()
    packages: dict[str, Path] = {}
    for folders, by_name in (
        (package_paths, _list_candidates(package_paths)),
        (around, [*own, *beside]),
        (_list_ros_folders(), _list_candidates(_list_ros_folders())),
    ):
        for folder in _list_candidates(folders):
            name = read_package_name(folder / MANIFEST)
            if name:
                packages.setdefault(name, folder)
        for folder in by_name:
            packages.setdefault(folder.name, folder)
    packages.pop("", None)  # the name of the root of the file system
    return packages


def locate_in_package(reference: str, packages: Mapping[str, Path]) -> Path | None:
    """Return the path of a ``package://NAME/…`` reference; None if there is no such package or the path leaves it."""
    name, _, inside = reference.removeprefix(SCHEME).partition("/")
    if not reference.startswith(SCHEME) or name not in packages or ".." in PurePosixPath(inside).parts:
        return None
    folder = packages[name].resolve()
    target = (folder / inside).resolve()
    return target if target.is_relative_to(folder) else None


def describe_search(path: Path, package_paths: Sequence[Path]) -> str:
    """Return the places that are searched for a package, for messages."""
    parent = path.resolve().parent
    given = "".join(f"{folder}, " for folder in package_paths)
    return f"{given}{parent} and the folders above it, each with the folders in it"


def list_folders_around(path: Path) -> list[Path]:
    """Return the folders that contain a file, the nearest first."""
    parent = path.resolve().parent
    return [parent, *parent.parents]


def read_package_name(manifest: Path) -> str | None:
    """Return the content of ``<name>`` of a package.xml; None if there is no such file or element."""
    try:
        content = read_small_file(manifest, "a package.xml", max_size=MAX_ROBOT_SIZE).decode("utf-8", "replace")
    except InputError:
        return None
    match = re.search(r"<name>\s*([^<]*?)\s*</name>", content)
    return match[1] if match else None


def list_readable_paths(path: Path, package_paths: Sequence[Path], packages: Mapping[str, Path]) -> list[Path]:
    """Return what the expansion of a xacro file may read: packages, and the folders around it that are not shared.

    Of a shared folder that contains the file itself, only the files are readable that are not hidden.
    """
    around = list_folders_around(path)
    folders = [folder for folder in (*around, *packages.values()) if not _is_shared(folder)]
    beside = [entry for entry in around[0].iterdir() if not entry.name.startswith(".") and entry.is_file()]
    return [*package_paths, *folders, *beside]


def _is_shared(folder: Path) -> bool:
    """Whether many things share a folder, such as /home and the home folder itself."""
    return len(folder.parts) <= 2 or Path.home().is_relative_to(folder)


def _list_ros_folders() -> list[Path]:
    """Return the folders in which ROS looks for packages, as the environment of the user says."""
    first = [Path(entry) for entry in os.environ.get(_ROS_1, "").split(os.pathsep) if entry]
    second = [Path(entry) / "share" for entry in os.environ.get(_ROS_2, "").split(os.pathsep) if entry]
    return [*first, *second]


def _list_candidates(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield these folders, and then the folders in them."""
    folders = list(folders)
    yield from folders
    for folder in folders:
        yield from _list_subfolders(folder)


def _list_subfolders(folder: Path) -> list[Path]:
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))[:MAX_SUBFOLDERS]
        return [entry for entry in entries if entry.is_dir()]
    except OSError:
        return []

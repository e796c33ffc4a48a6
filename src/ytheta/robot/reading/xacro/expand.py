"""Expansion of a xacro file to URDF.

xacro evaluates Python expressions, reads YAML files and environment variables, and includes files of any path. A xacro
file can therefore do what a program can do. The expansion runs in a child process with limits on time, memory and
output. These limits stop mistakes; they do not make files from strangers safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ytheta.engine.limited_process import EndReason, Limits, ProcessEndedError, run_limited
from ytheta.errors import RobotFileError
from ytheta.files.bounded import MAX_ROBOT_SIZE, find_robot_folder, read_bytes, read_package_name

CHILD = "ytheta.robot.reading.xacro.child_process"  # not imported here, since only the child process needs it
MAX_SECONDS = 60.0
MAX_MEMORY = 4 * 1024**3  # bytes
MAX_PACKAGES = 2000  # folders in one folder of packages


def expand_xacro(path: Path, arguments: Mapping[str, str], package_paths: Sequence[Path]) -> bytes:
    """Return the URDF of a xacro file. Packages are found in ``package_paths`` and around the file."""
    read_bytes(path)  # checks its kind and size, and names it as an input
    folders = _list_package_folders(path, package_paths)
    request = {
        "path": str(path.resolve()),
        "name": path.name,
        "arguments": dict(arguments),
        "packages": {name: str(folder) for name, folder in _find_packages(folders).items()},
        "folders": [str(folder) for folder in folders],
        "max_size": MAX_ROBOT_SIZE,
    }
    try:
        reply = run_limited(CHILD, "expand", request, Limits(MAX_MEMORY, MAX_SECONDS, processor_seconds=MAX_SECONDS))
    except ProcessEndedError as error:
        sentences = {
            EndReason.LATE: f"its expansion takes more than {MAX_SECONDS:.3g} s; check its macros and expressions",
            EndReason.OUT_OF_MEMORY: f"its expansion needs more than {MAX_MEMORY / 1e9:.0f} GB; check it",
            EndReason.CRASHED: "the expansion of this xacro file failed; check the file",
        }
        raise RobotFileError(f"{path.name}: {sentences[error.reason]}") from None
    return bytes(reply.blocks[0])


def _list_package_folders(path: Path, package_paths: Sequence[Path]) -> list[Path]:
    """Return the folders that are searched for packages: those given, then those around the file."""
    package = find_robot_folder(path)
    return list(dict.fromkeys((*package_paths, package, package.parent)))


def _find_packages(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the packages in these folders by name. A folder with a package.xml is a package itself."""
    packages: dict[str, Path] = {}
    for folder in folders:
        for candidate in (folder, *_list_subfolders(folder)):
            name = read_package_name(candidate / "package.xml")
            for key in (name, candidate.name):
                if key and (name or candidate != folder):
                    packages.setdefault(key, candidate)
    return packages


def _list_subfolders(folder: Path) -> list[Path]:
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))[:MAX_PACKAGES]
        return [entry for entry in entries if entry.is_dir()]
    except OSError:
        return []

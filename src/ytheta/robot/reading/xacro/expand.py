"""Expansion of a xacro file to URDF.

xacro evaluates Python expressions, reads YAML files and environment variables, and includes files of any path. A xacro
file can therefore do what a program can do. The expansion runs in a process of its own with limits of time, memory and
output. These limits stop mistakes; they do not make files from strangers safe.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ytheta.errors import MissingExtraError, RobotFileError
from ytheta.files.bounded import MAX_ROBOT_SIZE, find_robot_folder, read_bytes, read_package_name
from ytheta.robot.reading.xacro import child_process

SUFFIX = ".xacro"
MAX_SECONDS = 60
MAX_MEMORY = 4 * 1024**3  # bytes
MAX_PACKAGES = 2000  # folders in one folder of packages


def expand_xacro(path: Path, arguments: Mapping[str, str], package_paths: Sequence[Path]) -> bytes:
    """Return the URDF of a xacro file. Packages are found in ``package_paths`` and around the file."""
    read_bytes(path)  # checks its kind and size, and names it as an input
    folders = _list_package_folders(path, package_paths)
    request = {
        "path": str(path.resolve()),
        "arguments": dict(arguments),
        "packages": {name: str(folder) for name, folder in _find_packages(folders).items()},
        "seconds": MAX_SECONDS,
        "memory": MAX_MEMORY,
    }
    answer = _run(request, path)
    match answer.get("error"):
        case None:
            return str(answer["urdf"]).encode("utf-8")
        case "import":
            raise MissingExtraError(
                f"{path.name} is a xacro file, which xacrodoc expands, but xacrodoc is not installed; install it with: "
                "pip install 'ytheta[xacro]'"
            )
        case "arguments":
            declared = [str(name) for name in answer["declared"]]
            unknown = next(name for name in arguments if name not in declared)
            known = f"its arguments are {', '.join(declared)}" if declared else "it has none"
            raise RobotFileError(f"{path.name} has no xacro argument {unknown!r}; {known}")
        case "package":
            places = ", ".join(str(folder) for folder in folders) or "no folder"
            raise RobotFileError(
                f"{path.name}: the package {answer['name']!r} is not found; looked in {places}; name the folder that "
                "contains it with --package-path (package_paths)"
            )
        case "memory":
            raise RobotFileError(f"{path.name}: its expansion needs more than {MAX_MEMORY / 1e9:.0f} GB; check it")
        case _:
            reason = str(answer.get("text", "xacro failed"))[:300]
            raise RobotFileError(f"{path.name} cannot be expanded: {reason}; correct the file or its arguments")


def _run(request: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Run the process and return its answer."""
    command = [sys.executable, "-P", str(Path(child_process.__file__))]
    try:
        done = subprocess.run(
            command, input=json.dumps(request).encode(), capture_output=True, timeout=MAX_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RobotFileError(
            f"{path.name}: its expansion takes more than {MAX_SECONDS} s; check its macros and expressions"
        ) from None
    if len(done.stdout) > 4 * MAX_ROBOT_SIZE:
        raise RobotFileError(f"{path.name}: its expansion exceeds {MAX_ROBOT_SIZE / 1e6:.0f} MB; check its macros")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        reason = "exceeded its limits" if done.returncode < 0 else "failed"
        raise RobotFileError(f"{path.name}: the expansion of this xacro file {reason}; check the file") from None
    return dict(answer)


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

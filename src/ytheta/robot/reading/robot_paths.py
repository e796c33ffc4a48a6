"""The file that the name or path of a robot stands for."""

from __future__ import annotations

from pathlib import Path

from ytheta.arguments import check_kind
from ytheta.errors import InputError, RobotFileError, suggest_names
from ytheta.robot.reading import catalog, parallel


def find_file(source: str | Path) -> Path:
    """Return the path of the file that a catalog name, a path or the folder of a parallel robot stands for."""
    form = "the name of a robot in the catalog, see yt.robots(), or the path of a file"
    check_kind("source", source, (str, Path), form)
    if source == "":
        raise InputError(f"the name of the robot is empty; give {form}")
    path = Path(source)
    if path.name == parallel.FILE_NAME or exists(path / parallel.FILE_NAME):  # a parallel robot of Gepetto
        return path.with_name("robot.urdf") if path.name == parallel.FILE_NAME else path / "robot.urdf"
    return find_in_catalog(source) if isinstance(source, str) and is_name(source) and not exists(path) else path


def is_name(source: str) -> bool:
    """Whether a text can be the name of a robot in the catalog."""
    return not Path(source).suffix and len(Path(source).parts) == 1


def find_in_catalog(name: str) -> Path:
    """Return the path of a robot in the catalog. RobotFileError if there is none of this name."""
    names = catalog.list_names()
    if name in names:
        return catalog.find_path(name)
    raise RobotFileError(f"there is no robot {name!r} in the catalog and no such file{suggest_names(name, names)}")


def exists(path: Path) -> bool:
    """Whether there is a file or folder at a path, which may be impossible."""
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or contains a null character
        return False

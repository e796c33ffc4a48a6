"""Names that the shell completes: robots and methods.

The names of methods are repeated here, since their registries load NumPy, and a shell waits for its completions. A test
compares them with the registries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ytheta.robot.reading.catalog import list_names

ROBOT_SUFFIXES = (".urdf", ".xml", ".toml", ".xacro", ".sdf", ".world")
PAPERS = ("lu1993", "ha1989", "walker1988", "lin1995", "fernandez2000", "all")
BASE_METHODS = ("auto", "lin", "ha", "qr")
CRITERIA = ("balanced", "plain", "scaled", "d", "a", "e", "lin")
ESTIMATORS = (
    "auto",
    "evidence",
    "weighted",
    "least-squares",
    "sequential",
    "huber",
    "recursive",
    "lin",
    "instrumental-variables",
    "total-least-squares",
)
FORMS = ("differential", "integral", "cumulative", "momentum")
FORMATS = (
    "c",
    "casadi",
    "urdf",
    "mjcf",
    "toml",
    "franka-load",
    "ur-payload",
    "friction-table",
    "mujoco-actuators",
    "isaac-actuators",
)


def complete_robot(incomplete: str) -> list[str]:
    """Return the catalog's names and the descriptions that begin like this; no result leaves files to the shell."""
    names = [name for name in list_names() if name.startswith(incomplete)]
    folder, beginning = _split_path(incomplete)
    paths = sorted(Path(folder or ".").glob("*")) if Path(folder or ".").is_dir() else []
    files = [f"{folder}{path.name}" for path in paths if path.name.startswith(beginning) and _is_description(path)]
    return names + files


def complete_from(*names: str) -> Callable[[str], list[str]]:
    """Return a function that completes one of the names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _split_path(text: str) -> tuple[str, str]:
    """Return the folder, with its slash, and the beginning of a name."""
    folder, slash, name = text.rpartition("/")
    return folder + slash, name


def _is_description(path: Path) -> bool:
    return path.suffix.lower() in ROBOT_SUFFIXES and path.is_file()

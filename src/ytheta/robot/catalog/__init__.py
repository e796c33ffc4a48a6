"""The robots that come with ytheta: one TOML file each, every number with its source."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_FOLDER = Path(str(files(__name__)))


def list_names() -> tuple[str, ...]:
    """Return the names of all robots, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def find_path(name: str) -> Path:
    """Return the file of a robot."""
    return _FOLDER / f"{name}.toml"

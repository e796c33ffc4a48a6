"""The robots that come with ytheta. Each is one TOML file, which gives the source of every number."""

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

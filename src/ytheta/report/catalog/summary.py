"""The catalog as plain data: the output of ``ytheta robots --json``."""

from __future__ import annotations

from typing import Any

from ytheta.robot import catalog
from ytheta.robot.reading.toml.reader import read_toml


def summarize_catalog() -> dict[str, Any]:
    """Return name, joints, loops and description of each robot of the catalog."""
    return {"robots": [_summarize_entry(name) for name in catalog.list_names()]}


def _summarize_entry(name: str) -> dict[str, Any]:
    path = catalog.find_path(name)
    robot = read_toml(path.read_bytes(), path, snap=0.0)
    return {"name": name, "joints": len(robot.movable), "loops": len(robot.loops), "about": robot.about}

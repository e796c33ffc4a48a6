"""Robots of the catalog, also with edited files."""

from __future__ import annotations

from functools import cache

from ytheta.conventions import SNAP
from ytheta.robot.reading import catalog
from ytheta.robot.reading.toml import parse_robot
from ytheta.robot.robot import Robot

# Tolerance of doubles of order one; the last digit of a table is 1e-6 or more.
EXACT = 1e-12


@cache
def robot(name: str) -> Robot:
    path = catalog.find_path(name)
    return parse_robot(path.read_bytes(), path, SNAP)


def edited(name: str, old: str, new: str) -> Robot:
    """A robot of the catalog with one change in its file."""
    path = catalog.find_path(name)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {path.name}"
    return parse_robot(text.replace(old, new).encode(), path, SNAP)


# Tolerance of numerical derivatives, which lose about five digits of a double.
DIFFERENCED = 1e-8

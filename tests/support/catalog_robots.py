"""Robots of the catalog, also with edited files."""

from __future__ import annotations

from functools import cache

from ytheta.conventions import SNAP
from ytheta.robot import catalog
from ytheta.robot.reading.toml.reader import read_toml
from ytheta.robot.robot import Robot

# Doubles on figures of order one; a table's last printed digit is at 1e-6 and above.
EXACT = 1e-12


@cache
def robot(name: str) -> Robot:
    path = catalog.find_path(name)
    return read_toml(path.read_bytes(), path, SNAP)


def edited(name: str, old: str, new: str) -> Robot:
    """A robot of the catalog with one place of its file changed."""
    path = catalog.find_path(name)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
    return read_toml(text.replace(old, new).encode(), path, SNAP)


# Differences lose about five digits of a double.
DIFFERENCED = 1e-8

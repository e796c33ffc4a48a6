"""A two-link robot in TOML, and a reader of TOML text."""

from __future__ import annotations

from pathlib import Path

from ytheta.robot.reading.toml import parse_robot
from ytheta.robot.robot import Robot

PATH = Path("robot.toml")


def read(text: str, snap: float = 1e-4) -> Robot:
    return parse_robot(text.encode(), PATH, snap)


TWO = """
name = "two"
[lengths]
l1 = 0.4
[[link]]
name = "base"
[[link]]
name = "upper"
mass = 1.5
center = [0.1, 0, 0]
inertia = { xx = 0.01, yy = 0.02, zz = 0.02 }
[[link]]
name = "lower"
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "upper"
[[joint]]
name = "q2"
type = "prismatic"
parent = "upper"
child = "lower"
modified_dh = { alpha = 1.5708, a = "l1", d = 0.2 }
"""

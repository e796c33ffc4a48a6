"""Files with random mistakes give a robot with finite numbers, or an error of ytheta.

``tests/fuzz`` tries many more mistakes; here, the robots that result are examined too.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.paths import ROOT
from ytheta.errors import YthetaError
from ytheta.inspection import inspect
from ytheta.robot.kinematics import link_poses
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

NUMBERS = ["0", "-1", "1e-200", "1e200", "1e300", "-1e300", "nan", "inf", "1e-320", "3.14159", "1.5708", "x", "-0.0"]
NUMBERS += ["99999999999", "1e15", "1e-9", "0x7fffffffffffffffffffffffffffffffffffff"]
WORDS = ["", "base", "world", "true", "free", "ball", "slide", "fixed", "prismatic", "point", "ü", "pi", "self", "[/x]"]

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.2" rpy="0 0.3 0"/><mass value="2"/>
    <inertia ixx="1" ixy="0.1" ixz="0" iyy="1" iyz="0" izz="1.2"/></inertial></link>
  <link name="tool"><inertial><mass value="0.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="jaw"/>
  <joint name="q1" type="revolute"><origin xyz="0 0 0.3" rpy="1.5708 0 0"/>
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="3"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="f" type="fixed"><origin xyz="0 0.4 0" quat_xyzw="0 0 0.7071 0.7071"/>
    <parent link="upper"/><child link="tool"/></joint>
  <joint name="q2" type="prismatic"><parent link="tool"/><child link="jaw"/>
    <mimic joint="q1" multiplier="0.5" offset="0.1"/></joint>
</robot>
"""
MJCF = """<mujoco model="m"><compiler angle="radian" boundinertia="1e-4"/>
  <worldbody><body name="a" pos="0.1 0 0" quat="1 0 0 1">
    <joint name="q1" axis="0 1 0" ref="0.2" armature="0.1" damping="0.3" range="-1 1"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>
    <body name="b" pos="0.3 0 0" xyaxes="1 0 0 0 1 1"><joint name="q2" type="slide" axis="1 1 0" ref="0.1"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/></body></body>
    <body name="c" pos="0 1 0" euler="0 0.5 0"><joint name="q3"/>
      <geom type="box" size="0.1 0.1 0.2" density="500"/></body>
  </worldbody>
  <equality><joint joint1="q2" joint2="q1" polycoef="0.1 2 0 0 0"/></equality>
  <actuator><motor joint="q3" gear="50" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
SOURCES = {
    "arm.urdf": URDF,
    "arm.xml": MJCF,
    "five-bar.toml": (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text(),
    "lu-two-link.toml": (ROOT / "src/ytheta/robot/catalog/lu-two-link.toml").read_text(),
}


def add_mistake(text: str, rng: random.Random) -> str:
    """Return the text with one number, word, line or name exchanged."""
    kind = rng.choice(["number", "number", "number", "word", "line", "name"])
    if kind == "line":
        lines = text.split("\n")
        line = lines.pop(rng.randrange(len(lines)))
        if rng.random() < 0.5:
            lines[rng.randrange(len(lines)) : 0] = [line, line]
        return "\n".join(lines)
    pattern = {"number": r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", "word": r'(?<=")[^"\n]*(?=")', "name": r"\w+(?= ?=)"}[
        kind
    ]
    matches = list(re.finditer(pattern, text))
    place = rng.choice(matches)
    others = {"number": NUMBERS, "word": WORDS, "name": [match[0] for match in matches]}[kind]
    return text[: place.start()] + rng.choice(others) + text[place.end() :]


def is_finite(robot: Robot) -> bool:
    poses = link_poses(robot.numeric, np.linspace(-0.5, 0.5, len(robot.movable)))
    arrays = [robot.theta, np.array(robot.gravity), *poses.values(), *robot.coupling_map]
    return all(bool(np.isfinite(array).all()) for array in arrays)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("seed", range(10))
def test_mistakes_are_errors_or_finite_robots(name: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"{name} {seed}")
    path, text = tmp_path / name, SOURCES[name]
    for _ in range(rng.choice([1, 1, 2, 3])):
        text = add_mistake(text, rng)
    path.write_text(text, encoding="utf-8")
    with contextlib.suppress(YthetaError):
        robot = load(path, fix_base=True, snap=rng.choice([0.0, 1e-4]))
        if not robot.unset_symbols:
            assert is_finite(robot), text
        inspection = inspect(robot)
        assert json.dumps(inspection.to_dict(), allow_nan=False)
        assert str(inspection)


@pytest.mark.parametrize("name", SOURCES)
def test_files_without_mistakes_are_robots(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SOURCES[name], encoding="utf-8")
    assert is_finite(load(tmp_path / name, snap=0.0))

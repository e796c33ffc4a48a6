"""Robots written as TOML: reading them back gives an equal robot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from tests.support.random_robots import robots
from tests.support.toml_robots import TWO, read
from ytheta.errors import InputError
from ytheta.files.symbols import symbol
from ytheta.robot.frame import Frame
from ytheta.robot.parts import CollisionShape, ShapeKind, make_capsule
from ytheta.robot.reading.toml import parse_robot
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import save_robot, to_toml


@given(robots(twists=True))
def test_round_trip(robot: Robot) -> None:
    assert read(to_toml(robot)) == robot


def test_round_trip_detects_a_changed_digit() -> None:
    robot = read(TWO)
    text = to_toml(robot)
    assert read(text) == robot
    assert read(text.replace("m = 1.5", "m = 1.5000000000000002")) != robot


def test_files_are_written_atomically(tmp_path: Path) -> None:
    robot = read(TWO)
    path = save_robot(robot, tmp_path / "two.toml")
    assert parse_robot(path.read_bytes(), path, 1e-4) == robot
    assert [file.name for file in tmp_path.iterdir()] == ["two.toml"]
    with pytest.raises(InputError, match=r"use the extension \.toml"):
        save_robot(robot, tmp_path / "two.urdf")
    with pytest.raises(InputError, match="cannot be written"):
        save_robot(robot, tmp_path / "missing" / "two.toml")


def test_names_and_order_survive_the_round_trip() -> None:
    """An empty name is not replaced by that of the file; coordinates keep their order."""
    nameless = replace(read(TWO), name="", actuated=("q2", "q1"))
    assert read(to_toml(nameless)) == nameless
    assert read(to_toml(nameless)).coordinates == ("q2", "q1")
    assert "actuated" not in to_toml(read(TWO))


def test_long_linear_forms_survive_the_round_trip() -> None:
    names = [f"length_{k}" for k in range(40)]
    place = sum((symbol(name) * (1 / (k + 3)) for k, name in enumerate(names)), symbol("l1") + 0.1)
    robot = read(TWO)
    joints = (replace(robot.joints[0], placement=Frame.shift(place)), *robot.joints[1:])
    robot = replace(robot, joints=joints, lengths=(*robot.lengths, *((name, None) for name in names)))
    assert read(to_toml(robot)) == robot


def test_no_file_remains_if_writing_fails(tmp_path: Path) -> None:
    robot = read(TWO)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        save_robot(robot, tmp_path / "folder.toml")
    with pytest.raises(InputError, match=r"the robot contains '\\ud800', which UTF-8 cannot encode"):
        save_robot(replace(robot, about="half a pair: \ud800"), tmp_path / "half.toml")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.toml"]


def test_files_have_the_permissions_of_the_user(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = save_robot(read(TWO), tmp_path / "two.TOML")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["two.TOML"]


def test_collision_shapes_are_written_except_meshes() -> None:
    frame = Frame.shift(0.1, 0.2, 0.3) @ Frame.from_rpy(0.4, 0.5, 0.6)
    shapes = (
        make_capsule("upper", (0.1, 0.2, 0.3), (0.4, -0.1, 0.2), 0.05, source="measured"),
        CollisionShape("upper", ShapeKind.BOX, (0.1, 0.2, 0.3), frame),
        CollisionShape("lower", ShapeKind.SPHERE, (0.1,)),
        CollisionShape("lower", ShapeKind.CYLINDER, (0.1, 0.3), frame),
        CollisionShape("lower", ShapeKind.ELLIPSOID, (0.1, 0.3, 0.2)),
    )
    mesh = CollisionShape("lower", ShapeKind.MESH, (1.0, 1.0, 1.0), file="/arm.stl")
    robot = replace(read(TWO), collision=(*shapes, mesh))
    assert read(to_toml(robot)).collision == shapes
    assert read(to_toml(robot).replace("0.05", "0.06")).collision != shapes

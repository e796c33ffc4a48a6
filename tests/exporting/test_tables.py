"""Friction tables and actuator parameters, read back and compared with the friction law and with MuJoCo's model."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

import ytheta as yt
from tests.support.exported_robots import change_bodies
from ytheta.exporting.export import export, find_losses
from ytheta.exporting.source import find_source
from ytheta.robot.parts import compute_friction
from ytheta.robot.robot import Robot


def make_robot() -> Robot:
    robot = change_bodies(yt.load("ur10"))
    return robot.with_drives(lambda _, drive: replace(drive, gear_ratio=3.0, root=0.4, offset=0.2))


def test_the_friction_table_gives_the_friction(tmp_path: Path) -> None:
    robot = make_robot()
    (path,) = export(robot, to="friction-table", path=tmp_path / "friction.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["joint"] for row in rows] == [joint.name for joint in robot.movable]
    for row, joint in zip(rows, robot.movable, strict=True):
        for v in (-1.3, 0.4):
            table = float(row["viscous"]) * v + float(row["coulomb"]) * np.sign(v)
            table += float(row["root"]) * np.sign(v) * np.sqrt(abs(v))
            assert abs(table - float(compute_friction(joint.drive, v))) < 1e-12
            assert abs(table - 0.1 * v - float(compute_friction(joint.drive, v))) > 0.01  # the twin
        assert (row["force_unit"], row["load"]) == ("N m", "")
        assert float(row["rotor_inertia_at_joint"]) == joint.drive.parameters[0]


def test_names_are_not_formulas(tmp_path: Path) -> None:
    robot = yt.load("lu-two-link")
    joints = tuple(replace(joint, name=f"=1+{joint.name},\n") for joint in robot.joints)
    (path,) = export(replace(robot, joints=joints, actuated=()), to="friction-table", path=tmp_path / "f.csv")
    with path.open(newline="") as file:
        assert [row["joint"][0] for row in csv.DictReader(file)] == ["'", "'"]


def test_actuator_parameters_are_those_of_mujoco(tmp_path: Path) -> None:
    robot = make_robot()
    (path,) = export(robot, to="mujoco-actuators", path=tmp_path / "a.json")
    joints = json.loads(path.read_text())["joints"]
    (isaac,) = export(robot, to="isaac-actuators", path=tmp_path / "i.yaml")
    actuator = json.loads(isaac.read_text())["actuator"]
    (mjcf,) = export(robot, to="mjcf", path=tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(mjcf))
    assert list(joints) == actuator["joint_names_expr"] == [joint.name for joint in robot.movable]
    for name, values in joints.items():
        dof = int(model.joint(name).dofadr[0])
        expected = [
            float(np.ravel(row)[dof]) for row in (model.dof_armature, model.dof_damping, model.dof_frictionloss)
        ]
        assert [values[key] for key in ("armature", "damping", "frictionloss")] == expected
        armature, friction, dynamic, viscous = (
            actuator[key][name] for key in ("armature", "friction", "dynamic_friction", "viscous_friction")
        )
        assert [armature, viscous, friction, dynamic] == [*expected, expected[2]]


def test_laws_that_a_simulator_does_not_have_are_named() -> None:
    source = find_source(make_robot())
    for to in ("mujoco-actuators", "isaac-actuators", "mjcf", "urdf"):
        texts = [finding.text for finding in find_losses(source, to=to, path="x")]
        assert any("cannot express root friction of shoulder_pan_joint, " in text for text in texts)
        assert any("cannot express the torque offset of " in text for text in texts)
        assert any("rotor inertia" in text for text in texts) is (to == "urdf")
    texts = [finding.text for finding in find_losses(find_source("panda"), to="mjcf", path="x")]
    assert [text.split(" of panda_joint1, ")[0] for text in texts] == [
        f"MJCF cannot express the {quantity} limit" for quantity in ("velocity", "acceleration", "jerk")
    ]
    assert find_losses(source, to="toml", path="x") == find_losses(source, to="friction-table", path="x") == ()

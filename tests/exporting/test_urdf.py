"""URDF files with other inertias and friction: read back by us and by Pinocchio; all other bytes unchanged."""

from __future__ import annotations

import difflib
import math
from dataclasses import replace
from pathlib import Path

import pytest

import ytheta as yt
from tests.support import example_robots
from tests.support.exported_robots import (
    TOLERANCE,
    change_bodies,
    compute_pinocchio_torque,
    compute_torque,
    measure_difference,
)
from ytheta.errors import InputError
from ytheta.exporting.export import export
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

FILES = ("ur10_robot.urdf", "panda.urdf", "kinova.urdf", "xarm7.urdf", "z1.urdf", "double_pendulum.urdf")

ARM = """<?xml version="1.0"?>
<!-- kept: ünïcode & <tags> -->
<robot name='arm'>
\t<link name="base"/>
  <link name="upper"><!-- about the upper arm -->
    <inertial>
      <origin rpy="0.1 0.2 0.3"   xyz="0 0 0.1" />   <!-- odd   spaces -->
      <mass value='2.0'/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>
    </inertial>
    <visual><geometry><mesh filename="meshes/a>b.stl"/></geometry></visual>
  </link>
  <link name="hand"><inertial><mass value="0.5"/>
    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="tool"/>
  <joint name="q1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
  <joint name="q2" type="revolute"><parent link="hand"/><child link="tool"/><axis xyz="1 0 0"/>
    <origin xyz="0.3 0 0"/><dynamics friction="0.1"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
  <joint name="grip" type="fixed"><parent link="upper"/><child link="hand"/><origin xyz="0 0 0.4"/></joint>
</robot>
"""


def write_arm(folder: Path, text: str = ARM) -> Path:
    path = folder / "arm.urdf"
    path.write_bytes(text.encode())
    return path


def export_back(robot: Robot, source: Path, folder: Path) -> Path:
    (path,) = export(robot, to="urdf", path=folder / "new.urdf", description=source)
    return path


@pytest.mark.parametrize("name", FILES)
def test_vendor_files_give_the_torques_of_the_new_robot(name: str, tmp_path: Path) -> None:
    source = example_robots.urdf(name)
    described = yt.load(source, snap=0.0)
    robot = change_bodies(described, rotor_inertia=False)
    path = export_back(robot, source, tmp_path)
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_torque(yt.load(path, snap=0.0))) < TOLERANCE
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    # The twin: the file before the export.
    assert measure_difference(expected, compute_pinocchio_torque(source, robot)) > 1e-3


@pytest.mark.parametrize("name", FILES[:5])  # the last one has attributes on lines of their own
def test_only_numbers_of_inertias_and_friction_change(name: str, tmp_path: Path) -> None:
    source = example_robots.urdf(name)
    path = export_back(change_bodies(yt.load(source, snap=0.0), rotor_inertia=False), source, tmp_path)
    old, new = (file.read_text(encoding="utf-8").splitlines() for file in (source, path))
    changed = [line for line in difflib.unified_diff(old, new, n=0) if line[:1] in "+-"][2:]
    words = ("inertial>", "<origin", "<mass", "<inertia ", "<dynamics")
    assert changed
    assert [line for line in changed if not any(word in line for word in words)] == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_changes_is_copied_byte_by_byte(name: str, tmp_path: Path) -> None:
    source = example_robots.urdf(name)
    (path,) = export(source, to="urdf", path=tmp_path / "copy.urdf", force=True)
    assert path.read_bytes() == source.read_bytes()
    merged = yt.load(source, snap=0.0).merged  # bodies instead of links, as in a model without changes
    (path,) = export(merged, to="urdf", path=tmp_path / "merged.urdf", description=source, force=True)
    assert path.read_bytes() == source.read_bytes()


def test_comments_quotes_and_spaces_stay(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    text = export_back(change_bodies(yt.load(source), rotor_inertia=False), source, tmp_path).read_text(
        encoding="utf-8"
    )
    for kept in (
        "<!-- kept: ünïcode & <tags> -->",
        "<robot name='arm'>\n\t<link",
        '<origin rpy="0.1 0.2 0.3"   xyz="',
        '" />   <!-- odd   spaces -->',
        '<mesh filename="meshes/a>b.stl"/>',
    ):
        assert kept in text
    robot = change_bodies(yt.load(source), rotor_inertia=False)
    assert measure_difference(compute_torque(robot), compute_pinocchio_torque(tmp_path / "new.urdf", robot)) < (
        TOLERANCE
    )


def test_a_fixed_link_keeps_its_share_if_the_rest_is_consistent(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    described = yt.load(source, snap=0.0)
    heavier = change_bodies(described, rotor_inertia=False)
    new = yt.load(export_back(heavier, source, tmp_path), snap=0.0)
    assert new.link("hand").inertia == described.link("hand").inertia
    assert abs(new.merged.theta - heavier.theta)[:20].max() < 1e-12
    # A body that is lighter than the hand: all of it goes to the upper arm.
    light = heavier.with_inertias(
        {"upper": Inertia.about_center(0.3, (0, 0, 0.1), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.01)))}
    )
    (path,) = export(light, to="urdf", path=tmp_path / "light.urdf", description=source)
    new = yt.load(path, snap=0.0)
    assert new.link("hand").inertia.massless
    assert new.link("upper").inertia.mass == 0.3
    assert abs(new.merged.theta - light.theta)[:20].max() < 1e-12


def test_a_load_becomes_a_link(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    load = Inertia.about_center(0.7, (0.01, 0.02, 0.03), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.01)))
    robot = yt.load(source, snap=0.0).with_load(load, on="tool", frame=Frame.shift(0.1) @ Frame.from_rpy(0.3, 0.2, 0.1))
    path = export_back(robot, source, tmp_path)
    assert measure_difference(compute_torque(robot), compute_pinocchio_torque(path, robot)) < (TOLERANCE)
    assert yt.load(path).link("load").inertia.mass == 0.7


def test_a_model_that_does_not_belong_to_the_file_is_refused(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    robot = yt.load(source)
    with pytest.raises(InputError, match=r"arm\.urdf has no joint 'shoulder_pan_joint', which 'ur10' has"):
        export_back(yt.load("ur10"), source, tmp_path)
    moved = replace(robot, joints=tuple(replace(j, placement=Frame.shift(z=0.01) @ j.placement) for j in robot.joints))
    with pytest.raises(InputError, match=r"joint 'q1' of 'arm' has another position or axis in arm\.urdf"):
        export_back(moved, source, tmp_path)


@pytest.mark.parametrize("name", ["ur10", "panda", "iiwa14", "rx90", "lu-two-link"])
def test_robots_of_the_catalog_as_new_files(name: str, tmp_path: Path) -> None:
    robot = change_bodies(yt.load(name), rotor_inertia=False)
    (path,) = export(robot, to="urdf", path=tmp_path / "new.urdf")
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_torque(yt.load(path))) < TOLERANCE
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    (path,) = export(name, to="urdf", path=tmp_path / "old.urdf", force=True)
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) > 1e-3


def test_mounting_and_hostile_names_survive(tmp_path: Path) -> None:
    robot = yt.load("lu-two-link")
    hostile = "a\"/><link name='x'>&--"
    robot = replace(
        robot, name=hostile, mounting=Frame.from_rpy(0.3, 0.5, 0.1), gravity=(1.0, 2.0, math.sqrt(9.81**2 - 5.0))
    )
    (path,) = export(robot, to="urdf", path=tmp_path / "new.urdf")
    read = yt.load(path)
    assert read.name == hostile
    assert measure_difference(compute_torque(robot), compute_torque(read)) < (TOLERANCE)
    with pytest.raises(InputError, match="which XML does not allow"):
        export(replace(robot, name="a\x01"), to="urdf", path=tmp_path / "bad.urdf")


def test_loops_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has the loop 'tip', and URDF describes trees only"):
        export("five-bar", to="urdf", path=tmp_path / "new.urdf", force=True)


def write_template(folder: Path) -> Path:
    """Write the arm as a xacro file whose argument is the mass of the upper arm."""
    head = "<robot name='arm' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arg name='mass' default='2.0'/>"
    text = ARM.replace("<robot name='arm'>", head).replace("value='2.0'", "value='$(arg mass)'")
    path = folder / "arm.urdf.xacro"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("mass", ["2.0", "5.0"])
def test_a_template_is_expanded_and_keeps_its_meshes(mass: str, tmp_path: Path) -> None:
    plain = write_arm(tmp_path, ARM.replace("value='2.0'", f"value='{mass}'"))
    (path,) = export(write_template(tmp_path), to="urdf", path=tmp_path / "new.urdf", xacro_args={"mass": mass})
    robot = yt.load(plain, snap=0.0)
    expected = compute_pinocchio_torque(plain, robot)
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    assert "xacro" not in path.read_text(encoding="utf-8")
    assert "meshes/a" in path.read_text(encoding="utf-8")
    # The twin: the expansion with another argument.
    (other,) = export(write_template(tmp_path), to="urdf", path=tmp_path / "o.urdf", xacro_args={"mass": "3.0"})
    assert measure_difference(expected, compute_pinocchio_torque(other, robot)) > 1e-3


def test_a_template_is_a_description_of_other_numbers(tmp_path: Path) -> None:
    template = write_template(tmp_path)
    robot = change_bodies(yt.load(template, snap=0.0), rotor_inertia=False)
    path = export_back(robot, template, tmp_path)
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    assert "meshes/a" in path.read_text(encoding="utf-8")

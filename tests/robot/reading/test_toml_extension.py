"""TOML files that extend another robot."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.toml_robots import TWO
from ytheta.errors import InputError, RobotError, RobotFileError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Force, Limits, Marker, Motor
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import save_robot

URDF = """<robot name="vendor">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="q1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="9"/><dynamics damping="0.5" friction="0.7"/></joint>
  <joint name="q2" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
    <origin rpy="1.5708 0 0" xyz="0 0.3 0"/><limit lower="-1" upper="1" velocity="2" effort="9"/></joint>
</robot>"""

FLOATING = """<robot name="boat">
  <link name="sea"/><link name="hull"/><link name="oar"/>
  <joint name="water" type="floating"><parent link="sea"/><child link="hull"/></joint>
  <joint name="q1" type="revolute"><parent link="hull"/><child link="oar"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="9"/></joint>
</robot>"""

EXTENSION = """
extends = "vendor.urdf"
name = "ours"
about = "with a spring"
gravity = [0, 0, -1.6]
[mounting]
rpy = ["pi/2", 0, 0]
[home]
q1 = 0.2
[[link]]
name = "lower"
parameters = { m = 3.0, mx = 0.3 }
source = "weighed"
[[link]]
name = "hand"
mass = 0.1
[[joint]]
name = "q2"
drive = { rotor_inertia = 1e-4, gear_ratio = 50.0 }
[[joint]]
name = "q3"
type = "prismatic"
parent = "lower"
child = "hand"
[[coupling]]
joint = "q3"
terms = { q1 = 0.1 }
[[motor]]
name = "m"
turns_with = { q1 = 1.0, q2 = 1.0 }
[[force]]
name = "spring"
torque = { q1 = "q1" }
value = 2.0
[[marker]]
name = "tip"
link = "hand"
"""


def extend(folder: Path, text: str, *, urdf: str = URDF) -> Robot:
    (folder / "vendor.urdf").write_text(urdf)
    (folder / "ours.toml").write_text(text)
    return load(folder / "ours.toml")


def format_extension(extra: str = "", top: str = "") -> str:
    return f'extends = "vendor.urdf"\n{top}\n{extra}'


def test_an_empty_extension_changes_nothing(tmp_path: Path) -> None:
    robot = extend(tmp_path, format_extension())
    vendor = load(tmp_path / "vendor.urdf")
    assert robot == vendor
    assert robot.findings == vendor.findings
    assert robot.findings  # the rounded angle of q2 is snapped, as in a URDF
    assert extend(tmp_path, format_extension(top='name = "ours"')) != vendor


def test_all_tables_and_keys(tmp_path: Path) -> None:
    robot = extend(tmp_path, EXTENSION)
    vendor = load(tmp_path / "vendor.urdf")
    assert (robot.name, robot.about, robot.source) == ("ours", "with a spring", "vendor.urdf")
    assert robot.gravity == (0.0, 0.0, -1.6)
    assert robot.mounting == ytheta.Frame.turn((1.0, 0.0, 0.0), np.pi / 2)
    assert robot.home == (("q1", 0.2),)
    assert robot.links[:2] == vendor.links[:2]
    assert robot.link("lower") == replace(
        vendor.link("lower"), inertia=Inertia.from_names({"m": 3.0, "mx": 0.3}), source="weighed"
    )
    assert robot.joint("q1") == vendor.joint("q1")
    assert robot.joint("q2") == replace(vendor.joint("q2"), drive=Drive(1e-4, 50.0))
    assert robot.joint("q3").parent == "lower"
    assert robot.couplings == (Coupling("q3", (("q1", 0.1),)),)
    assert robot.motors == (Motor("m", turns_with=(("q1", 1.0), ("q2", 1.0))),)
    assert robot.forces == (Force("spring", (("q1", "q1"),), value=2.0),)
    assert robot.markers == (Marker("tip", "hand"),)
    assert robot.actuated == ("q1", "q2")
    assert load(save_robot(robot, tmp_path / "whole.toml")) == robot


def test_drives_and_limits_are_replaced_as_a_whole(tmp_path: Path) -> None:
    robot = extend(tmp_path, format_extension('[[joint]]\nname = "q1"\ndrive = { viscous = 0.1 }'))
    assert robot.joint("q1").drive == Drive(viscous=0.1)
    assert robot.joint("q1").limits == Limits(-1.0, 1.0, 2.0, effort=9.0)
    robot = extend(tmp_path, format_extension('[[joint]]\nname = "q1"\nlimits = { velocity = 3.0 }'))
    assert robot.joint("q1").limits == Limits(velocity=3.0)
    assert robot.joint("q1").drive == Drive(viscous=0.5, coulomb=0.7)


def test_options_apply_to_the_extended_file(tmp_path: Path) -> None:
    extend(tmp_path, format_extension())
    unsnapped = load(tmp_path / "ours.toml", snap=0.0)
    assert unsnapped == load(tmp_path / "vendor.urdf", snap=0.0)
    assert unsnapped != load(tmp_path / "ours.toml")
    (tmp_path / "vendor.urdf").write_text(FLOATING)
    assert load(tmp_path / "ours.toml").floating
    assert load(tmp_path / "ours.toml", fix_base=True) == load(tmp_path / "vendor.urdf", fix_base=True)


def test_extending_toml_mjcf_and_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    tip = '[[marker]]\nname = "tip"\nlink = "lower"\nframe = { xyz = ["l1 + l2", 0, 0] }'
    (tmp_path / "longer.toml").write_text(f'extends = "two.toml"\n[lengths]\nl1 = 0.9\nl2 = "unset"\n{tip}')
    robot = load(tmp_path / "longer.toml", lengths={"l2": 0.1})
    assert robot.lengths == (("l1", 0.9), ("l2", 0.1))
    assert robot.numeric.markers[0].frame.matrix[0, 3] == pytest.approx(1.0)
    (tmp_path / "twisted.toml").write_text(
        'extends = "longer.toml"\n[angles]\ntilt = "unset"\nroll = "pi/2"\n'
        '[[marker]]\nname = "eye"\nlink = "lower"\nframe = { twist = "tilt", then = { twist = "roll" } }'
    )
    twisted = load(tmp_path / "twisted.toml", lengths={"l2": 0.1}, angles={"tilt": 0.25})
    assert twisted.angles == (("tilt", 0.25), ("roll", math.pi / 2))
    eye = Frame.turn((1.0, 0.0, 0.0), 0.25 + math.pi / 2)
    np.testing.assert_allclose(twisted.numeric.markers[1].frame.matrix, eye.matrix, rtol=0, atol=1e-15)
    (tmp_path / "untwisted.toml").write_text('extends = "twisted.toml"\n[angles]\ntilt = 0.5')
    assert load(tmp_path / "untwisted.toml").angles == (("tilt", 0.5), ("roll", math.pi / 2))
    (tmp_path / "again.toml").write_text('extends = "longer.toml"\nname = "again"')
    assert load(tmp_path / "again.toml").markers == robot.markers
    (tmp_path / "puma.toml").write_text('extends = "puma560"\nabout = "ours"')
    assert load(tmp_path / "puma.toml") == replace(load("puma560"), about="ours")
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="a"><joint name="j"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "spring.toml").write_text(
        'extends = "arm.xml"\n[[force]]\nname = "spring"\ntorque = { j = "j" }\nvalue = 2.0'
    )
    assert load(tmp_path / "spring.toml").forces[0].value == 2.0


def test_actuated_coordinates(tmp_path: Path) -> None:
    coupled = '[[motor]]\nname = "m"\n[[coupling]]\njoint = "q2"\nterms = { q1 = -1.0, m = 1.0 }'
    assert extend(tmp_path, format_extension(coupled)).actuated == ("q1", "m")
    assert extend(tmp_path, format_extension(coupled, 'actuated = ["m", "q1"]')).actuated == ("m", "q1")
    (tmp_path / "turned.toml").write_text('extends = "ours.toml"\n[[force]]\nname = "f"\ntorque = { m = "1" }')
    assert load(tmp_path / "turned.toml").actuated == ("m", "q1")
    (tmp_path / "walker.toml").write_text('extends = "walker"\nname = "ours"')
    assert load(tmp_path / "walker.toml").actuated == load("walker").actuated


def test_home_of_newly_coupled_joints_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text("home = { q1 = 0.3, q2 = 0.1 }\n" + TWO)
    (tmp_path / "ours.toml").write_text('extends = "two.toml"\n[[coupling]]\njoint = "q2"\nterms = { q1 = 1.0 }')
    assert load(tmp_path / "ours.toml").home == (("q1", 0.3),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '[[joint]]\nname = "q1"\naxis = [1, 0, 0]',
            r"\[\[joint\]\] 'q1': .* only its 'drive' and its 'limits' can be",
        ),
        ('[[joint]]\nname = "q1"\ntype = "fixed"\ndrive = {}', "can be changed, not 'type'; remove this key"),
        ('[[joint]]\nname = "q1"\ndrive = { vicsous = 1 }', "the key 'vicsous' is unknown; did you mean 'viscous'"),
        ('[[joint]]\nname = "q1"', "this table does not change the joint; give its 'drive'"),
        ('[[link]]\nname = "upper"\nload = true\nmass = 1', r"only its inertia \('mass', .* not 'load'"),
        ('[[link]]\nname = "upper"', "this table does not change the link"),
        ('[[link]]\nname = "upper"\nmass = -1', "negative"),
        ('[[link]]\nname = "upper"\nmass = 1\n[[link]]\nname = "upper"\nmass = 2', "put all changes into one"),
        ('[[joint]]\nname = "q9"\ndrive = {}', "the key 'type' is missing"),
        ('[[coupling]]\njoint = "q7"\nterms = {}', "determines 'q7', which is not a movable joint"),
        ('extend = "x"', "the key 'extend' is unknown; did you mean 'extends'"),
    ],
)
def test_mistakes(text: str, reason: str, tmp_path: Path) -> None:
    top, extra = ("", text) if text.startswith("[[") else (text, "")
    with pytest.raises(InputError, match=reason):
        extend(tmp_path, format_extension(extra, top))


def test_circular_and_long_extensions_are_errors(tmp_path: Path) -> None:
    for name, extended in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")):
        (tmp_path / f"{name}.toml").write_text(f'extends = "{extended}.toml"')
    circle = r"'extends' is circular: a.toml → b.toml → c.toml → a.toml; remove 'extends' from one of these files"
    with pytest.raises(RobotError, match=circle):
        load(tmp_path / "a.toml")
    with pytest.raises(RobotError, match=r"circular: d.toml → d.toml"):
        load(tmp_path / "d.toml")
    for k in range(40):
        (tmp_path / f"f{k}.toml").write_text(f'extends = "f{k + 1}.toml"')
    with pytest.raises(RobotError, match="'extends' refers to more than 16 files"):
        load(tmp_path / "f0.toml")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../vendor.urdf", "ours.toml, extends: the path '../vendor.urdf' leaves the robot's folder and is not opened"),
        ("https://example.org/vendor.urdf", "leaves the robot's folder"),
        ("package://vendor/vendor.urdf", "is not a path; give one relative to this file, or a catalog name"),
        ("missing.urdf", "missing.urdf does not exist"),
        ("puma", "there is no robot 'puma' in the catalog and no such file; did you mean 'puma560"),
        ("", "is a folder"),
        ("vendor.step", "robots are read from .urdf"),
    ],
)
def test_invalid_references_are_errors(reference: str, reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "robots"
    folder.mkdir()
    (tmp_path / "vendor.urdf").write_text(URDF)
    (folder / "vendor.step").write_text("x")
    (folder / "ours.toml").write_text(f'extends = "{reference}"')
    with pytest.raises(RobotFileError, match=reason):
        load(folder / "ours.toml")


def test_a_package_may_contain_both_files(tmp_path: Path) -> None:
    """As for meshes, the folder of a package.xml is the folder of the robot."""
    (tmp_path / "package.xml").write_text("<package/>")
    (tmp_path / "vendor.urdf").write_text(URDF)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "ours.toml").write_text('extends = "../vendor.urdf"')
    assert load(tmp_path / "models" / "ours.toml") == load(tmp_path / "vendor.urdf")


def test_errors_name_the_file_they_are_in(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=r"^ours.toml: vendor.urdf: .*'nowhere' does not exist"):
        extend(tmp_path, format_extension(), urdf=URDF.replace('parent link="base"', 'parent link="nowhere"'))
    with pytest.raises(RobotFileError, match=r"^vendor.urdf.*is unknown"):
        extend(tmp_path, format_extension(), urdf=URDF.replace('type="revolute"', 'type="round"'))


def test_collision_shapes_of_a_link_replace_its_shapes(tmp_path: Path) -> None:
    base = load("panda")
    text = 'extends = "panda"\n[[collision]]\nlink = "panda_link5"\nradius = 0.1\nends = [[0, 0, 0], [0, 0, 0.2]]\n'
    (tmp_path / "ours.toml").write_text(text)
    shapes = load(tmp_path / "ours.toml").collision
    assert [shape.size for shape in shapes if shape.link == "panda_link5"] == [(0.1, 0.2)]
    assert [s for s in shapes if s.link != "panda_link5"] == [s for s in base.collision if s.link != "panda_link5"]


def test_a_fixed_joint_of_the_extended_robot_becomes_a_sensor(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="hand"/><link name="tool"/>'
        '<joint name="q1" type="continuous"><parent link="base"/><child link="hand"/></joint>'
        '<joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/></joint></robot>'
    )
    path = tmp_path / "sensed.toml"
    path.write_text('extends = "arm.urdf"\n[[joint]]\nname = "flange"\ntype = "sensor"\n')
    robot = ytheta.load(path)
    assert robot.actuated == ("q1", *(f"flange_{part}" for part in ("fx", "fy", "fz", "nx", "ny", "nz")))
    assert robot == ytheta.load(ytheta.save_robot(robot, tmp_path / "copy.toml"))
    for wrong, message in (
        ('name = "flange"\ntype = "free"\n', "can only become a 'sensor', not 'free'"),
        ('name = "q1"\ntype = "sensor"\n', "only its 'drive' and its 'limits' can be changed, not 'type'"),
    ):
        path.write_text(f'extends = "arm.urdf"\n[[joint]]\n{wrong}')
        with pytest.raises(InputError, match=message):
            ytheta.load(path)

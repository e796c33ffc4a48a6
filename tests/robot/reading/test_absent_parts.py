"""Rotors, friction and inertias that a TOML file declares absent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ytheta as yt
from ytheta.errors import RobotError, RobotFileError
from ytheta.robot.parameters import find_absent_parameters
from ytheta.robot.parts import Drive, Link
from ytheta.robot.toml_writer import to_toml

ARM = """
[[link]]
name = "base"
[[link]]
name = "knuckle"
{knuckle}
[[link]]
name = "arm"
mass = 2.0
center = [0.3, 0, 0]
inertia = {{ xx = 0.01, yy = 0.1, zz = 0.1 }}
[[link]]
name = "plate"
{plate}
[[joint]]
name = "pan"
type = "revolute"
parent = "base"
child = "knuckle"
drive = {{ {drive} }}
[[joint]]
name = "tilt"
type = "revolute"
parent = "knuckle"
child = "arm"
axis = [0, 1, 0]
[[joint]]
name = "bolts"
type = "fixed"
parent = "knuckle"
child = "plate"
"""


def read(folder: Path, *, knuckle: str = "", plate: str = "", drive: str = "") -> yt.Robot:
    path = folder / "arm.toml"
    path.write_text(ARM.format(knuckle=knuckle, plate=plate, drive=drive))
    return yt.load(path)


@pytest.mark.parametrize(
    ("drive", "absent"),
    [
        ("", set()),
        ("rotor = true", set()),
        ("rotor = false", {"pan.Ia"}),
        ("friction = false", {"pan.fv", "pan.fc", "pan.fo"}),
        ("friction = true", set()),
        ("offset = false, viscous = 0.3", {"pan.fo"}),
        ("rotor = false, friction = false", {"pan.Ia", "pan.fv", "pan.fc", "pan.fo"}),
    ],
)
def test_drives(drive: str, absent: set[str], tmp_path: Path) -> None:
    robot = read(tmp_path, drive=drive)
    assert find_absent_parameters(robot) == absent
    everything = yt.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset"))
    assert set(robot.parameter_names) - set(everything.selected) == absent
    (tmp_path / "again.toml").write_text(to_toml(robot))
    assert yt.load(tmp_path / "again.toml").joints == robot.joints


def test_a_link_without_inertia(tmp_path: Path) -> None:
    robot = read(tmp_path, knuckle="inertia = false")
    assert {name.partition(".")[0] for name in find_absent_parameters(robot)} == {"knuckle"}
    assert not any(name.startswith("knuckle") for name in yt.base_parameters(robot).selected)
    assert find_absent_parameters(robot.merged) == find_absent_parameters(robot)
    (tmp_path / "again.toml").write_text(to_toml(robot))
    assert yt.load(tmp_path / "again.toml").links == robot.links
    assert find_absent_parameters(read(tmp_path)) == frozenset()  # the twin: massless, but not declared


def test_links_on_fixed_joints_bring_an_inertia(tmp_path: Path) -> None:
    robot = read(tmp_path, knuckle="inertia = false", plate="mass = 0.5")
    assert find_absent_parameters(robot) == frozenset()
    assert robot.merged.link("knuckle").has_inertia


def test_an_extension_declares_absence(tmp_path: Path) -> None:
    read(tmp_path, knuckle="mass = 1.0")
    text = 'extends = "arm.toml"\n[[link]]\nname = "knuckle"\ninertia = false\n[[joint]]\nname = "tilt"\n'
    (tmp_path / "more.toml").write_text(text + "drive = { rotor = false }\n")
    absent = find_absent_parameters(yt.load(tmp_path / "more.toml"))
    assert {"knuckle.m", "tilt.Ia"} <= absent
    assert len(absent) == 11


@pytest.mark.parametrize(
    ("where", "text", "reason"),
    [
        ("drive", "rotor = false, rotor_inertia = 0.1", "remove 'rotor_inertia', or 'rotor'"),
        ("drive", "rotor = 0", "'rotor' should be true or false"),
        ("drive", "friction = false, coulomb = 1.0", "remove 'coulomb', or 'friction'"),
        ("drive", "friction = false, root = 1.0", "remove 'root', or 'friction'"),
        ("drive", "viscous = true", "'viscous' is true; give its value, or false"),
        ("knuckle", "inertia = true", "'inertia' is false for a link without inertia"),
        ("knuckle", "inertia = false\nmass = 1.0", "remove 'mass', or 'inertia'"),
    ],
)
def test_contradictions_are_refused(where: str, text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=reason):
        read(tmp_path, **{where: text})


def test_contradictory_parts_are_refused() -> None:
    robot = yt.load("ur10")
    for drive in (
        Drive(rotor_inertia=0.1, has_rotor=False),
        Drive(viscous=0.1, absent_friction=("viscous",)),
        Drive(absent_friction=("root",)),
    ):
        with pytest.raises(RobotError):
            robot.with_drives(lambda _, __, drive=drive: drive)  # type: ignore[misc]
    with pytest.raises(RobotError, match="declared to have no inertia, but has one"):
        replace(
            robot, links=(*robot.links[:-1], Link(robot.links[-1].name, yt.Inertia((1.0,) * 10), has_inertia=False))
        )

"""Files that are not robots: one sentence with the place, and exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.command import refused, ytheta
from tests.support.paths import ROOT
from tests.support.toml_robots import TWO
from tests.support.urdf_arm import ARM

FIVE_BAR = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()


def with_mesh(path: str) -> str:
    visual = f'<visual><geometry><mesh filename="{path}"/></geometry></visual>'
    return ARM.replace('<link name="base"/>', f'<link name="base">{visual}</link>')


def with_joint(parent: str, child: str) -> str:
    joint = f'<joint name="q2" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
    return ARM.replace("</robot>", f"{joint}</robot>")


BAD_FILES = {
    "not XML": ("r.urdf", "this is no XML", r"r.urdf, line 1: this is not XML"),
    "cut off": ("r.urdf", ARM[:200], "this is not XML (unclosed token)"),
    "not TOML": ("r.toml", "name = ", "this is not valid TOML: Invalid value (at end of document)"),
    "not text": ("r.toml", "\udcff\udcfe", "this is not text (byte 0)"),
    "doctype": ("r.urdf", '<!DOCTYPE r [<!ENTITY e "x">]><robot name="&e;"/>', "has a DOCTYPE"),
    "entity": ("r.urdf", '<robot name="&e;"/>', "undefined entity"),
    "include outside": ("r.xml", '<mujoco><include file="../../x.xml"/></mujoco>', "leaves the robot's folder"),
    "negative mass": ("r.urdf", ARM.replace('value="2"', 'value="-2"'), "the mass -2 kg is negative"),
    "mass that is not a number": (
        "r.urdf",
        ARM.replace('value="2"', 'value="two"'),
        "value='two' should contain numbers",
    ),
    "mass that is not finite": ("r.urdf", ARM.replace('value="2"', 'value="nan"'), "should contain finite numbers"),
    "missing link": (
        "r.urdf",
        ARM.replace('child link="upper"', 'child link="uper"'),
        "its child link 'uper' does not exist; did you mean 'upper'",
    ),
    "two roots": ("r.urdf", ARM.replace("</robot>", '<link name="island"/></robot>'), "the tree has 2 roots"),
    "cycle": (
        "r.urdf",
        with_joint("upper", "base"),
        "a cycle is not declared as a loop",
    ),
    "second parent": (
        "r.urdf",
        with_joint("base", "upper"),
        "is the child of two joints, 'q1' and 'q2'",
    ),
    "duplicate link": (
        "r.urdf",
        ARM.replace("</robot>", '<link name="upper"/></robot>'),
        "the link name 'upper' is used 2 times",
    ),
    "planar": ("r.urdf", ARM.replace('type="revolute"', 'type="planar"'), "joints of type 'planar' are not supported"),
    "unknown type": ("r.urdf", ARM.replace('type="revolute"', 'type="hinge"'), "the joint type 'hinge' is unknown"),
    "zero axis": ("r.urdf", ARM.replace('xyz="0 0 1"', 'xyz="0 0 0"'), "joint 'q1': the axis is zero"),
    "limits swapped": (
        "r.urdf",
        ARM.replace('lower="-1" upper="1"', 'lower="1" upper="-1"'),
        "lower limit 1 exceeds its upper limit -1",
    ),
    "xacro": ("r.urdf", '<robot xmlns:xacro="x"><xacro:macro name="m"/></robot>', "this is a xacro file"),
    "web page": ("r.urdf", "<html><body/></html>", "r.urdf: this is a web page (HTML), not a robot description"),
    "no robot": ("r.xml", "<svg/>", "neither a URDF, which starts with <robot>, nor an MJCF"),
    "no link": ("r.urdf", '<robot name="r"/>', "there is no <link>, so this is not the description of a robot"),
    "empty": ("r.urdf", "", "is empty"),
    "loop that cannot close": (
        "r.toml",
        FIVE_BAR.replace("l2 = 0.45", "l2 = 0.01"),
        "loop 'tip' of robot 'five-bar' cannot close at this pose",
    ),
    "coupling of nothing": (
        "r.toml",
        TWO + '[[coupling]]\njoint = "elbow"\n',
        "the key 'terms' is missing; add a table such as { q1 = 1.0 }, or {}",
    ),
    "date": ("r.toml", TWO.replace("mass = 1.5", "mass = 1979-05-27"), "not a date (1979-05-27)"),
    "huge integer": ("r.toml", TWO.replace("mass = 1.5", "mass = 1" + 400 * "0"), "an integer of more than 38 digits"),
    "huge hexadecimal": ("r.toml", TWO.replace("mass = 1.5", "mass = 0x" + 9000 * "f"), "more than 38 digits"),
    "huge length": (
        "r.toml",
        TWO.replace("l1 = 0.4", "l1 = 1" + 400 * "0"),
        "l1 should be a number in metres, or 'unset', not an integer of",
    ),
    "too many digits": ("r.toml", TWO.replace("mass = 1.5", "mass = " + 5000 * "1"), "a number has too many digits"),
    "deep list": ("r.toml", "x = " + 3000 * "[", "nested too deeply"),
    "deep table": ("r.toml", "x = " + 3000 * "{a = ", "nested too deeply"),
    "keyword": ("r.toml", TWO.replace("l1", "lambda"), "'lambda' cannot name a length"),
    "constant": ("r.toml", TWO.replace("l1", "True"), "'True' cannot name a length"),
    "look-alike": ("r.toml", TWO.replace("l1 = 0.4", "'ℓ1' = 0.4"), "'ℓ1' cannot name a length"),
    "angle": (
        "r.urdf",
        ARM.replace("<axis", '<origin rpy="1e308 0 0"/><axis'),
        "the angle 1e+308 rad is larger than",
    ),
    "long include": (
        "r.xml",
        f'<mujoco><include file="{300 * "a"}.xml"/></mujoco>',
        "cannot be read: File name too long",
    ),
    "blank": ("r.toml", "  \n ", "is empty"),
    "wrong ending": ("r.step", "<sdf/>", "robots are read from .urdf, .xacro, .xml (MJCF), .sdf and .toml files"),
    "SDF": ("r.sdf", "<sdf/>", "the attribute 'version' is missing; add it"),
    "SDF without a model": ("r.sdf", '<sdf version="1.9"/>', "there is no model with a link"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case: str, tmp_path: Path) -> None:
    name, text, reason = BAD_FILES[case]
    (tmp_path / name).write_bytes(text.encode("utf-8", errors="surrogateescape"))
    message = refused("inspect", name, cwd=tmp_path)
    assert reason in message
    assert name in message


def test_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    assert "is a folder; name the file in it that contains a robot description" in refused("inspect", str(tmp_path))
    assert "does not exist" in refused("inspect", str(tmp_path / "none.urdf"))
    assert "there is no robot 'pandas' in the catalog and no such file; did you mean 'panda'" in refused(
        "inspect", "pandas"
    )


def test_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    assert "is not a regular file" in refused("inspect", "pipe.urdf", cwd=tmp_path)
    (tmp_path / "zero.urdf").symlink_to("/dev/zero")
    assert "is not a regular file" in refused("inspect", "zero.urdf", cwd=tmp_path)


def test_unknown_names(tmp_path: Path) -> None:
    assert "cannot be read: File name too long" in refused("inspect", 300 * "a" + ".urdf")
    (tmp_path / "loop.urdf").symlink_to("loop.urdf")
    assert "loop.urdf cannot be read" in refused("inspect", "loop.urdf", cwd=tmp_path)


@pytest.mark.parametrize("mesh", ["loop.stl", "../../x.stl", "/etc/passwd", "file:///x.stl", 300 * "a" + ".stl"])
def test_meshes_that_are_not_opened_are_not_errors(tmp_path: Path, mesh: str) -> None:
    (tmp_path / "loop.stl").symlink_to("loop.stl")
    (tmp_path / "arm.urdf").write_text(with_mesh(mesh))
    assert ytheta("inspect", "arm.urdf", cwd=tmp_path).returncode == 0


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_bytes(b"\xef\xbb\xbf" + TWO.encode())
    assert ytheta("inspect", "two.toml", cwd=tmp_path).returncode == 0


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    big = tmp_path / "big.urdf"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert "has 210 MB and was not read, since a robot description has at most 17 MB" in refused("inspect", str(big))


def test_garbage_below_the_limit_is_refused(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.urdf"
    garbage.write_bytes(os.urandom(15 * 1024 * 1024))
    assert "this is not XML" in refused("inspect", str(garbage))

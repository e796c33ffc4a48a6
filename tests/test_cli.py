"""The command as its user meets it: its output, its exit code, its complaints."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from conftest import ROOT
from test_toml import TWO
from ytheta.cli import main

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="q1" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="3"/>
  </joint>
  <gazebo reference="upper"/><transmission name="t"><type>x</type></transmission>
</robot>
"""


def with_mesh(path: str) -> str:
    visual = f'<visual><geometry><mesh filename="{path}"/></geometry></visual>'
    return ARM.replace('<link name="base"/>', f'<link name="base">{visual}</link>')


def with_joint(parent: str, child: str) -> str:
    joint = f'<joint name="q2" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
    return ARM.replace("</robot>", f"{joint}</robot>")


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


def ytheta(*arguments: str, cwd: Path = ROOT) -> Result:
    """Run the command in this process: what the script does, without a second for starting Python each time."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["ytheta", *arguments]),
        mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1"}),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


def refused(*arguments: str, cwd: Path = ROOT) -> str:
    """What a command that must fail says: one line, no traceback, nothing on stdout, exit code 2."""
    result = ytheta(*arguments, cwd=cwd)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    return line


def test_it_is_a_real_command(tmp_path: Path) -> None:
    for command in ([sys.executable, "-m", "ytheta"], [str(Path(sys.executable).with_name("ytheta"))]):
        good = subprocess.run([*command, "inspect", "panda", "--json"], capture_output=True, text=True)
        assert (good.returncode, json.loads(good.stdout)["joints"]) == (0, 7)
        bad = subprocess.run([*command, "inspect", str(tmp_path)], capture_output=True, text=True)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert bad.stderr.startswith("error: ")
        assert bad.stderr.count("\n") == 1


def test_robots() -> None:
    result = ytheta("robots", "--json")
    assert result.returncode == 0
    robots = {row["name"]: row for row in json.loads(result.stdout)["robots"]}
    assert set(robots) >= {"panda", "ur10", "iiwa14", "rx90", "puma560", "stanford", "walker", "five-bar", "palletiser"}
    assert set(robots) >= {"lu-two-link", "lu-puma4", "ha-scara"}
    assert robots["panda"]["joints"] == 7
    assert robots["walker"]["loops"] == 2
    assert all(row.keys() == {"name", "joints", "loops", "about"} for row in robots.values())
    assert "walker" in ytheta("robots").stdout


def test_inspect_prints_json() -> None:
    data = json.loads(ytheta("inspect", "walker", "--json").stdout)
    assert data["name"] == "walker"
    assert (data["joints"], data["loops"]) == (7, 2)
    assert data["actuated"] == ["q5", "q7", "q3"]
    assert data["standard_parameters"] == 7 * 10 + 9 * 4
    assert data["consistent"] is True
    assert max(row["gap"] for row in data["loop_table"]) < 1e-9
    assert data["operations"] == {}


def test_inspect_draws_a_tree() -> None:
    result = ytheta("inspect", "walker", "--at", "q5=0.8", "--at", "q7=1.3")
    assert result.returncode == 0
    assert "├── q1 R z ─ link1" in result.stdout
    assert "─▶ link2 (closes a loop)" in result.stdout
    assert "q5 = 0.8" in result.stdout
    assert "every link's inertia is physically consistent" in result.stdout


def test_inspect_reads_urdf_and_passes_over_foreign_elements(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    data = json.loads(ytheta("inspect", "arm.urdf", "--json", cwd=tmp_path).stdout)
    assert data["joint_table"][0]["position"] == [-1.0, 1.0]
    assert data["joint_table"][0]["acceleration"] is None
    assert data["link_table"][0]["mass"] == 2.0


def test_notes_go_to_stderr_and_strict_refuses() -> None:
    result = ytheta("inspect", "puma560", "--json")
    assert result.returncode == 0
    assert "warning: link 'link1': inertia or first moment without mass" in result.stderr
    assert json.loads(result.stdout)["consistent"] is False
    assert "inertia or first moment without mass" in refused("inspect", "puma560", "--strict")


def test_strict_is_about_inertias_only(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM.replace('izz="1"', 'izz="3"'))
    loose = ytheta("inspect", "arm.urdf", cwd=tmp_path)
    assert loose.returncode == 0
    assert "triangle inequality broken: of the principal moments 1, 1, 3 kg m2" in loose.stderr
    assert "triangle inequality broken" in refused("inspect", "arm.urdf", "--strict", cwd=tmp_path)
    assert ytheta("inspect", "panda", "--strict").returncode == 0


def test_lengths_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace("l1 = 0.4", 'l1 = "unset"'))
    assert ytheta("inspect", "two.toml", cwd=tmp_path).returncode == 0
    data = json.loads(ytheta("inspect", "two.toml", "--length", "l1=0.5", "--json", cwd=tmp_path).stdout)
    assert data["lengths"] == {"l1": 0.5}
    assert "has no length 'l9'" in refused("inspect", "two.toml", "--length", "l9=1", cwd=tmp_path)
    assert "write NAME=NUMBER" in refused("inspect", "two.toml", "--length", "l1", cwd=tmp_path)
    assert "write NAME=NUMBER" in refused("inspect", "two.toml", "--length", "l1=long", cwd=tmp_path)


def test_poses_of_loops() -> None:
    assert "cannot close at this pose" in refused("inspect", "walker", "--at", "q5=5")
    assert "'q9' is not an actuated coordinate" in refused("inspect", "walker", "--at", "q9=1")
    assert "has none; leave --at away" in refused("inspect", "panda", "--at", "joint1=1")


def test_unset_length_where_numbers_are_needed(tmp_path: Path) -> None:
    text = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()
    lines = text.splitlines()
    begin = lines.index("[lengths]")
    name = lines[begin + 1].split("=")[0].strip()
    lines[begin + 1] = f'{name} = "unset"'
    (tmp_path / "open.toml").write_text("\n".join(lines))
    message = refused("inspect", "open.toml", cwd=tmp_path)
    assert f"the length '{name}' has no value and numbers are needed here" in message


BAD_FILES = {
    "not XML": ("r.urdf", "this is no XML", r"r.urdf, line 1: this is not XML"),
    "cut off": ("r.urdf", ARM[:200], "line 6: this is not XML (unclosed token)"),
    "not TOML": ("r.toml", "name = ", "this is not TOML: Invalid value (at end of document)"),
    "not text": ("r.toml", "\udcff\udcfe", "this is not text (byte 0)"),
    "doctype": ("r.urdf", '<!DOCTYPE r [<!ENTITY e "x">]><robot name="&e;"/>', "has a DOCTYPE"),
    "entity": ("r.urdf", '<robot name="&e;"/>', "undefined entity"),
    "mesh outside": (
        "r.urdf",
        with_mesh("../../x.stl"),
        "the path '../../x.stl' leaves the robot's folder and is not opened",
    ),
    "absolute mesh": (
        "r.urdf",
        with_mesh("/etc/passwd"),
        "leaves the robot's folder",
    ),
    "include outside": ("r.xml", '<mujoco><include file="../../x.xml"/></mujoco>', "leaves the robot's folder"),
    "negative mass": ("r.urdf", ARM.replace('value="2"', 'value="-2"'), "the mass -2 kg is negative"),
    "mass that is no number": ("r.urdf", ARM.replace('value="2"', 'value="two"'), "value='two' should hold numbers"),
    "mass that is not finite": ("r.urdf", ARM.replace('value="2"', 'value="nan"'), "should hold finite numbers"),
    "missing link": (
        "r.urdf",
        ARM.replace('child link="upper"', 'child link="uper"'),
        "its child link 'uper' does not exist; did you mean 'upper'",
    ),
    "two roots": ("r.urdf", ARM.replace("</robot>", '<link name="island"/></robot>'), "the tree has 2 roots"),
    "cycle": (
        "r.urdf",
        with_joint("upper", "base"),
        "a cycle that is not declared as a loop",
    ),
    "second parent": (
        "r.urdf",
        with_joint("base", "upper"),
        "hangs on two joints, 'q1' and 'q2'",
    ),
    "duplicate link": (
        "r.urdf",
        ARM.replace("</robot>", '<link name="upper"/></robot>'),
        "the link name 'upper' stands 2 times",
    ),
    "planar": ("r.urdf", ARM.replace('type="revolute"', 'type="planar"'), "joints of type 'planar' are not supported"),
    "floating": (
        "r.urdf",
        ARM.replace('type="revolute"', 'type="floating"'),
        "joints of type 'floating' are not supported",
    ),
    "unknown type": ("r.urdf", ARM.replace('type="revolute"', 'type="hinge"'), "the joint type 'hinge' is unknown"),
    "ball": (
        "r.xml",
        '<mujoco><worldbody><body><joint type="ball"/><geom size="1"/></body></worldbody></mujoco>',
        "ball",
    ),
    "zero axis": ("r.urdf", ARM.replace('xyz="0 0 1"', 'xyz="0 0 0"'), "the axis of joint 'q1' is zero"),
    "limits swapped": (
        "r.urdf",
        ARM.replace('lower="-1" upper="1"', 'lower="1" upper="-1"'),
        "lower limit 1 exceeds its upper limit -1",
    ),
    "xacro": ("r.urdf", '<robot xmlns:xacro="x"><xacro:macro name="m"/></robot>', "this is a xacro file"),
    "no robot": ("r.xml", "<html/>", "a URDF starts with <robot>, an MJCF with <mujoco>"),
    "no link": ("r.urdf", '<robot name="r"/>', "a robot needs at least one link"),
    "empty": ("r.urdf", "", "is empty"),
    "blank": ("r.toml", "  \n ", "is empty"),
    "wrong ending": ("r.sdf", "<sdf/>", "robots are read from .urdf, .xml (MJCF) and .toml files"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case: str, tmp_path: Path) -> None:
    name, text, reason = BAD_FILES[case]
    (tmp_path / name).write_bytes(text.encode("utf-8", errors="surrogateescape"))
    message = refused("inspect", name, cwd=tmp_path)
    assert reason in message
    assert name in message


def test_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    assert "is a directory; name the robot file in it" in refused("inspect", str(tmp_path))
    assert "is not a file that exists" in refused("inspect", str(tmp_path / "none.urdf"))
    assert "there is no robot 'pandas' in the catalog and no such file; did you mean 'panda'" in refused(
        "inspect", "pandas"
    )


def test_a_large_file_is_not_even_read(tmp_path: Path) -> None:
    big = tmp_path / "big.urdf"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert "has 210 MB, a robot description at most 17 MB; it was not read" in refused("inspect", str(big))


def test_garbage_below_the_limit_is_refused(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.urdf"
    garbage.write_bytes(os.urandom(15 * 1024 * 1024))
    assert "this is not XML" in refused("inspect", str(garbage))


def test_wrong_usage_exits_with_2() -> None:
    for arguments in (["inspect"], ["inspekt", "panda"], ["inspect", "panda", "--snap", "-1"]):
        assert ytheta(*arguments).returncode == 2


def test_help_has_an_example() -> None:
    for command in ("robots", "inspect"):
        text = ytheta(command, "--help").stdout
        assert "Example" in text
        assert f"ytheta {command}" in text
    assert "0.1.0" in ytheta("--version").stdout

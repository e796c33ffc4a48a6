"""The command as its user meets it: its output, its exit code, its complaints."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import process, refused, ytheta
from tests.support.paths import ROOT
from tests.support.toml_robots import TWO

FIVE_BAR = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()
FIXED_TOOL = """
  <link name="tool">
    <inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="3e-4"/></inertial>
  </link>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/></joint>
"""
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
    assert data["operations"].keys() == {"spatial_tree"}
    assert data["operations"]["spatial_tree"]["multiplications"] > 100
    assert "has closed loops; use spatial_tree" in data["not_counted"]["lagrange"]


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
    assert "triangle inequality violated: the largest of the principal moments 1, 1, 3 kg m2" in loose.stderr
    assert "triangle inequality violated" in refused("inspect", "arm.urdf", "--strict", cwd=tmp_path)
    assert ytheta("inspect", "panda", "--strict").returncode == 0
    lifted = '<body name="b" gravcomp="1"><joint name="q"/><geom size="0.1"/></body>'
    (tmp_path / "lifted.xml").write_text(f"<mujoco><worldbody>{lifted}</worldbody></mujoco>")
    strict = ytheta("inspect", "lifted.xml", "--strict", cwd=tmp_path)
    assert strict.returncode == 0
    assert "warning: the gravity compensation (gravcomp) of bodies is left out: b" in strict.stderr


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
    message = refused("inspect", "open.toml", "--at", "left=2", cwd=tmp_path)
    assert f"the length '{name}' has no value and numbers are needed here" in message
    result = ytheta("inspect", "open.toml", cwd=tmp_path)
    assert result.returncode == 0
    assert f"closing pose not known: the length '{name}' has no value; give it one with --length" in result.stdout
    assert f"operations not known: the length '{name}' has no value" in result.stdout
    data = json.loads(ytheta("inspect", "open.toml", "--json", cwd=tmp_path).stdout)
    assert data["operations"] == {}
    assert data["loop_table"][0]["gap"] is None
    data = json.loads(ytheta("inspect", "open.toml", "--json", "--length", f"{name}=0.3", cwd=tmp_path).stdout)
    assert data["loop_table"][0]["gap"] < 1e-9
    assert data["operations"].keys() == {"spatial_tree"}


def test_lengths_that_do_not_close_are_rescued_by_others(tmp_path: Path) -> None:
    text = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()
    (tmp_path / "short.toml").write_text(text.replace("l2 = 0.45", "l2 = 0.01"))
    assert "cannot close" in refused("inspect", "short.toml", cwd=tmp_path)
    assert ytheta("inspect", "short.toml", "--length", "l2=0.45", cwd=tmp_path).returncode == 0


TOOL_AT_A_LENGTH = """
name = "reach"
[lengths]
l1 = "unset"
[[link]]
name = "base"
[[link]]
name = "arm"
mass = 2.0
[[link]]
name = "tool"
mass = 1.0
[[link]]
name = "wrist"
mass = 0.5
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "arm"
[[joint]]
name = "flange"
type = "fixed"
parent = "arm"
child = "tool"
frame = { xyz = ["l1", 0, 0] }
[[joint]]
name = "q2"
type = "revolute"
parent = "tool"
child = "wrist"
"""


def test_a_tool_at_an_unset_length_is_shown_with_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "reach.toml").write_text(TOOL_AT_A_LENGTH)
    result = ytheta("inspect", "reach.toml", cwd=tmp_path)
    assert result.returncode == 0
    assert "flange fixed ─ tool 1 kg" in result.stdout
    assert re.search(r"arm +3 +(\? +){9}yes", result.stdout)
    assert "parameters (?) and operations not known: the length 'l1' has no value" in result.stdout
    arm, wrist = json.loads(ytheta("inspect", "reach.toml", "--json", cwd=tmp_path).stdout)["link_table"]
    assert (arm["mass"], arm["parameters"], arm["center"]) == (3.0, None, None)
    assert wrist["parameters"]["m"] == 0.5
    set_to = ("--length", "l1=0.5", "--json")
    arm = json.loads(ytheta("inspect", "reach.toml", *set_to, cwd=tmp_path).stdout)["link_table"][0]
    assert arm["parameters"]["mx"] == 0.5


def test_verdicts_are_about_every_link(tmp_path: Path) -> None:
    """A link on a fixed joint is merged into its carrier, but what is wrong with it is said everywhere."""
    text = ARM.replace("</robot>", FIXED_TOOL + "</robot>")
    (tmp_path / "arm.urdf").write_text(text)
    shown = ytheta("inspect", "arm.urdf", cwd=tmp_path)
    assert "warning: link 'tool': triangle inequality violated" in shown.stderr
    assert "tool: triangle inequality violated" in shown.stdout
    assert "every link's inertia is physically consistent" not in shown.stdout
    data = json.loads(ytheta("inspect", "arm.urdf", "--json", cwd=tmp_path).stdout)
    assert data["consistent"] is False
    assert list(data["inconsistent"]) == ["tool"]
    assert data["link_table"][0]["consistent"] is False
    assert data["link_table"][0]["verdict"].startswith("tool: triangle inequality violated")
    assert "triangle inequality violated" in refused("inspect", "arm.urdf", "--strict", cwd=tmp_path)


def test_a_pose_outside_the_limits_is_remarked() -> None:
    result = ytheta("inspect", "walker", "--at", "q5=0.6")
    assert result.returncode == 0
    assert re.search(r"^note: q5 = 0\.6 is outside its limits 0\.62 … 0\.92$", result.stderr, re.MULTILINE)
    assert ytheta("inspect", "walker").stderr == ""


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("--at", "q5=nan", "write NAME=NUMBER with a finite number"),
        ("--at", "q5=-inf", "write NAME=NUMBER with a finite number"),
        ("--at", "=1", "write NAME=NUMBER"),
        ("--length", "l1=nan", "write NAME=NUMBER with a finite number"),
        ("--length", "self=1", "has no length 'self'"),
    ],
)
def test_values_are_finite(option: str, text: str, reason: str) -> None:
    assert reason in refused("inspect", "walker" if option == "--at" else "lu-two-link", option, text)


def test_values_are_given_once() -> None:
    message = refused("inspect", "walker", "--at", "q5=0.7", "--at", "q5=0.8")
    assert "--at 'q5=0.8': 'q5' was already given as 0.7; keep one of the two" in message
    message = refused("inspect", "lu-two-link", "--length", "l1=1", "--length", "l1=1")
    assert "'l1' was already given as 1" in message


def test_names_are_no_markup(tmp_path: Path) -> None:
    text = ARM.replace('name="arm"', 'name="[/x]"').replace('"upper"', '"l[red]k"').replace('"q1"', '":boom:[b]"')
    (tmp_path / "odd.urdf").write_text(text.replace('izz="1"', 'izz="3"'))
    result = ytheta("inspect", "odd.urdf", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("[/x]")
    assert ":boom:[b] R z ─ l[red]k 2 kg" in result.stdout
    assert "l[red]k: triangle inequality violated" in result.stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(r'name = "a\u001b[2Jb\nc"' + "\n[[link]]\nname = 'base'\n")
    result = ytheta("inspect", "odd.toml", cwd=tmp_path)
    assert result.stdout.startswith(r"a\x1b[2Jb\nc")


def test_one_of_something(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    last = ytheta("inspect", "arm.urdf", cwd=tmp_path).stdout
    assert "1 joint, 1 actuated: q1\n14 standard parameters: 10 of 1 link, 4 of the drives" in last


# --- width, pipes, disks, interrupts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_do_not_break_numbers(columns: int) -> None:
    text = ytheta("inspect", "panda", columns=columns).stdout
    assert max(len(line) for line in text.splitlines()) <= columns
    data = json.loads(ytheta("inspect", "panda", "--json").stdout)
    words = text.split()
    for name in ("possible", "velocity", "effort", *data["link_table"][0]["parameters"]):
        assert words.count(name) >= 1, name
    for row in data["link_table"]:
        lines = [line.split() for line in text.splitlines() if line.split()[:1] == [row["name"]]]
        moments, inertia = lines
        assert (moments[-1], len(moments), len(inertia)) == ("yes", 6, 7)
        printed = {word for line in lines for word in line}
        assert printed >= {f"{value:.4g}" for value in row["parameters"].values()}


def test_output_into_a_file_is_wide() -> None:
    command, environment = process("inspect", "panda")
    text = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
    assert text.splitlines()[6] == ytheta("inspect", "panda").stdout.splitlines()[6]
    assert 80 < max(len(line) for line in text.splitlines()) <= 120


@pytest.mark.parametrize("arguments", [("inspect", "panda"), ("inspect", "panda", "--json"), ("--help",)])
def test_a_reader_that_has_had_enough_is_no_error(arguments: tuple[str, ...]) -> None:
    command, environment = process(*arguments)
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(command, env=environment, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [("inspect", "panda"), ("inspect", "panda", "--json")])
def test_a_full_disk_is_one_sentence(arguments: tuple[str, ...]) -> None:
    command, environment = process(*arguments)
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr.startswith(b"error: the output cannot be written: No space left")
    assert result.stderr.count(b"\n") == 1


def test_a_terminal_that_lacks_characters() -> None:
    command, environment = process("inspect", "walker", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    result = subprocess.run(command, env=environment, capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"q8 R z ?? link1 (closes a loop)" in result.stdout


def test_an_interrupt_is_one_line() -> None:
    command, environment = process("inspect", "panda")
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    loaded = Path(f"/proc/{running.pid}/maps")
    while running.poll() is None and "multiarray" not in loaded.read_text():  # numpy is there: main is at work
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"interrupted\n")


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
        "the path '../../x.stl' leaves the robot's folder and is not opened; put a package.xml into the folder that",
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
    "zero axis": ("r.urdf", ARM.replace('xyz="0 0 1"', 'xyz="0 0 0"'), "joint 'q1': the axis is zero"),
    "limits swapped": (
        "r.urdf",
        ARM.replace('lower="-1" upper="1"', 'lower="1" upper="-1"'),
        "lower limit 1 exceeds its upper limit -1",
    ),
    "xacro": ("r.urdf", '<robot xmlns:xacro="x"><xacro:macro name="m"/></robot>', "this is a xacro file"),
    "no robot": ("r.xml", "<html/>", "a URDF starts with <robot>, an MJCF with <mujoco>"),
    "no link": ("r.urdf", '<robot name="r"/>', "a robot needs at least one link"),
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
        "the angle 1e+308 rad is beyond any turn",
    ),
    "long include": (
        "r.xml",
        f'<mujoco><include file="{300 * "a"}.xml"/></mujoco>',
        "cannot be read: File name too long",
    ),
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


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    assert "is not a regular file" in refused("inspect", "pipe.urdf", cwd=tmp_path)
    (tmp_path / "zero.urdf").symlink_to("/dev/zero")
    assert "is not a regular file" in refused("inspect", "zero.urdf", cwd=tmp_path)


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    assert "cannot be read: File name too long" in refused("inspect", 300 * "a" + ".urdf")
    (tmp_path / "loop.stl").symlink_to("loop.stl")
    (tmp_path / "loop.urdf").symlink_to("loop.urdf")
    (tmp_path / "arm.urdf").write_text(with_mesh("loop.stl"))
    assert "loop.urdf cannot be read" in refused("inspect", "loop.urdf", cwd=tmp_path)
    if sys.version_info < (3, 13):  # later ones follow such a link as far as it goes
        assert "its symbolic links run in a circle" in refused("inspect", "arm.urdf", cwd=tmp_path)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_bytes(b"\xef\xbb\xbf" + TWO.encode())
    assert ytheta("inspect", "two.toml", cwd=tmp_path).returncode == 0


def test_a_large_file_is_not_even_read(tmp_path: Path) -> None:
    big = tmp_path / "big.urdf"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert "has 210 MB and was not read, since a robot description has at most 17 MB" in refused("inspect", str(big))


def test_garbage_below_the_limit_is_refused(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.urdf"
    garbage.write_bytes(os.urandom(15 * 1024 * 1024))
    assert "this is not XML" in refused("inspect", str(garbage))


def test_wrong_usage_exits_with_2() -> None:
    for arguments in (["inspect"], ["inspekt", "panda"], ["inspect", "panda", "--snap", "-1"]):
        assert ytheta(*arguments).returncode == 2
    assert "Missing argument 'ROBOT'; see ytheta inspect --help" in refused("inspect")
    assert "the tolerance 0.3 of rounded angles (snap) should lie between" in refused(
        "inspect", "ur10", "--snap", "0.3"
    )
    assert "Usage: ytheta" in ytheta().stdout


def test_help_has_an_example() -> None:
    for command in ("robots", "inspect"):
        text = ytheta(command, "--help").stdout
        assert "Example" in text
        shown = re.search(rf"Example: ytheta ({command}[^\n,]*)", text)
        assert shown is not None, text
        assert ytheta(*shown[1].split()).returncode == 0
    assert "0.1.0" in ytheta("--version").stdout

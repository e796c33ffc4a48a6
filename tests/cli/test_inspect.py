"""``ytheta inspect`` as its user meets it: tree, tables, lengths, closed configurations, findings."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from tests.support.command import refused, ytheta
from tests.support.paths import ROOT
from tests.support.toml_robots import TWO
from tests.support.urdf_arm import ARM, FIXED_TOOL

FIVE_BAR = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()


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


def test_inspect_ignores_unknown_urdf_elements(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    data = json.loads(ytheta("inspect", "arm.urdf", "--json", cwd=tmp_path).stdout)
    assert data["joint_table"][0]["position"] == [-1.0, 1.0]
    assert data["joint_table"][0]["acceleration"] is None
    assert data["link_table"][0]["mass"] == 2.0


def test_findings_go_to_stderr_and_strict_refuses() -> None:
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
    assert "warning: the gravity compensation (gravcomp) of bodies is ignored: b" in strict.stderr


def test_lengths_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace("l1 = 0.4", 'l1 = "unset"'))
    assert ytheta("inspect", "two.toml", cwd=tmp_path).returncode == 0
    data = json.loads(ytheta("inspect", "two.toml", "--length", "l1=0.5", "--json", cwd=tmp_path).stdout)
    assert data["lengths"] == {"l1": 0.5}
    assert "has no length 'l9'" in refused("inspect", "two.toml", "--length", "l9=1", cwd=tmp_path)
    assert "write NAME=NUMBER" in refused("inspect", "two.toml", "--length", "l1", cwd=tmp_path)
    assert "write NAME=NUMBER" in refused("inspect", "two.toml", "--length", "l1=long", cwd=tmp_path)


def test_angles_can_be_set(tmp_path: Path) -> None:
    twisted = TWO.replace("[[link]]", '[angles]\nalpha1 = "unset"\n[[link]]', 1)
    (tmp_path / "two.toml").write_text(twisted.replace("alpha = 1.5708", 'alpha = "alpha1"'))
    result = ytheta("inspect", "two.toml", cwd=tmp_path)
    assert result.returncode == 0
    shown = " ".join(result.stdout.split())
    assert "operations not known: the angle 'alpha1' has no value; give it one with --angle alpha1=VALUE or" in shown
    data = json.loads(ytheta("inspect", "two.toml", "--angle", "alpha1=pi/2", "--json", cwd=tmp_path).stdout)
    assert data["angles"] == {"alpha1": math.pi / 2}
    assert data["unset_angles"] == []
    rounded = ytheta("inspect", "two.toml", "--angle", "alpha1=1.5708", "--json", cwd=tmp_path)
    assert json.loads(rounded.stdout)["angles"] == {"alpha1": math.pi / 2}
    assert "note: 1 rounded angle interpreted" in rounded.stderr
    kept = ytheta("inspect", "two.toml", "--angle", "alpha1=1.5708", "--snap", "0", "--json", cwd=tmp_path)
    assert json.loads(kept.stdout)["angles"] == {"alpha1": 1.5708}
    assert "has no angle 'alpha2'; did you mean 'alpha1'?" in refused(
        "inspect", "two.toml", "--angle", "alpha2=1", cwd=tmp_path
    )
    assert "has an angle without a value, 'alpha1'" in refused("base", "two.toml", cwd=tmp_path)
    assert ytheta("base", "two.toml", "--angle", "alpha1=0", cwd=tmp_path).returncode == 0


def test_closed_configuration_of_loops() -> None:
    assert "cannot close at this pose" in refused("inspect", "walker", "--at", "q5=5")
    assert "'q9' is not an actuated coordinate" in refused("inspect", "walker", "--at", "q9=1")
    assert "has none; leave it out" in refused("inspect", "panda", "--at", "joint1=1")


def test_unset_lengths(tmp_path: Path) -> None:
    text = (ROOT / "src/ytheta/robot/catalog/five-bar.toml").read_text()
    lines = text.splitlines()
    begin = lines.index("[lengths]")
    name = lines[begin + 1].split("=")[0].strip()
    lines[begin + 1] = f'{name} = "unset"'
    (tmp_path / "open.toml").write_text("\n".join(lines))
    message = refused("inspect", "open.toml", "--at", "left=2", cwd=tmp_path)
    assert f"the length '{name}' has no value, but a number is needed" in message
    result = ytheta("inspect", "open.toml", cwd=tmp_path)
    assert result.returncode == 0
    assert (
        f"closed configuration not known: the length '{name}' has no value; give it one with --length" in result.stdout
    )
    assert f"operations not known: the length '{name}' has no value" in result.stdout
    data = json.loads(ytheta("inspect", "open.toml", "--json", cwd=tmp_path).stdout)
    assert data["operations"] == {}
    assert data["loop_table"][0]["gap"] is None
    data = json.loads(ytheta("inspect", "open.toml", "--json", "--length", f"{name}=0.3", cwd=tmp_path).stdout)
    assert data["loop_table"][0]["gap"] < 1e-9
    assert data["operations"].keys() == {"spatial_tree"}


def test_loops_close_with_other_lengths(tmp_path: Path) -> None:
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


def test_a_tool_at_an_unset_length(tmp_path: Path) -> None:
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


def test_consistency_of_every_link(tmp_path: Path) -> None:
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
    assert data["link_table"][0]["consistency"].startswith("tool: triangle inequality violated")
    assert "triangle inequality violated" in refused("inspect", "arm.urdf", "--strict", cwd=tmp_path)


def test_a_configuration_outside_the_limits_is_noted() -> None:
    result = ytheta("inspect", "walker", "--at", "q5=0.6")
    assert result.returncode == 0
    assert re.search(r"^note: q5 = 0\.6 is outside its limits 0\.62 … 0\.92$", result.stderr, re.MULTILINE)
    assert ytheta("inspect", "walker").stderr == ""


def test_singular_and_plural(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    last = ytheta("inspect", "arm.urdf", cwd=tmp_path).stdout
    assert "1 joint, 1 actuated: q1\n14 standard parameters: 10 of 1 link, 4 of the drives" in last


def test_a_robot_without_joints_has_no_joints_to_choose(tmp_path: Path) -> None:
    (tmp_path / "drone.urdf").write_text('<robot name="drone"><link name="body"/></robot>')
    shown = ytheta("inspect", "drone.urdf", "--floating-base", cwd=tmp_path).stdout
    assert "floating base with six coordinates, 0 joints\n" in shown


def test_absent_parameters_are_counted(tmp_path: Path) -> None:
    """What is declared absent, as ``ytheta base`` counts it; the twin: nothing is absent without a declaration."""
    ball = '<joint name="ball" type="ball"/><geom size="0.1" pos="0.1 0.2 0.3"/>'
    (tmp_path / "ball.xml").write_text(f'<mujoco><worldbody><body name="a">{ball}</body></worldbody></mujoco>')
    (tmp_path / "less.toml").write_text(
        'extends = "ball.xml"\n[[joint]]\nname = "ball.x"\ndrive = { rotor = false, friction = false }\n'
    )
    base = json.loads(ytheta("base", "ball.xml", "--json", cwd=tmp_path).stdout)
    for name, drives in (("ball.xml", []), ("less.toml", [f"ball.x.{p}" for p in ("Ia", "fv", "fc", "fo")])):
        data = json.loads(ytheta("inspect", name, "--json", cwd=tmp_path).stdout)
        assert (data["standard_parameters"], base["standard_parameters"]) == (42, 10)
        assert len(data["absent_parameters"]) == 20 + len(drives)
        assert [entry for entry in data["absent_parameters"] if entry.startswith("ball.")] == drives
        counts = "24 of them are absent from this robot and not identified: 20 of the links, 4 of the drives"
        expected = counts if drives else "20 of them are absent from this robot and not identified: 20 of the links\n"
        assert expected in ytheta("inspect", name, cwd=tmp_path).stdout
    (tmp_path / "arm.urdf").write_text(ARM)
    assert json.loads(ytheta("inspect", "arm.urdf", "--json", cwd=tmp_path).stdout)["absent_parameters"] == []
    assert "absent" not in ytheta("inspect", "arm.urdf", cwd=tmp_path).stdout


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_do_not_break_numbers(columns: int) -> None:
    text = ytheta("inspect", "panda", columns=columns).stdout
    assert max(len(line) for line in text.splitlines()) <= columns
    data = json.loads(ytheta("inspect", "panda", "--json").stdout)
    words = text.split()
    for name in ("consistent", "velocity", "effort", *data["link_table"][0]["parameters"]):
        assert words.count(name) >= 1, name
    for row in data["link_table"]:
        lines = [line.split() for line in text.splitlines() if line.split()[:1] == [row["name"]]]
        moments, inertia = lines
        assert (moments[-1], len(moments), len(inertia)) == ("yes", 6, 7)
        printed = {word for line in lines for word in line}
        assert printed >= {f"{value:.4g}" for value in row["parameters"].values()}

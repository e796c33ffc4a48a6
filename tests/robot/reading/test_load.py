"""Loading of robots: lengths, loops, warnings, errors that name the file."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ytheta.errors import InputError
from ytheta.robot.reading.load import load

FOUR_BAR = """
actuated = ["crank"]
[lengths]
rod = 1.0
spare = "unset"
[home]
crank = 1.0
rod = -0.6
lever = 1.2
[[link]]
name = "base"
[[link]]
name = "crank"
[[link]]
name = "rod"
[[link]]
name = "lever"
[[joint]]
name = "crank"
type = "revolute"
parent = "base"
child = "crank"
[[joint]]
name = "rod"
type = "revolute"
parent = "crank"
child = "rod"
frame = { xyz = [0.3, 0, 0] }
[[joint]]
name = "lever"
type = "revolute"
parent = "base"
child = "lever"
frame = { xyz = [1.0, 0, 0] }
[[loop]]
name = "pin"
type = "revolute"
parent = "rod"
child = "lever"
frame = { xyz = ["rod", 0, 0] }
child_frame = { xyz = [0.8, 0, 0] }
"""


def _write(folder: Path, text: str, name: str = "robot.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_loops_are_closed_with_the_given_lengths(tmp_path: Path) -> None:
    """An unset length that is not in use does not disable the check; given lengths override those of the file."""
    assert load(_write(tmp_path, FOUR_BAR)).actuated == ("crank",)
    short = _write(tmp_path, FOUR_BAR.replace("rod = 1.0", "rod = 0.001"))
    with pytest.raises(InputError, match=r"robot\.toml: loop 'pin' .* cannot close"):
        load(short)
    assert dict(load(short, lengths={"rod": 1.0}).lengths)["rod"] == 1.0
    with pytest.raises(InputError, match=r"robot\.toml: robot 'robot' has no length 'rud'; did you mean 'rod'"):
        load(short, lengths={"rud": 1.0})
    unset = load(_write(tmp_path, FOUR_BAR.replace("rod = 1.0", 'rod = "unset"')))
    assert unset.unset_lengths == ("rod",)


def test_too_many_actuated_coordinates_are_an_error(tmp_path: Path) -> None:
    path = _write(tmp_path, FOUR_BAR.replace('["crank"]', '["crank", "lever"]'))
    with pytest.raises(InputError, match=r"robot\.toml: .* leave 1 coordinate free, but 2 are actuated"):
        load(path)


WORLD_WITH_A_TENDON = """<mujoco><worldbody>
<body name="a"><joint name="q"/><geom type="sphere" size="0.1"/></body></worldbody>
<tendon><fixed name="t"><joint joint="q" coef="1"/></fixed></tendon></mujoco>"""


def test_strict_refuses_inconsistent_inertias_of_all_links(tmp_path: Path) -> None:
    path = _write(tmp_path, WORLD_WITH_A_TENDON, "world.xml")
    robot = load(path, strict=True)
    assert not robot.findings
    assert list(robot.consistency) == [link.name for link in robot.links]
    assert all(robot.consistency.values())
    fixed = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    fixed += '<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    fixed += '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
    path = _write(tmp_path, fixed, "fixed.urdf")
    robot = load(path)
    assert not robot.consistency["b"]
    assert any(note.is_warning and note.text.startswith("link 'b': triangle") for note in robot.findings)
    with pytest.raises(InputError, match=r"fixed\.urdf: link 'b': triangle inequality violated.*without --strict"):
        load(path, strict=True)


def test_negative_friction_and_rotor_inertia_are_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = FOUR_BAR.replace(
        'child = "crank"', 'child = "crank"\ndrive = { rotor_inertia = -1, viscous = -2, offset = -3 }'
    )
    text += "drive = { coulomb = -4 }\n[[motor]]\nname = 'm'\ndrive = { coulomb = -5 }"
    text = text.replace('actuated = ["crank"]', 'actuated = ["crank", "m"]')
    with caplog.at_level(logging.WARNING, logger="ytheta"):
        robot = load(_write(tmp_path, text), strict=True)
    warnings = [note.text for note in robot.findings if note.is_warning]
    assert [text.partition(" is negative")[0] for text in warnings] == [
        "joint 'crank': its rotor inertia -1",
        "joint 'crank': its viscous friction -2",
        "joint 'pin': its Coulomb friction -4",
        "motor 'm': its Coulomb friction -5",
    ]
    assert len(caplog.records) == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FOUR_BAR + "[[marker]]\nname = 'mk'\nlink = 'hand'", "robot.toml: marker 'mk': the robot has no link 'hand'"),
        (FOUR_BAR.replace("crank = 1.0", "krank = 1.0"), "robot.toml: robot 'robot': 'home' names 'krank'"),
        (FOUR_BAR.replace("crank = 1.0", "crank = 1e200"), "robot.toml: crank = 1e+200 is not a joint position"),
    ],
)
def test_every_error_names_the_file(tmp_path: Path, text: str, reason: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(reason)


@pytest.mark.parametrize("name", ["x" * 300, "zero\0byte"])
def test_invalid_file_names_are_errors(name: str) -> None:
    with pytest.raises(InputError, match=r"there is no robot .* in the catalog"):
        load(name)

"""The element <ytheta> of URDF: floating bases, links without inertia, sensors."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from ytheta.errors import RobotFileError

BALL = """<mujoco model="ball"><worldbody><body name="arm"><joint name="shoulder" type="ball"/>
<inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""
ARM = """<robot name="arm"><link name="base"/><link name="tool"/><link name="hand"/>
<joint name="q1" type="continuous"><parent link="base"/><child link="hand"/></joint>
<joint name="wrist" type="fixed"><parent link="hand"/><child link="tool"/></joint>{}</robot>"""


def write(folder: Path, extension: str) -> Path:
    path = folder / "arm.urdf"
    path.write_text(ARM.format(extension))
    return path


def test_links_of_a_ball_joint_have_no_inertia_after_a_round_trip(tmp_path: Path) -> None:
    source = tmp_path / "ball.xml"
    source.write_text(BALL)
    robot = yt.load(source)
    assert [link.name for link in robot.links if not link.has_inertia] == ["arm.x", "arm.y"]
    (path,) = yt.export(robot, to="urdf", path=tmp_path / "ball.urdf")
    back = yt.load(path)
    assert [link.has_inertia for link in back.links] == [link.has_inertia for link in robot.links]
    assert len(yt.base_parameters(back)) == len(yt.base_parameters(robot))
    stripped = tmp_path / "stripped.urdf"  # the twin: the same file without the element
    text = path.read_text()
    stripped.write_text(text[: text.index("<ytheta")] + "</robot>")
    assert len(yt.base_parameters(yt.load(stripped))) > len(yt.base_parameters(robot))


def test_what_is_declared_is_read(tmp_path: Path) -> None:
    declared = (
        '<ytheta floating_base="true"><link name="tool" inertia="false"/><joint name="wrist" type="sensor"/></ytheta>'
    )
    robot = yt.load(write(tmp_path, declared))
    assert robot.floating
    assert not robot.link("tool").has_inertia
    assert robot.actuated[-6:] == tuple(f"wrist_{part}" for part in ("fx", "fy", "fz", "nx", "ny", "nz"))
    assert not yt.load(write(tmp_path, declared), fix_base=True).floating
    plain = yt.load(write(tmp_path, '<ytheta floating_base="false"><link name="tool" inertia="true"/></ytheta>'))
    assert plain == yt.load(write(tmp_path, ""))


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        ('<ytheta><link name="tol" inertia="false"/></ytheta>', "the file has no link 'tol'; did you mean 'tool'"),
        ('<ytheta><joint name="q1" type="sensor"/></ytheta>', "only a fixed joint can be declared as 'sensor'"),
        ('<ytheta><joint name="wrist" type="spring"/></ytheta>', "only a fixed joint can be declared as 'sensor'"),
        ('<ytheta floating_base="yes"/>', "'floating_base' is 'yes'; write true or false"),
        ('<ytheta floating_base="true"/><ytheta floating_base="true"/>', "floats already"),
    ],
)
def test_wrong_declarations(extension: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=message):
        yt.load(write(tmp_path, extension))

"""The SDF reader against Drake (figures printed once), and against equal URDF and MJCF files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support import pinocchio_peer
from tests.support.sdf_models import (
    HAND,
    MODELS,
    ON_WORLD,
    TORQUES,
    WORLD,
    make_document,
    make_joint,
    make_link,
    write_models,
)
from tests.support.states import close, state
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot

# Both sides compute in doubles with numbers of the order of ten.
TOLERANCE = 1e-11

URDF_INERTIAL = """<inertial><origin xyz="0.05 -0.02 0.11" rpy="0.3 -0.4 0.5"/><mass value="2"/><inertia ixx="0.02"
ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0015" izz="0.025"/></inertial>"""
URDF = f"""<robot name="r"><link name="base"/><link name="a">{URDF_INERTIAL}</link><link name="b">{URDF_INERTIAL}</link>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
<axis xyz="0.6 0 0.8"/><limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.7" friction="0.2"/>
</joint><joint name="j2" type="prismatic"><parent link="a"/><child link="b"/>
<origin xyz="-0.2 0.3 0.4" rpy="-0.7 0.2 0.1"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/>
<mimic joint="j1" multiplier="0.5" offset="0.1"/></joint></robot>"""
LIMIT = "<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>"
MIMIC = '<mimic joint="j1"><multiplier>0.5</multiplier><offset>0.35</offset><reference>0.5</reference></mimic>'
EQUAL_SDF = make_document(
    make_link("base")
    + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
    + make_link("b", "-0.2 0.3 0.4 -0.7 0.2 0.1", attributes='relative_to="a"')
    + ON_WORLD
    + make_joint(
        "j1",
        "base",
        "a",
        axis=f"<xyz>0.6 0 0.8</xyz>{LIMIT}<dynamics><damping>0.7</damping><friction>0.2</friction></dynamics>",
    )
    + make_joint("j2", "a", "b", kind="prismatic", axis=f"<xyz>0 1 0</xyz>{LIMIT}{MIMIC}"),
    "1.10",
)


def read(text: str, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, snap, fix_base=fix_base)


def compute_torques(robot: Robot, names: list[str]) -> np.ndarray:
    """The torques at the motion for which TORQUES are given."""
    robot = replace(robot, gravity=(0.0, 0.0, -9.81), actuated=tuple(names))
    robot = robot.with_drives(lambda _, drive: replace(drive, coulomb=0.0))
    k = np.arange(len(names))
    motion = (0.3 - 0.2 * k, 0.5 - 0.3 * k, 0.2 + 0.4 * k)
    tau: np.ndarray = yt.inverse_dynamics(robot)(*(values[None] for values in motion))[0]
    return tau


@pytest.mark.parametrize("name", TORQUES)
def test_torques_are_those_of_drake(name: str, tmp_path: Path) -> None:
    torques = TORQUES[name]
    robot = yt.load(write_models(tmp_path)[name], snap=0.0)
    assert np.abs(compute_torques(robot, list(torques)) - list(torques.values())).max() < TOLERANCE


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_old_versions_are_read_as_version_1_4(version: str) -> None:
    """libsdformat converts nothing that the dynamics depend on between them."""
    old = read(MODELS["version 1.4"].replace('version="1.4"', f'version="{version}"'))
    assert old.joints == read(MODELS["version 1.4"]).joints


@pytest.mark.parametrize(
    ("name", "original", "changed"),
    [
        ("poses", 'relative_to="a"', ""),
        ("joint pose", 'pose relative_to="a"', "pose"),
        ("expressed in", ' expressed_in="__model__"', ""),
        ("version 1.4", 'version="1.4"', 'version="1.5"'),
        ("version 1.6", "<use_parent_model_frame>1<", "<use_parent_model_frame>0<"),
        ("frames", 'attached_to="flange"', ""),
        ("nested models", ' placement_frame="mount"', ""),
        ("include", "<placement_frame>mount</placement_frame>", ""),
        ("merge", 'pose relative_to="a"', "pose"),
        ("screw", "<screw_thread_pitch>0.3<", "<screw_thread_pitch>-0.3<"),
        ("box", "<density>900</density>", ""),
        ("planar", "<drake:damping>0.3 0.4 0.5</drake:damping>", ""),
    ],
)
def test_a_wrong_file_has_other_torques(name: str, original: str, changed: str, tmp_path: Path) -> None:
    path = write_models(tmp_path)[name]
    assert original in path.read_text()
    path.write_text(path.read_text().replace(original, changed))
    torques = TORQUES[name]
    difference = compute_torques(yt.load(path, snap=0.0), list(torques)) - list(torques.values())
    assert np.abs(difference).max() > 1e-3


def test_an_equal_urdf_has_the_same_torques_limits_and_friction(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF)
    urdf, sdf = yt.load(tmp_path / "r.urdf"), read(EQUAL_SDF)
    for name in ("j1", "j2"):
        assert sdf.joint(name).limits == urdf.joint(name).limits
        assert sdf.joint(name).drive == urdf.joint(name).drive
    assert sdf.couplings[0].terms == urdf.couplings[0].terms
    assert math.isclose(sdf.couplings[0].offset, urdf.couplings[0].offset, abs_tol=1e-15)
    q, qd, qdd = (values[:, None] for values in state(1))
    assert close(yt.inverse_dynamics(sdf)(q, qd, qdd), yt.inverse_dynamics(urdf)(q, qd, qdd))


def test_an_equal_urdf_with_another_pose_has_other_torques(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(URDF.replace('"-0.7 0.2 0.1"', '"-0.7 0.2 0.11"'))
    q, qd, qdd = (values[:, None] for values in state(1))
    urdf, sdf = yt.load(tmp_path / "r.urdf"), read(EQUAL_SDF)
    assert not close(yt.inverse_dynamics(sdf)(q, qd, qdd), yt.inverse_dynamics(urdf)(q, qd, qdd), 1e-6)


def test_a_model_without_a_joint_to_the_world_floats(tmp_path: Path) -> None:
    text = EQUAL_SDF.replace(ON_WORLD, "<pose>1 2 3 0 0 0.5</pose>")
    robot = read(text)
    assert robot.floating
    assert dict(robot.home) == {"base_x": 1.0, "base_y": 2.0, "base_z": 3.0, "base_rz": pytest.approx(0.5)}
    peer = pinocchio_peer.peer(replace(robot, couplings=(), actuated=()))
    q, qd, qdd = state(8)
    free = replace(robot, couplings=(), actuated=())
    free = free.with_drives(lambda _, drive: replace(drive, coulomb=0.0, viscous=0.0))
    assert close(yt.inverse_dynamics(free)(q[None], qd[None], qdd[None])[0], peer.torque(q, qd, qdd))
    path = tmp_path / "r.sdf"
    path.write_text(text)
    fixed = yt.load(path, fix_base=True)
    assert not fixed.floating
    assert np.allclose(link_poses(fixed, np.zeros(2))["base"][:3, 3], (1.0, 2.0, 3.0))


def test_of_a_world_the_model_with_joints_is_the_robot(tmp_path: Path) -> None:
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand" / "model.sdf").write_text(HAND)
    path = tmp_path / "scene.world"
    path.write_text(WORLD)
    robot = yt.load(path, snap=0.0)
    assert robot.name == "hand"
    assert [link.name for link in robot.links] == ["world", "palm", "finger"]
    assert robot.gravity == (0.0, 0.0, -9.8)
    corner = Frame.shift(0.5, 0.6, 0.7) @ Frame.from_rpy(0.1, 0.2, 0.3)
    palm = (
        corner @ Frame.shift(0.1, 0.2, 0.3) @ Frame.from_rpy(0, 0.5, 0) @ Frame.shift(0.1) @ Frame.from_rpy(0.2, 0, 0)
    )
    pose = [dict(robot.home)[f"base_{letter}"] for letter in "xyz"]
    assert np.allclose(pose, palm.matrix[:3, 3], atol=1e-14)
    assert any("models beside the robot are left out: table, ball" in finding.text for finding in robot.findings)


@pytest.mark.parametrize(("text", "gravity"), [("<gravity>0 1 -2</gravity>", (0.0, 1.0, -2.0)), ("", (0.0, 0.0, -9.8))])
def test_gravity_is_that_of_the_world(text: str, gravity: tuple[float, float, float]) -> None:
    model = make_document(make_link("base")).removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    robot = read(f'<sdf version="1.9"><world name="w">{text}{model}</world></sdf>')
    assert robot.gravity == gravity
    assert read(make_document(make_link("base"))).gravity == (0.0, 0.0, -9.81)


@pytest.mark.parametrize(("version", "gravity"), [("1.4", (0.0, 0.0, -1.6)), ("1.5", (0.0, 0.0, -1.6)), ("1.6", None)])
def test_gravity_was_a_part_of_physics(version: str, gravity: tuple[float, float, float] | None) -> None:
    """libsdformat moves it when it converts a world from version 1.5 to 1.6."""
    model = make_document(make_link("base")).removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    physics = '<physics type="ode"><gravity>0 0 -1.6</gravity></physics>'
    robot = read(f'<sdf version="{version}"><world name="w">{physics}{model}</world></sdf>')
    assert robot.gravity == (gravity or (0.0, 0.0, -9.8))


def test_several_models_with_joints_are_an_error_that_names_them() -> None:
    model = make_document(make_link("x") + make_link("y") + make_joint("j", "x", "y"))
    model = model.removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    other = model.replace('name="r"', 'name="s"')
    text = f'<sdf version="1.9"><world name="w">{model}{other}</world></sdf>'
    with pytest.raises(RobotFileError, match="the file has 2 models, and each could be the robot: r, s; save the one"):
        read(text)


def test_the_base_of_a_static_model_is_fixed() -> None:
    text = make_document("<static>true</static>" + make_link("x") + make_link("y") + make_joint("j", "x", "y"))
    robot = read(text)
    assert not robot.floating
    assert robot.coordinates == ("j",)
    assert "the base of static models is fixed; their joints move nevertheless: x" in [f.text for f in robot.findings]


def test_unlimited_positions_velocities_and_efforts() -> None:
    limit = "<limit><lower>-1e16</lower><upper>1e+16</upper><velocity>-1</velocity><effort>-1</effort></limit>"
    inf = "<limit><lower>-inf</lower><upper>inf</upper><effort>inf</effort></limit>"
    for text in (limit, inf, ""):
        robot = read(EQUAL_SDF.replace(LIMIT, text))
        assert robot.joint("j1").limits == Limits()


def test_a_link_that_is_called_world_is_the_world() -> None:
    robot = read(EQUAL_SDF.replace(make_link("base"), make_link("base") + '<link name="world"/>'))
    assert [link.name for link in robot.links] == ["world", "base", "a", "b"]
    assert robot.joints[0].kind is JointKind.FIXED

"""Robots whose meshes are missing: geometry and base parameters are right, inertias are not used."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import ytheta as yt
from ytheta.conventions import SNAP
from ytheta.errors import InputError, RobotFileError
from ytheta.identification.assessment.torque_errors import is_described
from ytheta.identification.identify import read_prior
from ytheta.identification.torque_model import read_torque_model
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import MISSING_MESH, check_inertias_are_complete, list_incomplete_links
from ytheta.robot.robot import Robot

TETRAHEDRON = "v 0 0 0\nv 0.4 0 0\nv 0 0.3 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MJCF = """<mujoco model="arm"><compiler meshdir="assets"/><asset><mesh file="m.obj"/></asset><worldbody>
  <body name="a"><joint name="j"/><geom size="0.1" pos="0.2 0 0"/>
    <body name="b" pos="0.3 0 0"><joint name="k" axis="0 1 0"/><geom type="mesh" mesh="m"/></body></body>
</worldbody></mujoco>"""
SDF = """<sdf version="1.12"><model name="arm"><link name="base"><inertial><mass>1</mass></inertial></link>
  <link name="b"><inertial auto="true"/><collision name="c"><geometry><mesh><uri>assets/m.obj</uri></mesh></geometry>
  </collision></link><joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="k" type="revolute"><parent>base</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def load(folder: Path, text: str, *, with_mesh: bool) -> Robot:
    (folder / "assets").mkdir()
    if with_mesh:
        (folder / "assets" / "m.obj").write_text(TETRAHEDRON)
    path = folder / ("arm.sdf" if text == SDF else "arm.xml")
    path.write_text(text)
    return yt.load(path)


@pytest.mark.parametrize("text", [MJCF, SDF])
def test_geometry_and_counts_do_not_need_the_mesh(tmp_path: Path, text: str) -> None:
    (tmp_path / "full").mkdir()
    complete = load(tmp_path / "full", text, with_mesh=True)
    incomplete = load(tmp_path, text, with_mesh=False)
    assert (list_incomplete_links(complete), list_incomplete_links(incomplete)) == ((), ("b",))
    assert incomplete.joints == complete.joints
    assert len(yt.base_parameters(incomplete)) == len(yt.base_parameters(complete)) > 0


def test_the_warning_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    (finding,) = (each for each in load(tmp_path, MJCF, with_mesh=False).findings if each.code == MISSING_MESH)
    assert finding.text.startswith("the inertia of b depends on mesh files that do not exist (m.obj)")
    assert "add the files" in finding.text
    assert json.loads(json.dumps(finding.data)) == finding.data


def test_incomplete_inertias_are_not_used(tmp_path: Path) -> None:
    robot = load(tmp_path, MJCF, with_mesh=False)
    with pytest.raises(InputError, match="a prediction needs the inertias of 'arm', but that of b depends on mesh"):
        read_torque_model(tmp_path / "arm.xml", snap=SNAP, fix_base=False, lengths={}, angles={})
    with pytest.raises(InputError, match="a prediction needs the inertias of 'arm'"):
        read_torque_model(robot, snap=SNAP, fix_base=False, lengths={}, angles={})
    with pytest.raises(InputError, match="a prior needs the inertias of 'arm'"):
        read_prior(robot, robot, None)
    with pytest.raises(InputError, match="an export needs the inertias of 'arm'"):
        yt.export(robot, to="urdf", path=tmp_path / "model.urdf")
    assert yt.export(robot, to="urdf", path=tmp_path / "model.urdf", force=True)
    with pytest.raises(InputError, match="a simulation needs the inertias of 'arm'"):
        yt.simulate(robot, seconds=0.1)
    assert read_prior(robot, None, None).flat
    assert not is_described(robot)


def test_motion_is_designed_within_effort_limits_only_if_the_inertias_are_complete(tmp_path: Path) -> None:
    robot = load(tmp_path, MJCF, with_mesh=False)

    def design(effort: float) -> yt.Excitation:
        position = dict.fromkeys(robot.actuated, (-1.0, 1.0))
        return yt.excite(robot, position=position, velocity=2.0, effort=effort, noise=0.1, seconds=5.0, starts=1)

    with pytest.raises(InputError, match=r"a motion within effort limits .* or design without effort limits: --effort"):
        design(50.0)
    assert not design(math.inf).violations


def test_complete_inertias_are_used(tmp_path: Path) -> None:
    robot = load(tmp_path, MJCF, with_mesh=True)
    yt.simulate(robot, seconds=0.1)  # is not refused
    check_inertias_are_complete(robot, "a prediction")
    assert not read_prior(robot, None, None).flat
    assert is_described(robot)


def test_a_link_with_another_inertia_is_complete(tmp_path: Path) -> None:
    robot = load(tmp_path, MJCF, with_mesh=False)
    inertia = Inertia.point_mass(1.0, (0.1, 0.0, 0.0))
    links = tuple(replace(link, inertia=inertia) if link.name == "b" else link for link in robot.links)
    check_inertias_are_complete(replace(robot, links=links), "a prediction")


def test_meshes_in_packages_are_found(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "arm_meshes").mkdir(parents=True)
    (tmp_path / "workspace" / "arm_meshes" / "package.xml").write_text("<package><name>arm_meshes</name></package>")
    (tmp_path / "workspace" / "arm_meshes" / "m.obj").write_text(TETRAHEDRON)
    (tmp_path / "robot").mkdir()
    path = tmp_path / "robot" / "arm.xml"
    path.write_text(MJCF.replace("m.obj", "package://arm_meshes/m.obj"))
    (tmp_path / "full").mkdir()
    robot = yt.load(path, package_paths=[tmp_path / "workspace"])
    assert robot.links == load(tmp_path / "full", MJCF, with_mesh=True).links
    assert not list_incomplete_links(robot)
    lost = yt.load(path)
    assert list_incomplete_links(lost) == ("b",)
    (finding,) = (each for each in lost.findings if each.code == MISSING_MESH)
    assert "(package://arm_meshes/m.obj)" in finding.text
    assert "--package-path" in finding.text


def test_a_reference_that_leaves_its_package_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "arm_meshes").mkdir()
    (tmp_path / "arm_meshes" / "package.xml").write_text("<package><name>arm_meshes</name></package>")
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    path = tmp_path / "arm.xml"
    path.write_text(MJCF.replace("m.obj", "package://arm_meshes/../m.obj"))
    with pytest.raises(RobotFileError, match="leaves the robot's folder"):
        yt.load(path, package_paths=[tmp_path])

"""Inertias of meshes against MuJoCo, which compiles the same file."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import pytest

from tests.support.mjcf_models import (
    GEOM,
    TOLERANCE,
    check_agreement,
    inertia_error,
    read,
    read_both,
    read_text,
    world_text,
)
from ytheta.errors import MissingExtraError, RobotFileError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import list_incomplete_links
from ytheta.robot.reading import solids

CORNERS = "0 0 0 0.3 0 0 0 0.2 0 0 0 0.1 0.2 0.2 0.2"
ASSET = f'<asset><mesh name="m" vertex="{CORNERS}" {{}}/><mesh name="n" vertex="{CORNERS}"/></asset>'
OBJ = "v 0 0 0\nv 0.4 0 0\nv 0 0.3 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def make_text(geoms: str, mesh: str = "", top: str = "") -> str:
    return world_text(f'<body name="a"><joint/>{geoms}</body>', ASSET.format(mesh) + top)


@pytest.mark.parametrize(
    "geoms",
    [
        '<geom type="mesh" mesh="m"/>',
        '<geom type="mesh" mesh="m" mass="3" pos="0.1 0.2 0.3" euler="10 20 30"/>',
        '<geom type="mesh" mesh="m" density="500"/><geom type="mesh" mesh="n" pos="1 0 0"/><geom size="0.1"/>',
        '<geom type="box" mesh="m"/>',
        '<frame pos="1 2 3" euler="40 50 60"><geom type="mesh" mesh="m" pos="0.1 0 0"/></frame>',
    ],
)
def test_meshes_have_the_inertia_of_mujoco(geoms: str) -> None:
    check_agreement(*read_both(make_text(geoms)))


@pytest.mark.parametrize(
    "mesh", ['scale="2 1 0.5"', 'refpos="0.1 0.2 0.3" refquat="1 2 3 4"', 'inertia="convex"', 'inertia="shell"']
)
def test_meshes_are_scaled_and_moved(mesh: str) -> None:
    check_agreement(*read_both(make_text('<geom type="mesh" mesh="m"/>', mesh)))


@pytest.mark.parametrize("shape", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
def test_primitives_are_fitted_to_the_bounding_box_of_a_mesh(shape: str) -> None:
    geom, top = f'<geom type="{shape}" mesh="m" euler="10 20 30"/>', '<compiler fitaabb="true"/>'
    robot, model = read_both(make_text(geom, top=top))
    check_agreement(robot, model)
    assert inertia_error(read_text(make_text(geom)), model) > TOLERANCE  # fitted to the inertia


def test_a_geom_of_an_older_file_makes_its_mesh_a_shell() -> None:
    geoms = '<geom type="mesh" mesh="m" {} mass="2"/><geom type="mesh" mesh="m" pos="1 0 0"/>'
    robot = read_text(make_text(geoms.format('shellinertia="true"')))
    # The current version of MuJoCo wants another mesh with the same vertices instead.
    asset = f'<asset><mesh name="s" vertex="{CORNERS}" inertia="shell"/></asset>'
    model = mujoco.MjModel.from_xml_string(make_text(geoms.format("").replace('"m"', '"s"', 1), top=asset))
    assert inertia_error(robot, model) < TOLERANCE
    assert inertia_error(read_text(make_text(geoms.format('shellinertia="false"'))), model) > TOLERANCE


def test_a_mesh_of_another_size_is_detected() -> None:
    robot, model = read_both(make_text('<geom type="mesh" mesh="m"/>'))
    other = read_text(make_text('<geom type="mesh" mesh="m"/>', 'scale="1 1 1.0001"'))
    assert inertia_error(robot, model) < TOLERANCE < inertia_error(other, model)


def test_mass_is_bounded_and_scaled_with_meshes() -> None:
    top = '<compiler settotalmass="7" boundmass="0.5" balanceinertia="true"/>'
    check_agreement(*read_both(make_text(f'<geom type="mesh" mesh="m"/>{GEOM}', "", top)))


def test_files_are_read_in_memory_and_within_the_folder(tmp_path: Path) -> None:
    (tmp_path / "robot" / "assets").mkdir(parents=True)
    (tmp_path / "robot" / "assets" / "m.obj").write_text(OBJ)
    (tmp_path / "outside.obj").write_text(OBJ)
    path = tmp_path / "robot" / "arm.xml"
    body = '<body name="a"><joint/><geom type="mesh" mesh="m"/></body>'
    path.write_text(world_text(body, '<compiler meshdir="assets"/><asset><mesh file="m.obj"/></asset>'))
    assert inertia_error(read(path), mujoco.MjModel.from_xml_path(str(path))) < TOLERANCE
    path.write_text(world_text(body, '<asset><mesh name="m" file="../outside.obj"/></asset>'))
    with pytest.raises(RobotFileError, match=r"<mesh name='m'>: the path '\.\./outside.obj' leaves the robot's folder"):
        read(path)


def test_a_missing_file_is_a_warning_with_the_meshes(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    body = f'<body name="a"><joint/><geom type="mesh" mesh="m"/>{GEOM}</body>'
    path.write_text(world_text(body, '<asset><mesh name="m" file="missing.obj"/></asset>'))
    robot = read(path)
    (finding,) = robot.findings
    assert finding.is_warning
    assert "the inertia of a depends on mesh files that do not exist (missing.obj)" in finding.text
    assert finding.names == ("a",)
    assert robot.link("a").inertia != Inertia()  # the other geom
    assert list_incomplete_links(robot) == ("a",)


def test_links_that_do_not_need_the_missing_file_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    geom = '<geom type="mesh" mesh="m"/>'
    given = f'<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geom}</body>'
    path.write_text(world_text(f"{geom}{given}", '<asset><mesh name="m" file="missing.obj"/></asset>'))
    assert not list_incomplete_links(read(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not a mesh", "MuJoCo cannot measure the meshes of the file"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "MuJoCo cannot measure the meshes of the file"),
        ("", "the inertia of a body depends on this mesh: .* is empty"),
    ],
)
def test_faulty_files_are_errors(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "m.obj").write_text(content)
    path = tmp_path / "arm.xml"
    path.write_text(
        world_text('<body><joint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh file="m.obj"/></asset>')
    )
    with pytest.raises(RobotFileError, match=message):
        read(path)


def test_the_size_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.obj").write_text(OBJ)
    path = tmp_path / "arm.xml"
    path.write_text(
        world_text('<body><joint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh file="m.obj"/></asset>')
    )
    monkeypatch.setattr(solids, "MAX_TOTAL_SIZE", 10)
    with pytest.raises(RobotFileError, match="the meshes have more than"):
        read(path)


def test_an_unknown_mesh_is_an_error() -> None:
    with pytest.raises(RobotFileError, match="there is no mesh 'k' in <asset>"):
        read_text(make_text('<geom type="mesh" mesh="k"/>'))


def test_without_mujoco_the_message_contains_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[mujoco\]'"):
        read_text(make_text('<geom type="mesh" mesh="m"/>'))

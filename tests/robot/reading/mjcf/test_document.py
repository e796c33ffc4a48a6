"""Included files and paths of assets in MJCF files."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from tests.support.mjcf_models import (
    GEOM,
    check_agreement,
    read,
    read_both,
    read_text,
    world_text,
)
from ytheta.errors import RobotFileError
from ytheta.robot.reading.load import load


def write_files(folder: Path, **contents: str) -> Path:
    """Write files, given by stem, in which a double underscore separates folders; return the path of ``main.xml``."""
    for name, content in contents.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
    return folder / "main.xml"


@pytest.mark.parametrize("value", ["", " "])
def test_attributes_without_a_value_count_as_missing(value: str) -> None:
    """Also in MuJoCo; those of the default class apply then."""
    joint, geom = '<joint axis="{0}" range="{0}" damping="{0}"/>', '<geom size="0.1" density="{0}"/>'
    body = f'<body pos="{{0}}" euler="{{0}}">{joint}{geom}</body>'
    default = '<default><geom density="500"/><joint damping="2"/></default>'
    check_agreement(*read_both(world_text(body.format(value), default)))


def test_includes(tmp_path: Path) -> None:
    path = write_files(
        tmp_path,
        main='<mujoco model="m"><include file="parts/top.xml"/><worldbody><include file="parts/arm.xml"/></worldbody>'
        f'<worldbody><body name="z"><joint/>{GEOM}</body></worldbody></mujoco>',
        parts__top='<mujoco model="ignored"><compiler angle="radian"/><default><joint damping="2"/></default></mujoco>',
        parts__arm='<any><body name="a" euler="1 2 3"><joint/><include file="tool.xml"/></body>'
        '<include file="far.xml"/></any>',
        tool=f"<mujocoinclude>{GEOM}</mujocoinclude>",
        parts__tool='<mujocoinclude><geom size="5"/></mujocoinclude>',
        parts__far=f'<mujocoinclude><body name="far"><joint/>{GEOM}</body></mujocoinclude>',
    )
    robot = read(path)
    check_agreement(robot, mujoco.MjModel.from_xml_path(str(path)))
    assert [link.name for link in robot.links] == ["world", "a", "far", "z"]
    assert robot.name == "m"


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("../outside.xml", r"main\.xml, line 1, <include>: the path '\.\./outside\.xml' leaves the robot's folder"),
        ("/etc/passwd", r"the path '/etc/passwd' leaves the robot's folder"),
        ("missing.xml", r"main\.xml, line 1, <include>: the included file 'missing\.xml' does not exist"),
        ("main.xml", r"the file 'main\.xml' is included twice"),
        ("circle.xml", r"circle\.xml, line 1, <include>: the file 'circle\.xml' is included twice"),
        ("empty.xml", r"the included file 'empty\.xml' has no elements"),
        ("package://p/a.xml", r"the included file 'package://p/a\.xml' does not exist"),
    ],
)
def test_mistakes_in_includes(include: str, message: str, tmp_path: Path) -> None:
    path = write_files(
        tmp_path / "robot",
        main=f'<mujoco><include file="{include}"/></mujoco>',
        circle='<x><include file="circle.xml"/></x>',
        empty="<x/>",
    )
    write_files(tmp_path, outside="<x><worldbody/></x>")
    with pytest.raises(RobotFileError, match=message):
        read(path)


def test_nesting_of_includes_is_limited(tmp_path: Path) -> None:
    deep = "<a>" * 300, "</a>" * 300
    path = write_files(
        tmp_path,
        main=f'<mujoco>{deep[0]}<include file="one.xml"/>{deep[1]}</mujoco>',
        one=f"<x>{deep[0]}{deep[1]}</x>",
    )
    with pytest.raises(RobotFileError, match="nested too deeply"):
        read(path)


@pytest.mark.parametrize(
    ("compiler", "asset"),
    [
        ("", '<mesh file="../x.stl"/>'),
        ("", '<mesh file="file:///x.stl"/>'),
        ("", '<mesh file="https://example.org/x.stl"/>'),
        ('meshdir="assets"', '<mesh file="../../x.stl"/>'),
        ('meshdir="../assets"', '<hfield file="x.png"/>'),
        ('assetdir="../assets"', '<texture file="x.png"/>'),
        ("", '<texture fileup="/x.png"/>'),
        ('meshdir="/data" strippath="true"', '<mesh file="C:\\a\\x.stl"/>'),
        ("", '<skin file="../x.skn"/>'),
        ("", '<mesh name="m" vertex="0 0 0"/>'),
    ],
)
def test_paths_of_files_that_are_not_opened_are_never_refused(compiler: str, asset: str) -> None:
    text = world_text("<body/>", f"<compiler {compiler}/><asset>{asset}</asset>")
    assert len(read_text(text).links) == 2


@pytest.mark.parametrize(
    ("compiler", "file", "located"),
    [
        ("", "x.stl", "x.stl"),
        ("", "../x.stl", None),
        ("", "/etc/passwd", None),
        ("", "file:///etc/passwd", None),
        ("", "a/../b/x.stl", "b/x.stl"),
        ('meshdir="assets"', "../x.stl", "x.stl"),
        ('meshdir="assets"', "../../x.stl", None),
        ('strippath="true"', "../../x.stl", "x.stl"),
    ],
)
def test_collision_meshes_outside_of_the_folder_have_no_path(
    tmp_path: Path, compiler: str, file: str, located: str | None
) -> None:
    geom = '<geom type="mesh" mesh="m" mass="0"/>'
    top = f'<compiler {compiler}/><asset><mesh name="m" file="{file}"/></asset>'
    path = write_files(tmp_path / "robot", main=world_text(f"<body>{geom}</body>", top))
    (shape,) = read(path).collision
    if located is None:
        assert shape.file.startswith(f"the path {file!r} leaves the robot's folder and is not opened")
    else:
        assert shape.file == str((tmp_path / "robot" / located).resolve())


def test_a_folder_can_be_allowed(tmp_path: Path) -> None:
    path = write_files(tmp_path / "robot", main='<mujoco><include file="../outside.xml"/></mujoco>')
    write_files(tmp_path, outside="<x><worldbody><body/></worldbody></x>")
    with pytest.raises(RobotFileError, match=r"leaves the robot's folder.*--allow-path"):
        load(path)
    assert len(load(path, allow_paths=[tmp_path]).links) == 2


def test_assets_are_also_searched_for_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    mesh = tmp_path / "parts" / "m.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "parts" / "assets.xml").write_text('<mujoco><asset><mesh name="m" file="m.obj"/></asset></mujoco>')
    body = '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody>'
    path = write_files(tmp_path, main=f'<mujoco><include file="parts/assets.xml"/>{body}</mujoco>')
    model = mujoco.MjModel.from_xml_path(str(path))
    assert read(path).links[1].inertia.mass == pytest.approx(model.body_mass[1])
    with_folder = f'<mujoco><compiler meshdir="x"/><include file="parts/assets.xml"/>{body}</mujoco>'
    path = write_files(tmp_path, main=with_folder)
    assert read(path).links[1].inertia.mass == 0.0  # MuJoCo does not find it either

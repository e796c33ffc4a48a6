"""Included files and paths of assets in MJCF files."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from tests.support.mjcf_models import (
    GEOM,
    check_agreement,
    read,
    read_text,
    world_text,
)
from ytheta.errors import RobotFileError


def write_files(folder: Path, **contents: str) -> Path:
    """Write files, given by stem, in which a double underscore separates folders; return the path of ``main.xml``."""
    for name, content in contents.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
    return folder / "main.xml"


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
    ("compiler", "asset", "refused"),
    [
        ("", '<mesh file="../x.stl"/>', "../x.stl"),
        ("", '<mesh file="a/../b/x.stl"/>', None),
        ('meshdir="assets"', '<mesh file="../x.stl"/>', None),
        ('meshdir="assets"', '<mesh file="../../x.stl"/>', "assets/../../x.stl"),
        ('meshdir="../assets"', '<hfield file="x.png"/>', "../assets/x.png"),
        ('assetdir="../assets"', '<texture file="x.png"/>', "../assets/x.png"),
        ('assetdir="../assets" texturedir="t"', '<texture file="x.png"/>', None),
        ("", '<texture fileup="/x.png"/>', "/x.png"),
        ('meshdir="/data" strippath="true"', '<mesh file="C:\\a\\x.stl"/>', "/data/x.stl"),
        ('strippath="true"', '<mesh file="../../x.stl"/>', None),
        ("", '<skin file="../x.skn"/>', "../x.skn"),
        ("", '<mesh name="m" vertex="0 0 0"/>', None),
    ],
)
def test_paths_of_assets(compiler: str, asset: str, refused: str | None) -> None:
    text = world_text("<body/>", f"<compiler {compiler}/><asset>{asset}</asset>")
    if refused is None:
        assert len(read_text(text).links) == 2
        return
    with pytest.raises(RobotFileError) as error:
        read_text(text)
    assert f"the path '{refused}' leaves the robot's folder and is not opened" in str(error.value)

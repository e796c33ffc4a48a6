"""Documents that are not a URDF of a robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.reading.urdf import check_document

JOINT = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/></joint>'


def check(content: str) -> None:
    check_document(parse_xml(f'<robot name="r">{content}</robot>'.encode(), Path("r.urdf")))


def test_a_closed_loop_is_told_what_can_close_it() -> None:
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    tree = links + JOINT.format("p", "a", "b") + JOINT.format("q", "a", "c")
    check(tree)
    with pytest.raises(RobotFileError) as caught:
        check(tree + JOINT.format("r", "b", "c"))
    assert str(caught.value) == (
        "r.urdf, line 1, <joint name='r'>: link 'c' is the child of two joints, 'q' and 'r', but URDF has no closed "
        "loops; remove one of them, and close the loop in a robot.yaml or a TOML file that extends this one"
    )


def test_files_without_links_and_templates_are_refused() -> None:
    with pytest.raises(RobotFileError, match="there is no <link>"):
        check('<group name="g"/>')
    with pytest.raises(RobotFileError, match=r"this is a xacro file, a template; rename it to \.xacro"):
        check('<link name="a"><xacro:mass value="1"/></link>')

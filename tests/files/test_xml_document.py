"""XML documents: comments that are not XML, and mistakes with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.errors import RobotFileError
from ytheta.files.xml_document import Node, parse_xml


def parse(text: str) -> Node:
    return parse_xml(text.encode(), Path("a.xml"))


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- legal -->",
        "<!-- a -- b -->",
        "<!--------\n- two lines -\n-------->",
        "<!-- an <element/> -- inside --->",
        "<!-- \u00fc -- \u00e4 -->",
        "<!-- -- --><!-- -- -->",
    ],
)
def test_comments_may_contain_two_hyphens(comment: str) -> None:
    """The elements behind a comment keep their lines and the indices of their first bytes."""
    text = f"<mujoco>{comment}\n<body/>{comment}</mujoco>"
    root = parse(text)
    (body,) = root.children
    assert body.line == text[: text.index("<body")].count("\n") + 1
    assert text.encode()[body.start :].startswith(b"<body/>")


@pytest.mark.parametrize("text", ["<mujoco><!-- -- </mujoco>", "<mujoco><!-- -->", "<!-- -- -->"])
def test_comments_do_not_hide_mistakes(text: str) -> None:
    with pytest.raises(RobotFileError, match="this is not XML"):
        parse(text)


def test_the_place_of_a_mistake_is_said() -> None:
    with pytest.raises(
        RobotFileError, match=r"a\.xml, line 2, column 15: this is not XML .* a space between two attributes"
    ):
        parse('<mujoco>\n<body name="a"pos="0 0 0"/></mujoco>')
    with pytest.raises(RobotFileError, match=r"a\.xml, line 1: this is not XML .* a URDF starts with <robot>"):
        parse("solid part")

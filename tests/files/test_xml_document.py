"""XML documents: declarations in the wrong place, and files that are not XML, with what to do about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.errors import RobotFileError
from ytheta.files.xml_document import Node, parse_xml

ROBOT = '<robot name="r"><link name="a"/></robot>'


def parse(content: str | bytes) -> Node:
    return parse_xml(content if isinstance(content, bytes) else content.encode(), Path("r.urdf"))


@pytest.mark.parametrize("before", ["", "\n", " \r\n\t", "<!-- licence -->\n", "\n<!-- a --> <!-- b -->\n\n"])
@pytest.mark.parametrize("declaration", ['<?xml version="1.0" ?>', "<?xml version='1.0' encoding='UTF-8'?>"])
def test_a_declaration_may_come_after_blank_lines_and_comments(before: str, declaration: str) -> None:
    text = f"{before}{declaration}\n{ROBOT}"
    root = parse(text)
    assert (root.tag, root.line) == ("robot", 2 + before.count("\n"))
    assert text[root.start :].startswith("<robot")


def test_many_comments_cost_little() -> None:
    """A pattern that can match comments in several ways would try all of them."""
    assert parse("<!-- a -->\n" * 2000 + ROBOT).line == 2001


@pytest.mark.parametrize(
    "comment",
    ["<!-- --- arm --- -->", "<!---->", "<!-- a\n<!-- b -->", "<!--\n----\nä\n-->", "<!------->", "<!-- <a/> -- --->"],
)
def test_comments_may_contain_hyphens(comment: str) -> None:
    text = f'<robot name="r">{comment}\n<link name="a"/>{comment}<link name="b"/></robot>'
    root = parse(text)
    assert [node.get("name", "") for node in root.all("link")] == ["a", "b"]
    assert root.children[0].line == 2 + comment.count("\n")
    assert text.encode()[root.children[1].start :].startswith(b'<link name="b"')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{ROBOT}\n</robot>", "r.urdf, line 2: there is more text after the end of <robot>; remove it"),
        (f"{ROBOT}\n\0", "r.urdf, line 2: there is more text after the end of <robot>; remove it"),
        (f"{ROBOT}{ROBOT}", "r.urdf, line 1: there is more text after the end of <robot>; remove it"),
        (
            ROBOT.replace('"a"', '"gelenk_ä"').encode("latin-1"),
            "r.urdf, line 1: this is not UTF-8; save the file as UTF-8, or name its encoding in <?xml …?>",
        ),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
            "r.urdf: this is a pointer of Git LFS, not the file itself; fetch the file with: git lfs pull",
        ),
        *(
            (
                page,
                "r.urdf: this is a web page (HTML), not a robot description; download the file itself (on GitHub: Raw)",
            )
            for page in ("<!DOCTYPE html>\n<html><body/></html>", "<!doctype HTML>", "<html><body>404</body></html>")
        ),
        (
            "<robot><link></robot>",
            "r.urdf, line 1, column 16: this is not XML (mismatched tag); correct the file there; often, a space "
            "between two attributes, a quotation mark or the end of an element is missing",
        ),
        (
            f'<?xml verison="1.0"?>{ROBOT}',
            'r.urdf, line 1: the declaration <?xml …?> is not well-formed; write <?xml version="1.0"?>',
        ),
        ('<robot>\n<link name="a"type="b"/></robot>', "r.urdf, line 2, column 15: this is not XML (not well-formed"),
        (
            "solid part",
            "r.urdf, line 1: this is not XML (syntax error); check the file: a URDF starts with <robot>, an MJCF with "
            "<mujoco>, an SDF with <sdf>",
        ),
        ("<robot><!-- never closed -- <link/></robot>", "this is not XML"),
        ("<robot><!-- -->", "this is not XML"),
        ("<!-- -- -->", "this is not XML"),
        (f'<!DOCTYPE robot [<!ENTITY a "b">]>{ROBOT}', "the file has a DOCTYPE"),
        (f'\n<?xml version="1.0" encoding="utf-16"?>{ROBOT}', "this is not XML"),
    ],
)
def test_what_is_wrong_and_what_to_do(content: str | bytes, message: str) -> None:
    with pytest.raises(RobotFileError) as caught:
        parse(content)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("${0.5 * l}", "is an expression of xacro, and this file is not expanded; rename it to .xacro"),
        ("$(optenv X 0.1 0 0)", "is an expression of xacro, and this file is not expanded; rename it to .xacro"),
        ("0.1, 0, 2", "should contain numbers separated by spaces, with points in place of commas"),
        ("a b", "should contain numbers separated by spaces"),
    ],
)
def test_attributes_that_are_not_numbers(value: str, message: str) -> None:
    with pytest.raises(RobotFileError) as caught:
        parse(f'<origin xyz="{value}"/>').numbers("xyz", 3)
    assert str(caught.value) == f"r.urdf, line 1, <origin>: xyz={value!r} {message}"

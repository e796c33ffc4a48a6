"""Edits of XML text: what changes, and that nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ytheta.errors import RobotFileError
from ytheta.exporting.xml_edit import Edit, apply_edits, check_encoding, insert_children, remove_element, set_attributes
from ytheta.files.xml_document import Node, parse_xml

TEXT = b"""<?xml version="1.0"?>
<!-- <b x="1"/> -->
<a>
  <b x = '1>2'  y="x='3'"/>
  <c>\xc3\xa9<d/></c>
</a>
"""


def parse(content: bytes) -> Node:
    return parse_xml(content, Path("a.xml"))


def find(content: bytes, tag: str) -> Node:
    return next(node for node in parse(content).descendants() if node.tag == tag)


def test_attributes_are_replaced_added_and_removed() -> None:
    start = find(TEXT, "b").start
    assert TEXT[start : start + 2] == b"<b"
    edits = set_attributes(TEXT, start, {"x": "a'b\"<", "y": None, "z": '"'})
    result = apply_edits(TEXT, edits)
    assert b'<b x = \'a&apos;b"&lt;\' z="&quot;"/>' in result
    assert find(result, "b").attributes == {"x": "a'b\"<", "z": '"'}
    assert result.replace(b'<b x = \'a&apos;b"&lt;\' z="&quot;"/>', b"<b x = '1>2'  y=\"x='3'\"/>") == TEXT


@given(
    st.dictionaries(
        st.sampled_from(["x", "y", "z", "xy"]),
        st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"])),
        max_size=4,
    )
)
def test_any_text_survives(values: dict[str, str]) -> None:
    valid = {key: value for key, value in values.items() if "\ufffe" not in value and "\uffff" not in value}
    result = apply_edits(TEXT, set_attributes(TEXT, find(TEXT, "b").start, valid))
    assert find(result, "b").attributes == {"x": "1>2", "y": "x='3'"} | valid


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_children_are_on_lines_of_their_own(newline: bytes) -> None:
    content = TEXT.replace(b"\n", newline)
    root = parse(content)
    first = apply_edits(content, insert_children(content, root.start, ["<n/>"]))
    assert newline.join([b"<a>", b"  <n/>", b"  <b "]) in first
    last = apply_edits(content, insert_children(content, root.start, ["<n/>", "<m/>"], last=True))
    assert newline.join([b"</c>", b"  <n/>", b"  <m/>", b"</a>"]) in last
    inner = apply_edits(content, insert_children(content, find(content, "d").start, ["<n/>"]))
    assert [node.tag for node in find(inner, "d").children] == ["n"]
    for result in (first, last):
        assert result.replace(newline + b"  <n/>", b"").replace(newline + b"  <m/>", b"") == content


def test_an_element_is_removed_with_the_space_before_it() -> None:
    assert apply_edits(TEXT, [remove_element(TEXT, find(TEXT, "c").start)]) == TEXT.replace(
        b"\n  <c>\xc3\xa9<d/></c>", b""
    )
    assert apply_edits(TEXT, [remove_element(TEXT, find(TEXT, "d").start)]) == TEXT.replace(b"<d/>", b"")


def test_overlapping_edits_and_other_encodings_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(b"abcdef", [Edit(0, 3, b""), Edit(2, 4, b"")])
    with pytest.raises(RobotFileError, match=r"a\.xml is encoded as UTF-16"):
        check_encoding("<a/>".encode("utf-16"), Path("a.xml"))
    check_encoding(TEXT, Path("a.xml"))

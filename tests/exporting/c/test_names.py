"""Names of robots in C: identifiers are valid and unique, and no text can leave a comment."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ytheta.exporting.c.definitions import MAX_PREFIX_LENGTH, clean_comment, make_constants, make_prefix

HOSTILE = ("*/ int x;", 'a"; system("x"); "', "??/\n*/", "ギター", "int", "7dof", "../../etc/passwd", "", "con", "a\\")
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*[a-z0-9]|[a-z]")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_prefix_is_an_identifier_and_a_file_name(name: str) -> None:
    assert IDENTIFIER.fullmatch(make_prefix(name))


@given(st.text())
def test_any_text_becomes_a_prefix(name: str) -> None:
    prefix = make_prefix(name)
    assert IDENTIFIER.fullmatch(prefix)
    assert len(prefix) <= MAX_PREFIX_LENGTH


def test_readable_names_stay_readable() -> None:
    assert make_prefix("ur10") == "ur10"
    assert make_prefix("KUKA LBR iiwa-14") == "kuka_lbr_iiwa_14"
    assert make_prefix("con") == "robot_con"  # a device on Windows
    assert make_prefix("7dof") == "robot_7dof"
    assert make_prefix("ギター") == "robot"


@given(st.lists(st.text(max_size=5)))
def test_constants_are_unique(names: list[str]) -> None:
    taken = {"P_A"}
    constants = make_constants("p", names, taken)
    assert len({*constants, "P_A"}) == len(names) + 1
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", constant) for constant in constants)
    assert taken == {*constants, "P_A"}


def test_constants_that_would_be_equal_are_numbered() -> None:
    assert make_constants("p", ["a.m", "a m", "a_m"], set()) == ["P_A_M", "P_A_M_2", "P_A_M_3"]


@given(st.text())
def test_no_text_ends_a_comment(text: str) -> None:
    line = clean_comment(text)
    assert line.isascii()
    assert line.isprintable()
    for mark in ("*/", "/*", "??", "\\", "\n"):
        assert mark not in line


@given(st.text(alphabet="*/?\\\n "))
def test_no_text_of_marks_ends_a_comment(text: str) -> None:
    assert not re.search(r"\*/|/\*|\?\?|\\|\n", clean_comment(text))


def test_comments_stay_readable() -> None:
    assert clean_comment("0.5·link2.m in kg m²") == "0.5 link2.m in kg m^2"
    assert clean_comment("load—from 1–2") == "load-from 1-2"
    assert clean_comment("*/ int x; /*") == "* / int x; / *"

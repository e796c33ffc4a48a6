"""TOML documents: depth is measured before parsing, since the parser takes the square of it."""

from __future__ import annotations

import contextlib
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.paths import ROOT
from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import ProcessLimits, run_limited
from ytheta.errors import InputError
from ytheta.files.toml import MAX_DEPTH, parse_toml
from ytheta.robot.reading import catalog

LIMITS = ProcessLimits(memory=2**30, seconds=20.0, processor_seconds=5.0)
DEEP = {
    "dotted key": "a." * 50_000 + "a = 1",
    "quoted key": '"a" . ' * 20_000 + "a = 1",
    "table": "[" + "a." * 50_000 + "a]",
    "key in an inline table": "x = {" + "a." * 50_000 + "a = 1}",
    "lists": "a = " + "[" * 50_000 + "]" * 50_000,
    "inline tables": "a = " + "{a=" * 50_000 + "1" + "}" * 50_000,
    "after a string with five quotes": 'x = ["""a""""", ' + "[" * 50_000,
    "after a string of one line": "x = ['''''', \"\\\"#\", " + "[" * 50_000,
}


def parse(text: str) -> Reply:
    """Called in a child process."""
    parse_toml(text.encode(), "x.toml")
    return Reply()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces all limits")
@pytest.mark.parametrize("kind", DEEP)
def test_deep_documents_are_refused_in_little_time_and_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    with pytest.raises(InputError, match=r"x\.toml: keys, lists or tables are nested too deeply; flatten them"):
        run_limited(__name__, "parse", DEEP[kind], LIMITS)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
@pytest.mark.parametrize(("start", "middle", "end"), [("", "a.", "a=1"), ("a=", "[", "]"), ("a=", "{a=", "1}")])
def test_the_depth_is_exact(start: str, middle: str, end: str, depth: int) -> None:
    count = depth - 1 if middle == "a." else depth
    text = start + middle * count + (end if middle == "a." else "1" * ("=" in middle) + end[-1] * depth)
    if depth > MAX_DEPTH:
        with pytest.raises(InputError, match="nested too deeply"):
            parse_toml(text.encode(), "x.toml")
    else:
        assert parse_toml(text.encode(), "x.toml") == tomllib.loads(text)


def test_signs_in_strings_and_comments_have_no_depth() -> None:
    signs = "[" * 99 + "a." * 99
    text = f"""
a = "{signs} \\" {signs}"  # {signs}
b = '{signs} \\'
c = \"\"\"{signs}" "" {signs}\"\"\"\"\"
d = '''{signs}
' {signs}''''
e = [1.5, 2.5, {{x.y = 1.5}}]  # ' {signs}
"""
    assert parse_toml(text.encode(), "x.toml") == tomllib.loads(text)


def test_files_of_the_catalog_have_no_depth_to_speak_of() -> None:
    for name in catalog.list_names():
        content = Path(catalog.find_path(name)).read_bytes()
        assert parse_toml(content, name) == tomllib.loads(content.decode())


@given(st.text(alphabet="ab\"'\\#[]{}.=, \n1", max_size=60))
def test_other_documents_are_as_tomllib_reads_them(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(InputError, match="not valid TOML"):
            parse_toml(text.encode(), "x.toml")
    else:
        assert parse_toml(text.encode(), "x.toml") == expected


@pytest.mark.parametrize("unit", ['"', "'", "\\", '"""', "'''", " ", "a", ".", "-", '\\"""', "#", "a ", "[]", '"" '])
def test_long_documents_take_little_time(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a megabyte of any sign; the pass over the text is linear."""
    monkeypatch.syspath_prepend(ROOT)
    with contextlib.suppress(InputError):
        run_limited(__name__, "parse", unit * (500_000 // len(unit)), LIMITS)

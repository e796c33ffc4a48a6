"""YAML documents: only their structure is read, in little time, and tags have no effect."""

from __future__ import annotations

import sys

import pytest

from tests.support.paths import ROOT
from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import ProcessLimits, run_limited
from ytheta.errors import InputError
from ytheta.files.yaml import MAX_DEPTH, parse_yaml

LIMITS = ProcessLimits(memory=2**29, seconds=20.0, processor_seconds=5.0)
DEEP = {
    "lists": "a: " + "[" * 20_000,
    "tables": "a: " + "{a: " * 10_000,
    "block lists": "- " * 20_000 + "a",
    "indented tables": "\n".join(" " * k + "a:" for k in range(300)),
}


def parse(text: str) -> Reply:
    """Called in a child process."""
    return Reply(parse_yaml(text.encode(), "x.yaml"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces all limits")
@pytest.mark.parametrize("kind", DEEP)
def test_deep_documents_are_refused_in_little_time(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    with pytest.raises(InputError, match=r"x\.yaml: lists or tables are nested too deeply; flatten them"):
        run_limited(__name__, "parse", DEEP[kind], LIMITS)


def test_the_depth_is_exact() -> None:
    assert parse_yaml(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, "x.yaml")
    with pytest.raises(InputError, match="nested too deeply"):
        parse_yaml(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "x.yaml")


@pytest.mark.parametrize("tag", ["!!timestamp", "!!int", "!!float", "!!bool", "!!null", "!!python/name:os", "!x"])
def test_tags_have_no_effect(tag: str) -> None:
    assert parse_yaml(f"a: {tag} x".encode(), "x.yaml") == {"a": "x"}


@pytest.mark.parametrize("text", ["2001-99-99", "1e999", "0x1F", "yes", "1:2:3", "0b2", ".nan", "9" * 5000])
def test_scalars_are_texts(text: str) -> None:
    assert parse_yaml(f"a: [{text}]".encode(), "x.yaml") == {"a": [text]}

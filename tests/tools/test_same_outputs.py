"""Outputs of two source trees are compared without paths and durations, and every command is covered."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tools.same_outputs import normalize, read_commands, report
from typer.main import get_command

from ytheta.cli.app import make_app


def test_every_command_is_compared() -> None:
    compared = {shlex.split(line)[0] for lines in read_commands() for line in lines}
    assert set(get_command(make_app()).commands) <= compared  # type: ignore[attr-defined]  # a group of commands


def test_paths_and_durations_are_not_compared() -> None:
    search = b'search: 3 random starts, 1 polished, 9.88 s; complete {"seconds": 9.8765432, "first_seconds": 0.1234567}'
    text = b"/tmp/a/x.csv of /tmp/tree/src: 20 s " + search
    expected = (
        b"<folder>/x.csv of <checkout>/src: 20 s search: 3 random starts, 1 polished, <duration>; complete "
        b'{"seconds": <duration>, "first_seconds": <duration>}'
    )
    assert normalize(text, Path("/tmp/a"), Path("/tmp/tree")) == expected
    assert normalize(b'{"seconds": 20.0}', Path("/tmp/a"), Path("/tmp/tree")) == b'{"seconds": 20.0}'


def test_the_first_line_that_differs_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert not report("inspect", b"exit code 0\nsame", b"exit code 0\nsame")
    assert report("base", b"exit code 0\none\ntwo", b"exit code 0\none\nthree")
    assert capsys.readouterr().out.splitlines() == [
        "same, exit code 0: inspect",
        "DIFFERENT: base",
        "    - line 3: two",
        "    + line 3: three",
    ]

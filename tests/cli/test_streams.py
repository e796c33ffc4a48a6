"""Closed streams and pipes: the command goes on quietly, and exits with its own code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.command import process
from tests.support.paths import ROOT

# A command with a bad result: it prints on both streams, then exits with 1.
POOR_RESULT = """
import sys, typer
from ytheta.cli import app, main

def poor():
    for _ in range(2000):
        print("a long table")
        print("a note", file=sys.stderr)
    raise typer.Exit(1)

app.COMMANDS["poor"] = "__main__"
sys.argv = ["ytheta", "poor"]
main()
"""


@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_a_closed_pipe_does_not_change_the_exit_code(closed: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    pipes = {name: write if name in closed else subprocess.PIPE for name in ("stdout", "stderr")}
    result = subprocess.run(
        [sys.executable, "-c", POOR_RESULT], cwd=ROOT, stdout=pipes["stdout"], stderr=pipes["stderr"]
    )
    os.close(write)
    assert result.returncode == 1
    assert "stdout" in closed or result.stdout.count(b"\n") == 2000
    assert "stderr" in closed or result.stderr == b"a note\n" * 2000


@pytest.mark.parametrize(
    ("arguments", "code", "closing"),
    [
        (("robots",), 0, ">&-"),
        (("robots", "--json"), 0, "<&- >&- 2>&-"),
        (("--version",), 0, ">&-"),
        (("inspect", "nope"), 2, ">&-"),
        (("inspect", "nope"), 2, "2>&-"),
    ],
)
def test_a_closed_stream_does_not_change_the_exit_code(arguments: tuple[str, ...], code: int, closing: str) -> None:
    command, environment = process(*arguments)
    script = ["sh", "-c", f'"$@" {closing}', "sh", *command]
    result = subprocess.run(script, env=environment, capture_output=True, text=True)
    assert result.returncode == code
    assert "internal error" not in result.stderr
    assert result.stderr.startswith("error: ") == (code == 2 and "2>&-" not in closing)

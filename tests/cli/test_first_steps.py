"""``ytheta`` alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.command import ytheta
from ytheta.cli.app import COMMANDS, STEPS


def test_no_arguments_say_what_to_type_next() -> None:
    result = ytheta()
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) <= 15  # short, unlike the help
    assert max(len(line) for line in result.stdout.splitlines()) <= 120
    for command, purpose in STEPS:
        assert f"  {command} " in result.stdout
        assert purpose in result.stdout
    assert result.stdout != ytheta("--help").stdout


@pytest.mark.parametrize("line", [line for line, _ in STEPS])
def test_every_step_is_a_command_that_exists(line: str) -> None:
    program, command, *arguments = shlex.split(line)
    assert program == "ytheta"
    assert command in COMMANDS
    shown = ytheta(command, "--help").stdout
    assert {word for word in arguments if word.startswith("-") and word not in shown} == set()


@pytest.mark.parametrize("line", [line for line, _ in STEPS if line.split()[1] in ("robots", "inspect", "base")])
def test_the_first_steps_need_no_files(line: str, tmp_path: Path) -> None:
    assert ytheta(*line.split()[1:], cwd=tmp_path).returncode == 0

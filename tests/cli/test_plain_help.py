"""The help of every command shows flags as flags, and no types of Python."""

from __future__ import annotations

import re

import pytest
import typer

from tests.support.command import ytheta
from ytheta.cli.app import COMMANDS, make_app

PYTHON_TYPE = re.compile(r"<(?:bool|str|int|float|list\[.*?\])>")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_type_of_python_is_shown(command: str) -> None:
    assert PYTHON_TYPE.search(ytheta(command, "--help").stdout) is None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_flag_takes_no_value_and_other_options_show_theirs(command: str) -> None:
    shown = ytheta(command, "--help").stdout
    parameters = typer.main.get_command(make_app()).commands[command].params  # type: ignore[attr-defined]
    options = [parameter for parameter in parameters if parameter.opts[0].startswith("-")]
    assert options
    for option in options:
        (value,) = re.findall(rf"^ +(?:-\w, )?{option.opts[0]}(?: / \S+)?((?: [^ ]+)?)(?:  |$)", shown, re.MULTILINE)
        assert bool(value.strip()) != option.is_flag, option.opts


def test_types_would_be_noticed() -> None:
    """Typer's own help shows the types of arguments; if this fails, PlainCommand is no longer needed."""
    plain = typer.Typer(rich_markup_mode=None)

    @plain.command()
    def inspect(robot: str) -> None:
        """Show a robot."""

    from typer.testing import CliRunner

    assert PYTHON_TYPE.search(CliRunner().invoke(plain, ["--help"]).stdout) is not None

"""The Typer application with all commands.

Command modules import only light modules, and the libraries of a command when it runs: help, the version and wrong
usage load neither NumPy nor Polars nor CasADi.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from inspect import cleandoc
from typing import Annotated

import typer

from ytheta.cli.base import base
from ytheta.cli.excite import excite
from ytheta.cli.identify import identify
from ytheta.cli.inspect import inspect
from ytheta.cli.interrupts import INTERRUPTED
from ytheta.cli.logs.check import check
from ytheta.cli.models.compare import compare
from ytheta.cli.models.export import export
from ytheta.cli.models.payload import payload
from ytheta.cli.models.view import view
from ytheta.cli.predict import predict
from ytheta.cli.reproduce import reproduce
from ytheta.cli.robots import robots
from ytheta.cli.shell.bench import bench
from ytheta.cli.shell.first_steps import format_first_steps
from ytheta.cli.shell.plain_help import PlainCommand
from ytheta.cli.shell.versions import format_versions
from ytheta.cli.simulate import simulate
from ytheta.errors import InputError
from ytheta.files.overwriting import record_command_files

_FUNCTIONS = (
    *(robots, inspect, base, excite, simulate, check, identify, predict, payload, compare, export, view, reproduce),
    bench,
)
COMMANDS = {command.__name__: command for command in _FUNCTIONS}
HELP_WIDTH = 120  # characters per line of help, at most
COMPLETION_VARIABLE = "_YTHETA_COMPLETE"  # set by the script of a shell that asks for completions
COMPLETION_OPTIONS = ("--install-completion", "--show-completion")
# The beginnings of Typer's sentences about values that are not numbers, and what is printed instead.
NUMBER_SENTENCES = {
    "Input should be a valid number": "this is not a number",
    "Input should be a valid integer": "this is not a whole number",
}

app = typer.Typer(
    name="ytheta",
    help="Dynamic models of robot arms, from description and measured motion: τ = Y(q, q̇, q̈) θ.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: importing Rich would double the time of --help
    context_settings={"max_content_width": HELP_WIDTH, "help_option_names": ["--help", "-h"]},
)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code; raise InputError for wrong usage."""
    if not arguments and COMPLETION_VARIABLE not in os.environ:
        typer.echo(format_first_steps())
        return 0
    try:
        # In this mode, Typer returns the code of typer.Exit, and does not print errors itself.
        with record_command_files():
            code = app(list(arguments), prog_name="ytheta", standalone_mode=False)
    except typer.TyperException as error:
        place = " ".join(["ytheta", *(name for name in arguments[:1] if name in COMMANDS)])
        message = _reword(error.format_message())
        raise InputError(message if message.endswith("?") else f"{message}; see {place} --help") from None
    if code == 1 and not set(arguments).isdisjoint(COMPLETION_OPTIONS):
        raise InputError(
            "the shell of this terminal is not one of bash, zsh, fish and PowerShell; run the command in one of them"
        )
    if code == INTERRUPTED:  # Typer's exit code after Ctrl-C, too
        raise KeyboardInterrupt
    return code or 0


def _reword(message: str) -> str:
    """Return a message about wrong usage as one sentence without a full stop, about numbers in plain words."""
    for sentence, plain in NUMBER_SENTENCES.items():
        before, found, _ = message.partition(sentence)
        message = f"{before}{plain}" if found else message
    return message.rstrip(".").replace(". Did you mean ", "; did you mean ")


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(format_versions())
        raise typer.Exit
    return wanted


@app.callback()
def _configure_logging(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the versions of ytheta, Python and libraries.",
        ),
    ] = False,
) -> None:
    # The commands print findings themselves; log messages are for users of the library.
    logging.getLogger("ytheta").addHandler(logging.NullHandler())


def _make_help(docstring: str) -> str:
    """Return a docstring as plain text; the line of the example is not wrapped, so that it can be copied."""
    return cleandoc(docstring).replace("`", "").replace("\nExample:", "\n\b\nExample:")


for _command in COMMANDS.values():
    _help = _make_help(_command.__doc__ or "")
    app.command(cls=PlainCommand, help=_help, short_help=_help.splitlines()[0])(_command)

"""The Typer application with all commands."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Annotated, cast

import typer

import ytheta
from ytheta.cli.base import base
from ytheta.cli.identify import identify
from ytheta.cli.inspect import inspect
from ytheta.cli.predict import predict
from ytheta.cli.robots import robots
from ytheta.cli.simulate import simulate
from ytheta.errors import InputError

app = typer.Typer(
    name="ytheta",
    help="Dynamic models of robot arms, from description and measured motion: τ = Y(q, q̇, q̈) θ.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

# The base class of usage errors, which Typer does not export.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code. Typer's own ``main`` is not used: it returns 1 for a closed pipe."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("ytheta", list(arguments) or ["--help"]) as context:
            command.invoke(context)
    except typer.Exit as exit_request:
        return exit_request.exit_code
    except _UsageError as error:
        place = "ytheta" if error.ctx is None else error.ctx.command_path
        raise InputError(f"{error.format_message().rstrip('.')}; see {place} --help") from None
    return 0


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(ytheta.__version__)
        raise typer.Exit
    return wanted


@app.callback()
def _configure_logging(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    # The commands print findings themselves; log messages are for users of the library.
    logging.getLogger("ytheta").addHandler(logging.NullHandler())


app.command()(robots)
app.command()(inspect)
app.command()(base)
app.command()(simulate)
app.command()(identify)
app.command()(predict)

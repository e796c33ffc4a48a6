"""All commands in one place."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

import ytheta
from ytheta.cli.inspect import inspect
from ytheta.cli.robots import robots

app = typer.Typer(
    name="ytheta",
    help="A robot arm's dynamic model, made knowable: τ = Y(q, q̇, q̈) θ.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(ytheta.__version__)
        raise typer.Exit
    return wanted


@app.callback()
def _start(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    # The commands print a robot's notes themselves; the log is for those who call ytheta from Python.
    logging.getLogger("ytheta").addHandler(logging.NullHandler())


app.command()(robots)
app.command()(inspect)

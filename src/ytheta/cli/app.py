"""The Typer application with all commands.

Command modules import only light modules, and the libraries of a command when it runs: help, the version and wrong
usage load neither NumPy nor Polars nor CasADi. A command line that begins with a command loads only its module.
"""

from __future__ import annotations

import logging
import os
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import ytheta
from ytheta.cli.interrupts import INTERRUPTED
from ytheta.engine.memory import find_address_limit
from ytheta.errors import InputError
from ytheta.files.atomic import record_command_files

# The commands in the order of the help, each with the module whose function of the same name it is.
COMMANDS = {
    name: f"ytheta.cli.{name}"
    for name in (
        *("robots", "inspect", "base", "excite", "simulate", "check", "identify", "predict", "payload", "compare"),
        *("export", "view", "reproduce", "bench"),
    )
}
LIGHT_COMMANDS = ("robots", "inspect", "base")  # which load neither Polars nor CasADi for most robots
# Bytes of addresses that the libraries of the other commands reserve, most of which they never use.
# Chosen on: identify with the log of a UR10: 1.44 GB with 2 threads of Polars, 1.66 GB with 16; and some spare.
MIN_ADDRESSES, ADDRESSES_PER_CORE = 1_600_000_000, 20_000_000
HELP_WIDTH = 120  # characters per line of help, at most
COMPLETION_VARIABLE = "_YTHETA_COMPLETE"  # set by the script of a shell that asks for completions
COMPLETION_OPTIONS = ("--install-completion", "--show-completion")
# The beginnings of Typer's sentences about values that are not numbers, and what is printed instead.
NUMBER_SENTENCES = {
    "Input should be a valid number": "this is not a number",
    "Input should be a valid integer": "this is not a whole number",
}


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code; raise InputError for wrong usage."""
    if not arguments and COMPLETION_VARIABLE not in os.environ:
        typer.echo(format_first_steps())
        return 0
    named = [name for name in arguments[:1] if name in COMMANDS]
    try:
        # In this mode, Typer returns the code of typer.Exit, and does not print errors itself.
        with record_command_files():
            code = make_app(named or COMMANDS)(list(arguments), prog_name="ytheta", standalone_mode=False)
    except typer.TyperException as error:
        place = " ".join(["ytheta", *named])
        message = _reword(error.format_message())
        raise InputError(message if message.endswith("?") else f"{message}; see {place} --help") from None
    if code == 1 and not set(arguments).isdisjoint(COMPLETION_OPTIONS):
        raise InputError(
            "the shell of this terminal is not one of bash, zsh, fish and PowerShell; run the command in one of them"
        )
    if code == INTERRUPTED:  # Typer's exit code after Ctrl-C, too
        raise KeyboardInterrupt
    return code or 0


def make_app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the application with these commands."""
    app = typer.Typer(
        name="ytheta",
        help="Dynamic models of robot arms, from description and measured motion: τ = Y(q, q̇, q̈) θ.",
        callback=_configure_logging,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain text: importing Rich would double the time of --help
        context_settings={"max_content_width": HELP_WIDTH, "help_option_names": ["--help", "-h"]},
    )
    for name in commands:
        command = getattr(import_module(COMMANDS[name]), name)
        text = _make_help(command.__doc__ or "")
        app.command(cls=PlainCommand, help=text, short_help=text.partition("\n")[0])(command)
    return app


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


# Help without the types of Python: an argument is shown as ``ROBOT``, not as ``ROBOT <str>``.


_PYTHON_TYPE = re.compile(r" <[^>]*>$")


class PlainFormatter(typer.Context.formatter_class):  # type: ignore[valid-type, misc]  # the only public name of the class
    """Typer's formatter, which leaves out types."""

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of names and explanations."""
        super().write_dl([(_PYTHON_TYPE.sub("", name), text) for name, text in rows], col_max, col_spacing)


class PlainContext(typer.Context):
    """Typer's context with the formatter above."""

    formatter_class = PlainFormatter


class PlainCommand(TyperCommand):
    """Typer's command with the context above, which runs only if its libraries have the memory that they need."""

    context_class = PlainContext

    def invoke(self, ctx: Any) -> Any:
        if self.name not in LIGHT_COMMANDS:
            _check_address_limit()
        return super().invoke(ctx)


def _check_address_limit() -> None:
    """Raise InputError if libraries may abort or wait for ever while they are loaded, as Polars does."""
    limit, needed = find_address_limit(), MIN_ADDRESSES + ADDRESSES_PER_CORE * (os.cpu_count() or 1)
    if limit is not None and limit < needed:
        raise InputError(
            f"the memory is not enough: this process may use {limit / 1e9:.3g} GB (ulimit -v), but its libraries "
            f"reserve {needed / 1e9:.3g} GB; raise this limit"
        )


# What ``ytheta`` without arguments prints: the next thing to type.


# Command lines in the order of the work, with what each does; the names of files are those that a user would have.
STEPS = (
    ("ytheta robots", "the robots that come with ytheta"),
    ("ytheta inspect ur10", "one of them, or your own .urdf, .xacro, .xml, .sdf or .toml file"),
    ("ytheta base ur10", "the parameters that can be identified"),
    ("ytheta excite ur10 -o motion.csv", "a motion to measure"),
    ("ytheta identify ur10 log.csv -o ur10.model.toml", "the model, from what was measured"),
    ("ytheta export ur10.model.toml --to c -o ur10_c", "the model as C code, URDF, MJCF …"),
)


def format_first_steps() -> str:
    """Return a few lines: what ytheta is, the commands to begin with, and where to read on."""
    width = max(len(command) for command, _ in STEPS)
    lines = [f"  {command:<{width}}   {purpose}" for command, purpose in STEPS]
    return "\n".join(
        [
            f"ytheta {ytheta.__version__} identifies the dynamic model of a robot arm from description and motion.",
            "",
            "To begin, type:",
            *lines,
            "",
            "ytheta --help lists all commands, ytheta COMMAND --help explains one and gives an example.",
            "ytheta --install-completion completes commands, options and names with the Tab key.",
        ]
    )


# The versions that a bug report needs, from the metadata of the installed packages: none of them is imported.


# Libraries that decide about results, by the names of their packages.
LIBRARIES = {"NumPy": "numpy", "SciPy": "scipy", "CasADi": "casadi", "llvmlite": "llvmlite", "Polars": "polars"}
# Libraries of extras: the name of the package, and the extra that installs it.
OPTIONAL_LIBRARIES = {
    "MuJoCo": ("mujoco", "mujoco"),
    "Plotly": ("plotly", "report"),
    "rosbags": ("rosbags", "rosbags"),
    "h5py": ("h5py", "hdf5"),
    "Dask": ("distributed", "dask"),
    "trimesh": ("trimesh", "collision"),
    "xacrodoc": ("xacrodoc", "xacro"),
    "viser": ("viser", "view"),
}


def format_versions() -> str:
    """Return one line for each version; the first line is that of ytheta."""
    return "\n".join(f"{name:<10}{value}" for name, value in _list_versions())


def _list_versions() -> Iterator[tuple[str, str]]:
    yield "ytheta", ytheta.__version__
    yield "Python", f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    for name, package in LIBRARIES.items():
        yield name, _find_version(package) or "not installed"
    for name, (package, extra) in OPTIONAL_LIBRARIES.items():
        yield name, _find_version(package) or f"not installed; pip install 'ytheta[{extra}]'"


def _find_version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None

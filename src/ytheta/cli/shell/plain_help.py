"""Help without the types of Python: an argument is shown as ``ROBOT``, not as ``ROBOT <str>``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import typer
from typer.core import TyperCommand

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
    """Typer's command with the context above."""

    context_class = PlainContext

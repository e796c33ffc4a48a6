"""Output files of commands, checked before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ytheta.conventions import PAGE_SUFFIXES as PAGE_SUFFIXES

if TYPE_CHECKING:
    from ytheta.files.atomic import FileKind

Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files, even if ytheta did not write them.")]


def check_output(
    path: str | None,
    suffixes: Sequence[str],
    inputs: Sequence[str | None],
    *,
    force: bool,
    kind: FileKind | None = None,
) -> None:
    """Raise InputError if the output file cannot be written, is an input, or exists and was not written by ytheta.

    With ``kind``, a ``FileKind``, a file of another kind is not overwritten either.
    """
    if path is None:
        return
    from pathlib import Path

    from ytheta.errors import InputError
    from ytheta.files.atomic import check_writable, declare_output, is_own_file, refuse_to_overwrite

    check_writable(path, *suffixes)
    refuse_to_overwrite(path, inputs)
    declare_output(path)
    if not force and Path(path).exists() and not is_own_file(Path(path), kind):
        _refuse_missing_files(inputs)
        if is_own_file(Path(path)):
            raise InputError(f"{path} exists, and it is not a {kind}; choose another name, or use --force")
        raise InputError(
            f"{path} exists, and it is not known that ytheta wrote it; choose another name, or use --force"
        )


def _refuse_missing_files(inputs: Sequence[str | None]) -> None:
    """Raise InputError if an input does not exist, which is the more likely mistake; robots may be catalog names."""
    from pathlib import Path

    from ytheta.errors import InputError

    for path in inputs:
        if path is not None and Path(path).suffix and not Path(path).exists():
            raise InputError(f"{path} does not exist; check the path")


def check_report(report: str | None) -> None:
    """Raise MissingExtraError if a report is requested and a library that writes it is missing."""
    if report is not None:
        from ytheta.report.html_page import check_installed

        check_installed()

"""Output files of commands, checked before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ytheta.errors import InputError

PAGE_SUFFIXES = (".html", ".htm")


def check_output(path: str | None, suffixes: Sequence[str], inputs: Sequence[str | None]) -> None:
    """Raise InputError if the output file cannot be written, or if it is one of the inputs."""
    if path is None:
        return
    from ytheta.files.atomic import check_writable

    check_writable(path, *suffixes)
    for source in inputs:
        if source is not None and Path(source).exists() and Path(path).exists() and Path(path).samefile(source):
            raise InputError(f"{path} is an input of this command and would be overwritten; choose another name")


def check_report(report: str | None) -> None:
    """Raise MissingExtraError if a report is requested and a library that writes it is missing."""
    if report is not None:
        from ytheta.report.html_page import check_installed

        check_installed()

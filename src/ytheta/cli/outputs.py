"""Output files of commands, checked before the work begins."""

from __future__ import annotations

from collections.abc import Sequence

from ytheta.conventions import PAGE_SUFFIXES as PAGE_SUFFIXES


def check_output(path: str | None, suffixes: Sequence[str], inputs: Sequence[str | None]) -> None:
    """Raise InputError if the output file cannot be written, or if it is one of the inputs."""
    if path is None:
        return
    from ytheta.files.atomic import check_writable, refuse_to_overwrite

    check_writable(path, *suffixes)
    refuse_to_overwrite(path, inputs)


def check_report(report: str | None) -> None:
    """Raise MissingExtraError if a report is requested and a library that writes it is missing."""
    if report is not None:
        from ytheta.report.html_page import check_installed

        check_installed()

"""Output files of commands, checked before the work begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from ytheta.errors import InputError, MissingExtraError

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


def load_report_writer(report: str | None, module: str, name: str) -> Callable[..., object] | None:
    """Return the function that writes the report, or None if no report is requested.

    Raise MissingExtraError if a required library is missing.
    """
    if report is None:
        return None
    try:
        writer: Callable[..., object] = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ytheta"):
            raise
        raise MissingExtraError(
            f"--report needs {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None
    return writer

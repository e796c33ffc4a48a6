"""What commands write: looked at before the work begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from ytheta.errors import InputError, MissingExtraError
from ytheta.files.atomic import check_writable

PAGES = (".html", ".htm")


def check_output(path: str | None, endings: Sequence[str], inputs: Sequence[str | None]) -> None:
    """Refuse a name that cannot be written, or that this command reads."""
    if path is None:
        return
    check_writable(path, *endings)
    for given in inputs:
        if given is not None and Path(given).exists() and Path(path).exists() and Path(path).samefile(given):
            raise InputError(f"{path} is read by this command and would be overwritten; choose another name")


def report_writer(report: str | None, place: str, name: str) -> Callable[..., object] | None:
    """What writes reports, if one is wanted; InputError where libraries for it are missing."""
    if report is None:
        return None
    try:
        writer: Callable[..., object] = getattr(import_module(place), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ytheta"):
            raise
        raise MissingExtraError(
            f"--report needs {error.name}, which is not installed; install it with: pip install 'ytheta[report]'"
        ) from None
    return writer

"""Paths that are arguments of public functions."""

from __future__ import annotations

from pathlib import Path

from ytheta.errors import InputError


def check_path(path: object, thing: str) -> Path:
    """Return a string or a Path as a Path. Raise InputError for other values; ``thing`` is what the file contains."""
    if not isinstance(path, str | Path):
        shown = "None" if path is None else f"a value of type {type(path).__name__}"
        raise InputError(f"the path of {thing} is {shown}; give the name of a file, as a string or a Path")
    if path == "":
        raise InputError(f"the path of {thing} is empty; give the name of a file")
    return Path(path)

"""Fingerprints of values and of source files: SHA-256 of everything that could change a result computed from them.

A value is a frozen dataclass, a number, a text, an array or a collection of these. Dataclasses are walked by their
fields, so a new field is part of the fingerprint from the day it is declared. A field with ``compare=False`` is not
part of the value and is left out. Floats are compared bit by bit: 0.0 and -0.0 have different fingerprints.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_IMPORT_TIME = time.time()


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value; TypeError if it contains an object of a kind that is not known here."""
    return hashlib.sha256("\n".join(_encode(value)).encode()).hexdigest()


def _encode(value: Any) -> Iterator[str]:
    """Yield a text for every part of a value. Each text states its kind; texts and collections also their length."""
    if isinstance(value, Enum):  # before str, because some enumerations are texts
        yield f"enum {type(value).__qualname__}"
        yield from _encode(value.value)
    elif value is None or isinstance(value, bool | int):
        yield repr(value)
    elif isinstance(value, float):
        yield float.hex(value)
    elif isinstance(value, str):
        yield f"text {len(value)} {value}"
    elif is_dataclass(value) and not isinstance(value, type):
        compared = [field.name for field in fields(value) if field.compare]
        yield f"{type(value).__module__}.{type(value).__qualname__} {len(compared)}"
        for name in compared:
            yield name
            yield from _encode(getattr(value, name))
    elif isinstance(value, np.ndarray):
        yield f"array {value.shape} {value.dtype.str}"
        yield from _encode(value.tolist() if value.dtype.hasobject else value.tobytes().hex())
    elif isinstance(value, Mapping):
        yield from _encode(tuple(value.items()))
    elif isinstance(value, Collection) and not isinstance(value, bytes | bytearray | memoryview):
        yield f"collection {len(value)}"
        for part in value:
            yield from _encode(part)
    else:
        raise TypeError(f"{type(value).__name__} has no fingerprint: it is neither a dataclass nor plain data")


@cache
def fingerprint_sources(*names: str) -> str | None:
    """Return the fingerprint of all Python files below these files and folders of ytheta, given relative to it.

    Return None if it is unknown which sources this process runs: a file was changed after this process was started, or
    ytheta is installed without sources.
    """
    digest, newest = hashlib.sha256(), 0.0
    try:
        paths = [path for name in names for path in _list_sources(os.path.join(PACKAGE, name))]
        for path in paths:
            with open(path, "rb") as file:
                newest = max(newest, os.fstat(file.fileno()).st_mtime)
                content = file.read()
            digest.update(f"{os.path.relpath(path, PACKAGE)} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return digest.hexdigest() if paths and newest < _IMPORT_TIME else None


def _list_sources(path: str) -> list[str]:
    """List the Python files of a folder. ``os.walk`` takes a fraction of the time of ``Path.rglob``."""
    if os.path.isfile(path):
        return [path]
    found = (os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files)
    return sorted(file for file in found if file.endswith(".py"))

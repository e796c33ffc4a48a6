"""Fingerprints of values and of source files: SHA-256 of everything that could change a result computed from them.

A value is a frozen dataclass, a number, a text, an array or a collection of these. Dataclasses are walked by their
fields, so a new field is part of the fingerprint from the day it is declared. A field with ``compare=False`` is not
part of the value and is left out. Floats are compared bit by bit: 0.0 and -0.0 have different fingerprints.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_IMPORT_TIME = time.time()


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value; TypeError if it contains an object of a kind that is not known here."""
    texts: list[str] = []
    _encode(value, texts)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _encode(value: Any, texts: list[str]) -> None:
    """Append a text for every part of a value. Each text states its kind; texts and collections also their length."""
    if isinstance(value, float):
        texts.append(float.hex(value))
    elif isinstance(value, Enum):  # before str, because some enumerations are texts
        texts.append(f"enum {type(value).__qualname__}")
        _encode(value.value, texts)
    elif isinstance(value, str):
        texts.append(f"text {len(value)} {value}")
    elif value is None or isinstance(value, bool | int):
        texts.append(repr(value))
    elif is_dataclass(value) and not isinstance(value, type):
        compared = [field.name for field in fields(value) if field.compare]
        texts.append(f"{type(value).__module__}.{type(value).__qualname__} {len(compared)}")
        for name in compared:
            texts.append(name)
            _encode(getattr(value, name), texts)
    elif isinstance(value, np.ndarray):
        texts.append(f"array {value.shape} {value.dtype.str}")
        _encode(value.tolist() if value.dtype.hasobject else value.tobytes().hex(), texts)
    elif isinstance(value, Mapping):
        _encode(tuple(value.items()), texts)
    elif isinstance(value, Collection) and not isinstance(value, bytes | bytearray | memoryview):
        texts.append(f"collection {len(value)}")
        for part in value:
            _encode(part, texts)
    else:
        raise TypeError(f"{type(value).__name__} has no fingerprint: it is neither a dataclass nor plain data")


def fingerprint_sources(*names: str) -> str | None:
    """Return the fingerprint of all Python files below these files and folders of ytheta, given relative to it.

    Return None if it is unknown which sources this process runs: a file was changed after this process was started, or
    ytheta is installed without sources.
    """
    parts = [_fingerprint_folder(name) for name in names]
    return None if None in parts else fingerprint((names, parts))


@cache
def _fingerprint_folder(name: str) -> str | None:
    digest, newest = hashlib.sha256(), 0.0
    try:
        paths = _list_sources(os.path.join(PACKAGE, name))
        for path in paths:
            with open(path, "rb") as file:
                newest = max(newest, os.fstat(file.fileno()).st_mtime)
                content = file.read()
            digest.update(f"{path[len(PACKAGE) :]} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return digest.hexdigest() if paths and newest < _IMPORT_TIME else None


def _list_sources(path: str) -> list[str]:
    """List the Python files of a folder. ``os.walk`` takes a fraction of the time of ``Path.rglob``."""
    if os.path.isfile(path):
        return [path]
    found = (os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files)
    return sorted(file for file in found if file.endswith(".py"))

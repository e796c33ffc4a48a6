"""Fingerprints of values and of source files: SHA-256 of everything that could change a result computed from them.

A value is a frozen dataclass, a number, a text, an array or a collection of these. Dataclasses are walked by their
fields, so a new field is part of the fingerprint from the day it is declared. A field with ``compare=False`` is not
part of the value and is left out. Floats are compared bit by bit: 0.0 and -0.0 have different fingerprints.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np

import ytheta

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TIME_RESOLUTION = 1.0  # s; file systems round times, some of them to seconds


class NoFingerprintError(TypeError):
    """A value contains an object of a kind that is not known here."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value; NoFingerprintError if it contains an object of an unknown kind."""
    texts: list[str] = []
    _encode(value, texts)
    # Names in files may contain bytes that are not UTF-8, which Python keeps as surrogates.
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _encode(value: Any, texts: list[str]) -> None:
    """Append a text for every part of a value. Each text states its kind; texts and collections also their length."""
    if isinstance(value, np.generic):  # before float, because a double of NumPy is a float
        texts.append(f"scalar {value.dtype.str}")
        _encode(value.item(), texts)
    elif isinstance(value, float):
        texts.append(float.hex(value))
    elif isinstance(value, Fraction):
        texts.append(f"fraction {value.numerator} {value.denominator}")
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
        raise NoFingerprintError(f"{type(value).__name__} has no fingerprint: it is neither a dataclass nor plain data")


def fingerprint_sources(*names: str) -> str | None:
    """Return the fingerprint of all Python files below these files and folders of ytheta, given relative to it.

    Return None if it is unknown which sources this process runs: a file was changed after ytheta was imported, or
    ytheta is installed without sources. Each call looks at the files again, since modules may be imported later.
    """
    states = [_list_states(name) for name in names]
    for files in states:
        if not files or max(newest for *_, newest in files) >= ytheta.IMPORT_TIME - TIME_RESOLUTION:
            return None
    try:
        return fingerprint((names, [_hash_files(files) for files in states]))
    except OSError:
        return None


def _list_states(name: str) -> tuple[tuple[str, int, float], ...]:
    """Return path, size and time of the last change of each file; nothing if a file has disappeared.

    The time of change of the inode counts too, because a copy can keep the time of modification of another file.
    """
    try:
        return tuple(
            (path, state.st_size, max(state.st_mtime, state.st_ctime))
            for path in _list_sources(os.path.join(PACKAGE, name))
            for state in (os.stat(path),)
        )
    except OSError:
        return ()


@lru_cache(maxsize=64)
def _hash_files(states: tuple[tuple[str, int, float], ...]) -> str:
    """Return a hash of the contents of files; the states make sure that a file which has changed is read again."""
    digest = hashlib.sha256()
    for path, *_ in states:
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{path[len(PACKAGE) :]} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@cache
def _list_sources(path: str) -> tuple[str, ...]:
    """List the Python files of a folder. ``os.walk`` takes a fraction of the time of ``Path.rglob``."""
    if os.path.isfile(path):
        return (path,)
    found = (os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files)
    return tuple(sorted(file for file in found if file.endswith(".py")))

"""The files of a command: nothing that it reads may be overwritten by what it writes.

A command declares its outputs before its work begins. From then on every reader reports the files that it opens:
robots and what they extend or include, meshes, logs and mappings. If one of them is an output, an error ends the
command before anything is written. Without a command, such as in a program that uses the library, nothing is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from ytheta.errors import InputError

FileIdentity = tuple[int, int]  # device and number of a file, which all of its names and links have in common


@dataclass
class _CommandFiles:
    inputs: set[FileIdentity] = field(default_factory=set)
    outputs: set[FileIdentity] = field(default_factory=set)


_command_files: ContextVar[_CommandFiles | None] = ContextVar("command_files", default=None)


@contextmanager
def record_command_files() -> Iterator[None]:
    """Record the files of one command, from the beginning to the end of the ``with`` block."""
    token = _command_files.set(_CommandFiles())
    try:
        yield
    finally:
        _command_files.reset(token)


def report_input(path: str | Path) -> None:
    """Report that a file is read. Raise InputError if the command is going to overwrite it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.outputs:
        raise _make_error(path)
    files.inputs.add(identity)


def declare_output(path: str | Path) -> None:
    """Declare that a file will be written. Raise InputError if the command has already read it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.inputs:
        raise _make_error(path)
    files.outputs.add(identity)


def _identify(path: str | Path) -> FileIdentity | None:
    """Return the identity of an existing file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # it does not exist, or its name contains a null character
        return None
    return status.st_dev, status.st_ino


def _make_error(path: str | Path) -> InputError:
    return InputError(f"{path} is one of the inputs and would be overwritten; choose another name")

"""Functions for child processes: one that answers, and others that end in every way that cannot be caught."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import IO


def answer(request: list[str], stream: IO[bytes]) -> None:
    sys.stdout.write("not a part of the answer\n")
    sys.stdout.flush()
    os.write(1, b"nor is this")
    stream.write("+".join(request).encode() + b"\n")


def tell_pid(_request: object, stream: IO[bytes]) -> None:
    """Answer at once, then go on."""
    stream.write(f"{os.getpid()}\n".encode())
    stream.flush()
    time.sleep(600.0)


def tell_modules(request: str, stream: IO[bytes]) -> None:
    """Say whether a module can be imported."""
    try:
        __import__(request)
    except ModuleNotFoundError:
        stream.write(b"missing\n")
    else:
        stream.write(b"found\n")


def abort(_request: object, _stream: IO[bytes]) -> None:
    os.abort()


def crash(_request: object, _stream: IO[bytes]) -> None:
    ctypes.string_at(0)


def fill_memory(_request: object, _stream: IO[bytes]) -> None:
    pieces = []
    while True:
        pieces.append(bytearray(2**24))


def loop(_request: object, _stream: IO[bytes]) -> None:
    while True:
        pass


def leave(_request: object, _stream: IO[bytes]) -> None:
    sys.exit("unexpected")

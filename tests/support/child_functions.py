"""Functions for child processes: some that answer, and others that end in every way that cannot be caught."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Any

from ytheta import errors
from ytheta.engine.child_process import Reply

asked: list[str] = []  # kept between requests


class ForeignInputError(errors.InputError):
    """An error that the parent does not know."""


def join(request: list[str]) -> Reply:
    """Print, then answer with a text."""
    sys.stdout.write("not a part of the answer\n")
    sys.stdout.flush()
    os.write(1, b"nor is this")
    return Reply("+".join(request))


def repeat(request: dict[str, int]) -> Reply:
    """Answer with blocks of these sizes."""
    return Reply(list(request), [bytes([k % 256]) * size for k, size in enumerate(request.values())])


def remember(request: str) -> Reply:
    """Answer with all requests so far."""
    asked.append(request)
    return Reply(asked)


def read_input(_request: object) -> Reply:
    """Answer with what libraries find on the standard input."""
    return Reply(sys.stdin.read())


def tell_pid(_request: object) -> Reply:
    return Reply(os.getpid())


def tell_limits(_request: object) -> Reply:
    import resource

    return Reply([resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)])


def write_file(request: dict[str, Any]) -> Reply:
    """Write a file of this size."""
    try:
        with open(request["path"], "wb") as file:
            file.truncate(request["size"])
    except OSError as error:
        return Reply(type(error).__name__)
    return Reply("written")


def tell_module(request: str) -> Reply:
    """Answer whether a module can be imported."""
    try:
        __import__(request)
    except ModuleNotFoundError:
        return Reply("missing")
    return Reply("found")


def refuse(request: str) -> Reply:
    """Raise the error of this name."""
    raise getattr(errors, request, ForeignInputError)(f"{request} was raised")


def work(request: float) -> Reply:
    """Use this much processor time."""
    end = time.process_time() + request
    while time.process_time() < end:
        pass
    return Reply()


def wait(request: float) -> Reply:
    """Use time, but hardly any processor time."""
    time.sleep(request)
    return Reply()


def fill_memory(request: int) -> Reply:
    """Allocate this many bytes, and answer with the number."""
    return Reply(sum(len(piece) for piece in [bytearray(2**24) for _ in range(request // 2**24)]))


def abort(_request: object) -> Reply:
    os.abort()


def crash(_request: object) -> Reply:
    ctypes.string_at(0)
    return Reply()


def leave(_request: object) -> Reply:
    sys.exit("unexpected")


def fail(_request: object) -> Reply:
    raise ZeroDivisionError


def start_and_work(request: str) -> Reply:
    """Write the number of this process to a file, and go on working."""
    with open(request, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    return work(600.0)


def attempt(request: dict[str, str]) -> Reply:
    """Try what no reader of a file needs, and answer with what has failed and how."""
    import socket
    import subprocess

    attempts: dict[str, Any] = {
        "read": Path(request["readable"]).read_text,
        "read elsewhere": Path(request["other"]).read_text,
        "list home": lambda: os.listdir(request["home"]),
        "write": lambda: Path(request["readable"]).write_text("text"),
        "create": lambda: Path(request["readable"] + ".new").write_text("text"),
        "truncate": lambda: os.truncate(request["readable"], 0),
        "remove": lambda: os.unlink(request["readable"]),
        "connect": lambda: socket.create_connection(("127.0.0.1", int(request["port"])), timeout=5.0),
        "connect locally": lambda: socket.socket(socket.AF_UNIX),
        "start a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "start a process": lambda: os.fork() or os._exit(0),
        "send a signal": lambda: os.kill(int(request["pid"]), 0),
    }
    failed: dict[str, str] = {}
    for name, act in attempts.items():
        try:
            act()
        except OSError as error:
            failed[name] = type(error).__name__
    return Reply([list(attempts), failed])

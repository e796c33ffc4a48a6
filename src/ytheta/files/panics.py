"""Panics of Polars: errors of its own code, on damaged files, that are not exceptions of Python.

A panic is a BaseException, so that no handler of errors sees it, and before it is raised, Polars writes lines about its
source code to the standard error stream.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_lock = threading.Lock()
_silenced = 0  # threads that read at this moment
_original = -1  # the standard error stream, while it is silenced


@contextmanager
def catch_panics() -> Iterator[None]:
    """Turn a panic within the ``with`` block into a ComputeError of Polars, and let Polars write nothing about it."""
    import polars as pl

    _silence()
    try:
        yield
    except pl.exceptions.PanicException as panic:
        raise pl.exceptions.ComputeError(str(panic) or "the parser failed") from None
    finally:
        _restore()


def _silence() -> None:
    global _original, _silenced
    with _lock:
        _silenced += 1
        if _silenced == 1:
            with suppress(OSError):  # there is no standard error stream
                _original = os.dup(2)
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, 2)
                os.close(nothing)


def _restore() -> None:
    global _original, _silenced
    with _lock:
        _silenced -= 1
        if _silenced == 0 and _original >= 0:
            os.dup2(_original, 2)
            os.close(_original)
            _original = -1

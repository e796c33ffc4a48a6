"""Ctrl-C: the command ends within two seconds, unless a single call of a compiled library lasts longer.

Ctrl-C raises KeyboardInterrupt, so that temporary files are removed and processes end in good order. Compiled libraries
that call Python may swallow this exception or turn it into another one, and cleaning up may take long. Therefore a
timer ends the process if it is still running after ``MAX_CLEANUP_TIME``; a second Ctrl-C ends it at once. Temporary
files that are left behind are removed by the next command.

A command that handles KeyboardInterrupt itself, to write what it has, does so in ``finish_after_interruption``.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

MAX_CLEANUP_TIME = 1.2  # s
INTERRUPTED = 130  # exit code: 128 + SIGINT, as of a shell


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed."""

    requested: bool = False
    may_finish: bool = False  # whether the command handles the interruption itself, in its own time


_current = Interruption()


@contextmanager
def finish_after_interruption() -> Iterator[None]:
    """Let the code of a ``with`` block handle KeyboardInterrupt; no timer ends the process, but a second Ctrl-C does.

    Afterwards the command goes on as if it had not been interrupted.
    """
    _current.may_finish = True
    try:
        yield
        _current.requested = False
    finally:
        _current.may_finish = False


@contextmanager
def handle_interrupts() -> Iterator[Interruption]:
    """Handle Ctrl-C in a ``with`` block, unless the caller handles or ignores it."""
    interruption = _current
    interruption.requested = interruption.may_finish = False
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interruption
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if interruption.requested:
            _end_process()
        interruption.requested = True
        if not interruption.may_finish:
            _start_timer()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interruption
    finally:
        if not interruption.requested:  # else the timer also limits what Python does at exit
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _start_timer() -> None:
    """End the process later, by a thread: Windows has no timer that sends signals.

    It is not a ``threading.Timer``, which waits for a lock that is held if Ctrl-C interrupts the start of a thread.
    """
    with suppress(RuntimeError):  # no more threads: there is a second Ctrl-C
        _thread.start_new_thread(_end_process_later, ())


def _end_process_later() -> None:
    time.sleep(MAX_CLEANUP_TIME)
    _end_process()


def _end_process() -> None:
    """End this process and those that it started, without cleaning up."""
    multiprocessing = sys.modules.get("multiprocessing")  # if it was not imported, there are none; an import may wait
    for child in multiprocessing.active_children() if multiprocessing else ():
        child.kill()
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)

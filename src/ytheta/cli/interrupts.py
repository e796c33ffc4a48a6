"""Ctrl-C: the command ends within two seconds, however unlucky the moment.

Ctrl-C raises KeyboardInterrupt, so that temporary files are removed and processes end in good order. Compiled libraries
that call Python may swallow this exception or turn it into another one, a single call of them may last long, cleaning
up may take long, and threads of libraries may never end. Therefore a thread watches the process: if it is still running
``MAX_CLEANUP_TIME`` after Ctrl-C, the thread ends it. The thread learns of Ctrl-C from the operating system, not from
the main thread, which may be busy; only a compiled call that keeps Python's global lock delays it. A second Ctrl-C ends
the process at once. Temporary files that are left behind are removed by the next command.

A command that handles KeyboardInterrupt itself, to write what it has, does so in ``finish_after_interruption``.
"""

from __future__ import annotations

import _thread
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

# Times in s.
MAX_CLEANUP_TIME = 1.2
MAX_FINISH_TIME = 10.0  # for a command that handles an interruption itself
POLL_INTERVAL = 0.02
INTERRUPTED = 130  # exit code: 128 + SIGINT, as of a shell


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed.

    requested    it was, and the command has not handled it itself
    may_finish   whether the command handles it itself
    count        how often KeyboardInterrupt was raised
    deadline     when the process is ended, by ``time.monotonic``
    code         the exit code that it then has
    is_reported  whether the command has ended, and the user was told how
    """

    requested: bool = False
    may_finish: bool = False
    count: int = 0
    deadline: float = math.inf
    code: int = INTERRUPTED
    is_reported: bool = False

    def end_within(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def raise_if_swallowed(self) -> None:
        """Raise KeyboardInterrupt again if nobody has handled it."""
        if self.requested:
            raise KeyboardInterrupt


_current = Interruption()


@contextmanager
def finish_after_interruption() -> Iterator[Interruption]:
    """Let the code of a ``with`` block handle KeyboardInterrupt, for which it has ``MAX_FINISH_TIME``.

    Afterwards the command goes on as if it had not been interrupted.
    """
    _current.may_finish = True
    try:
        yield _current
        _current.requested, _current.deadline = False, math.inf
    finally:
        _current.may_finish = False
        if _current.requested:
            _current.end_within(MAX_CLEANUP_TIME)


@contextmanager
def handle_interrupts() -> Iterator[Interruption]:
    """Handle Ctrl-C in a ``with`` block, unless the caller handles or ignores it."""
    global _current
    _current = interruption = Interruption()
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interruption
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if interruption.requested:
            _end_process(interruption)
        if interruption.is_reported:  # the command has ended
            return
        interruption.requested = True
        interruption.count += 1
        interruption.end_within(MAX_FINISH_TIME if interruption.may_finish else MAX_CLEANUP_TIME)
        raise KeyboardInterrupt

    stop_watching = _watch(interruption)
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interruption
    finally:
        if not interruption.count:  # else the watching thread also limits what Python does at exit
            signal.signal(signal.SIGINT, signal.default_int_handler)
            stop_watching()


def limit_exit(interruption: Interruption, code: int) -> None:
    """After an interruption that was handled, limit the time until the process has ended, with this exit code."""
    interruption.code, interruption.is_reported = code, True
    if interruption.count:
        interruption.deadline = min(interruption.deadline, time.monotonic() + MAX_CLEANUP_TIME)


def skip_finalization() -> None:
    """After an interruption, end the process when all functions of ``atexit`` have been called.

    Python then does not take apart what threads still use that were interrupted in their work.
    """
    if _current.count and _current.is_reported:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(_current.code)


def _watch(interruption: Interruption) -> Callable[[], None]:
    """Start the thread that ends the process after an interruption; return a function that ends the thread.

    It is not a ``threading.Timer``, which waits for a lock that is held if Ctrl-C interrupts the start of a thread.
    """
    signals, wakeup = os.pipe()  # Python writes the number of each signal into a pipe, whatever the main thread does
    with suppress(AttributeError):  # Windows: not needed there
        os.set_blocking(wakeup, False)
    before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    with suppress(RuntimeError):  # no more threads: there is a second Ctrl-C
        _thread.start_new_thread(_end_late_process, (signals, interruption))

    def stop() -> None:
        signal.set_wakeup_fd(before)
        os.close(wakeup)

    return stop


def _end_late_process(signals: int, interruption: Interruption) -> None:
    """Wait for Ctrl-C; then end the process if it is still running at the deadline."""
    while signal.SIGINT not in (received := os.read(signals, 64)):
        if not received:  # the pipe was closed
            os.close(signals)
            return
    begin = time.monotonic()
    while True:
        time.sleep(POLL_INTERVAL)
        unnoticed = begin + (MAX_FINISH_TIME if interruption.may_finish else MAX_CLEANUP_TIME)  # by the main thread
        if time.monotonic() > (interruption.deadline if interruption.count else unnoticed):
            _end_process(interruption)


def _end_process(interruption: Interruption) -> None:
    """End this process and those that it started, without cleaning up."""
    multiprocessing = sys.modules.get("multiprocessing")  # if it was not imported, there are none; an import may wait
    for child in multiprocessing.active_children() if multiprocessing else ():
        child.kill()
    if not interruption.is_reported:
        with suppress(OSError):
            os.write(2, b"interrupted\n")
    os._exit(interruption.code)

"""Functions in a child process with limits on memory and time: a single call, or a conversation.

Some failures of compiled libraries cannot be caught: they abort the process, loop for ever, or allocate all memory. A
child process can fail in these ways without harm. It is a new Python, which gets its requests as JSON and answers with
JSON and bytes. It imports from where its parent does, but nothing from the current folder, which may have come with the
file that is read. What libraries print is kept apart from the answers. The child leaves no core dump, and ends with the
process that started it, even if that one is killed.

Windows limits neither the memory nor the processor time of a process, and macOS does not enforce the limit of memory;
the limit of wall-clock time holds everywhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ytheta import errors
from ytheta.engine.child_process import OUT_OF_MEMORY, Reply

# Largest number of bytes of the JSON of an answer. Chosen on: rule of thumb.
MAX_HEAD_SIZE = 2**24

# The task may be larger than an argument of a program can be, so it precedes the requests.
START = (
    "import json, os, sys; requests = os.fdopen(os.dup(0), 'rb'); task = json.loads(requests.readline())\n"
    "sys.path[:] = task['path']\n"
    "from ytheta.engine.child_process import serve; serve(task, requests)"
)


@dataclass(frozen=True)
class ProcessLimits:
    """What a child process may use.

    ``memory``: bytes, those of its libraries included; a file that it writes may be as large. ``seconds``: wall-clock
    time for each answer, with the start of the process for the first. ``processor_seconds``: likewise. ``reply``: bytes
    of all blocks of an answer, which this process receives; its JSON has at most ``MAX_HEAD_SIZE``. ``readable``:
    the only files and folders that it may read, see ``isolation``; None leaves it all rights of the user.
    """

    memory: int
    seconds: float
    processor_seconds: float
    reply: int = MAX_HEAD_SIZE
    readable: tuple[Path, ...] | None = None


class EndReason(Enum):
    """Why a child process ended."""

    LATE = "late"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"


class ProcessEndedError(Exception):
    """A child process ended before its answer was complete; the message is a clause that says why."""

    def __init__(self, message: str, reason: EndReason) -> None:
        super().__init__(message)
        self.reason = reason


class _LargeReplyError(Exception):
    """An answer is larger than the limit; the message is a clause that says so."""


class LimitedProcess:
    """A child process that answers each request with what ``module.function(request)`` returns, a ``Reply``.

    The function may keep what it has read for further requests. The process ends with the ``with`` statement, with
    ``close``, or when this object is not needed any more.
    """

    def __init__(self, module: str, function: str, limits: ProcessLimits) -> None:
        self._limits = limits
        self._is_late = threading.Event()
        self._turn = threading.Lock()  # of the threads that share this process
        task = {
            "path": [*filter(None, sys.path), str(Path(__file__).parents[2])],  # "" is the current folder
            "module": module,
            "function": function,
            "memory": limits.memory,
            "processor_seconds": limits.processor_seconds,
            "readable": None if limits.readable is None else [str(path.resolve()) for path in limits.readable],
        }
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # threads reserve addresses
        )
        self._unsent = _encode_line(task)  # sent with the first request, in the time of its answer
        self._end = weakref.finalize(self, _end_process, self._process)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: object) -> Reply:
        """Return the reply to a request, which is a JSON value.

        Errors of ytheta in the child process are raised here; other exceptions end it. ProcessEndedError if it ends.
        """
        line = _encode_line(request)
        with self._turn:
            # The timer does not refer to this object, which would exist until the thread of the timer has ended.
            timer = threading.Timer(self._limits.seconds, _end_late_process, [self._process, self._is_late])
            timer.daemon = True
            timer.start()
            try:
                head, blocks = self._exchange(line)
            except _LargeReplyError as error:
                self.close()
                raise ProcessEndedError(str(error), EndReason.OUT_OF_MEMORY) from None
            except (EOFError, OSError, ValueError):  # ValueError: the process was closed
                raise self._make_error(self._process.wait()) from None
            except BaseException:  # such as an interruption: the next answer would be the rest of this one
                self.close()
                raise
            finally:
                timer.cancel()
        if "error" in head:
            raise getattr(errors, head["error"])(head["text"])
        return Reply(head["content"], blocks)

    def close(self) -> None:
        """End the process."""
        self._end()

    def __enter__(self) -> LimitedProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, line: bytes) -> tuple[dict[str, Any], list[bytearray]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(self._unsent + line)
        self._process.stdin.flush()
        self._unsent = b""
        answer = self._process.stdout.readline(MAX_HEAD_SIZE)
        if len(answer) == MAX_HEAD_SIZE:
            raise _LargeReplyError("it lists more than any log contains")
        if not answer.endswith(b"\n"):
            raise EOFError
        head: dict[str, Any] = json.loads(answer)
        if (size := sum(head["sizes"])) > self._limits.reply:
            raise _LargeReplyError(
                f"its content has {size / 1e9:.3g} GB, but only {self._limits.reply / 1e9:.3g} GB are expected"
            )
        return head, [_receive_block(self._process.stdout, size) for size in head["sizes"]]

    def _make_error(self, code: int) -> ProcessEndedError:
        """Return the error for an exit code; a negative one is that of a signal."""
        limits = self._limits
        if self._is_late.is_set():
            return ProcessEndedError(f"it takes longer than {limits.seconds:.3g} s", EndReason.LATE)
        if code == OUT_OF_MEMORY:
            text = f"it needs more than {limits.memory / 1e9:.3g} GB of memory"
            return ProcessEndedError(text, EndReason.OUT_OF_MEMORY)
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if cause == "signal SIGXCPU":
            text = f"it takes longer than {limits.processor_seconds:.3g} s of processor time"
            return ProcessEndedError(text, EndReason.LATE)
        return ProcessEndedError(f"the process that read it ended ({cause})", EndReason.CRASHED)


def run_limited(module: str, function: str, request: object, limits: ProcessLimits) -> Reply:
    """Return the reply of ``module.function(request)``, called in a child process that ends afterwards."""
    with LimitedProcess(module, function, limits) as process:
        return process.ask(request)


def _encode_line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _receive_block(stream: IO[bytes], size: int) -> bytearray:
    block = bytearray(size)
    if size and stream.readinto(block) < size:  # type: ignore[attr-defined]
        raise EOFError
    return block


def _end_late_process(process: subprocess.Popen[bytes], is_late: threading.Event) -> None:
    is_late.set()
    process.kill()


def _end_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent yet cannot be sent any more
            if stream is not None:
                stream.close()
    process.wait()

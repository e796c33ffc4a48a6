"""A function in a child process with limits on memory and time.

Some failures of compiled libraries cannot be caught: they abort the process, loop for ever, or allocate all memory. A
child process can fail in these ways without harm. It starts a new Python, receives its request as JSON, and writes its
answer to a stream. It ends with the process that started it, even if that one is killed.

Windows has no limit of memory for a process, and macOS does not enforce it; the limit of time holds everywhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, TypeVar

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

OUT_OF_MEMORY = 3  # exit code of a child process
# Isolated from the current folder and from environment variables: the child imports from where its parent does.
START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ytheta.engine.limited_process import serve; serve()"
)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Limits:
    """What a child process may use: memory, and as much in each temporary file (bytes); and time (s)."""

    memory: int
    seconds: float


class ProcessEndedError(Exception):
    """A child process ended before its answer was complete; the message is the reason."""


def run_limited(
    module: str, function: str, request: object, limits: Limits, receive: Callable[[IO[bytes]], Answer]
) -> Answer:
    """Call ``module.function(request, stream)`` in a child process; return what ``receive`` reads from the stream.

    ``receive`` raises EOFError if the stream ends too early. The function's own exceptions are not transferred, so it
    writes what went wrong to the stream.
    """
    is_late = threading.Event()
    with subprocess.Popen(
        [sys.executable, "-I", "-c", START, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # threads reserve addresses
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def end_late_child() -> None:
            is_late.set()
            child.kill()

        timer = threading.Timer(limits.seconds, end_late_child)
        timer.daemon = True
        timer.start()
        try:
            call = {"module": module, "function": function, "request": request}
            child.stdin.write(json.dumps({**call, "memory": limits.memory, "seconds": limits.seconds}).encode() + b"\n")
            child.stdin.flush()
            return receive(child.stdout)
        except (EOFError, BrokenPipeError):
            code = child.wait()
        finally:
            timer.cancel()
            child.kill()
    raise ProcessEndedError(_describe_end(code, limits, is_late=is_late.is_set())) from None


def _describe_end(code: int, limits: Limits, *, is_late: bool) -> str:
    if is_late:
        return f"it takes longer than {limits.seconds:.3g} s"
    if code == OUT_OF_MEMORY:
        return f"it needs more than {limits.memory / 1e9:.3g} GB of memory"
    cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"the process that read it ended ({cause})"


# --- in the child process


def serve() -> None:
    """Carry out the request on standard input, and exit."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no part of the answer
    call: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _limit_resources(call["memory"], call["seconds"])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        getattr(import_module(call["module"]), call["function"])(call["request"], answer)
        answer.flush()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException:
        os._exit(1)
    os._exit(0)  # nothing is left to clean up, and some libraries take long for it


def _limit_resources(memory: int, seconds: float) -> None:
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limits = (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, memory),  # of a temporary file, such as that of a sorted query
        (resource.RLIMIT_CPU, int(seconds) + 1),
    )
    for kind, limit in limits:
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(kind, (limit, hard))


def _end_with_parent() -> None:
    """Wait until the parent closes the stream or ends."""
    while os.read(0, 1):  # not sys.stdin, whose lock Python needs at exit
        pass
    os._exit(1)

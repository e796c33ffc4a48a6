"""The child's side of ``limited_process``: it answers requests one after the other, within its limits."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from typing import IO, Any

from ytheta import errors
from ytheta.engine.isolation import isolate
from ytheta.errors import InputError, YthetaError

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

FAILED, OUT_OF_MEMORY = 1, 3  # exit codes


@dataclass(frozen=True, eq=False)
class Reply:
    """The answer of a child process: a JSON value, and blocks of bytes, such as the numbers of arrays."""

    content: Any = None
    blocks: Sequence[bytes | bytearray | memoryview] = ()


def serve(task: dict[str, Any], requests: IO[bytes]) -> None:
    """Answer the requests, a copy of standard input, until they end. ``task`` names the function and its limits."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what libraries print is no part of an answer
    try:
        _limit_memory(task["memory"])
        if task["readable"] is not None:
            isolate(task["readable"])
        waiting: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=_receive_requests, args=(requests, waiting), daemon=True).start()
        while True:
            request = waiting.get()
            _limit_processor_time(task["processor_seconds"])
            function: Callable[[Any], Reply] = getattr(import_module(task["module"]), task["function"])
            _write_answer(answers, function, request)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException:
        os._exit(FAILED)


def _receive_requests(requests: IO[bytes], waiting: SimpleQueue[Any]) -> None:
    """Queue the requests; end this process, even if it is at work, when its parent closes the stream or ends."""
    try:
        for line in requests:
            waiting.put(json.loads(line))
    finally:
        os._exit(FAILED)


def _write_answer(answers: IO[bytes], function: Callable[[Any], Reply], request: object) -> None:
    """Write a line of JSON and the blocks, or the error of ytheta that the function has raised."""
    reply = Reply()
    head: dict[str, Any] = {}
    try:
        reply = function(request)
    except YthetaError as error:
        kind = type(error).__name__ if type(error).__name__ in errors.__all__ else InputError.__name__
        head = {"error": kind, "text": str(error)}
    blocks = [memoryview(block) for block in reply.blocks]
    head |= {"content": reply.content, "sizes": [block.nbytes for block in blocks]}
    answers.write(json.dumps(head).encode() + b"\n")
    for block in blocks:
        answers.write(block if block.nbytes else b"")
    answers.flush()


def _limit_memory(memory: int) -> None:
    """Limit the memory and the size of each file that is written; switch off core dumps."""
    if resource is not None:
        _lower_limit(resource.RLIMIT_CORE, 0)
        _lower_limit(resource.RLIMIT_AS, memory)
        _lower_limit(resource.RLIMIT_FSIZE, memory)  # of a temporary file, such as that of a sorted query


def _limit_processor_time(seconds: float) -> None:
    """Limit the processor time from now on."""
    if resource is not None:
        _lower_limit(resource.RLIMIT_CPU, int(time.process_time() + seconds) + 1)


def _lower_limit(kind: int, limit: int) -> None:
    assert resource is not None
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(kind, (limit, hard))

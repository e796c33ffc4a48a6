"""Standard streams that survive their readers: a closed pipe or stream is no error, and the exit code stays.

``head`` closes the pipe when it has read enough, and ``>&-`` starts a program without stdout. The command then goes on
without output, because it may still have files to write, and because its exit code is part of the result.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class PipeWriter(io.FileIO):
    """The raw end of an output stream, which discards what nobody reads any more."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data))


def prepare_streams() -> None:
    """Replace stdout and stderr by streams that ignore closed pipes and show ? for characters they cannot encode."""
    sys.stdout, sys.stderr = _prepare_stream(sys.stdout), _prepare_stream(sys.stderr)


def _prepare_stream(stream: Any) -> Any:
    if stream is None:  # it was closed before Python started
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream.buffer, io.BytesIO):
        return stream  # a program reads the output in its own memory
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(PipeWriter(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering or stream.write_through,
    )

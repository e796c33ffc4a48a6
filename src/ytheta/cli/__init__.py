"""The command ``ytheta``: argv → calls → stdout, stderr, exit code.

Data goes to stdout, everything else to stderr. Exit codes: 0 success, 1 success with a bad result, 2 bad input or an
output that cannot be written, 70 internal error, 130 interrupted. If YTHETA_DEBUG is set, an internal error shows its
traceback.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import re
import sys
import traceback
import warnings
from typing import Any

from ytheta.cli.interrupts import INTERRUPTED, handle_interrupts, limit_exit, skip_finalization
from ytheta.errors import YthetaError

DEBUG_VARIABLE = "YTHETA_DEBUG"  # environment variable
MAX_WORD_LENGTH = 160  # characters of a name in an error
# Words, and names in quotes that contain spaces.
_LONG_WORD = re.compile(rf"(?<![^\s(=:])'[^']{{{MAX_WORD_LENGTH + 1},}}'|\S{{{MAX_WORD_LENGTH + 1},}}")


def main() -> None:
    """Run the command; an error is one sentence on stderr, never a traceback."""
    atexit.register(skip_finalization)
    atexit.register(gc.freeze)  # else Python searches all objects for garbage at exit, although the process ends
    prepare_streams()
    # Threads of BLAS wait for each other longer than matrices of this size take; ytheta has threads of its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not os.environ.get(DEBUG_VARIABLE):
        warnings.simplefilter("ignore")  # they are for programmers, and contain lines of source code
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # in the processes that this one starts
    with handle_interrupts() as interruption:
        try:
            from ytheta.cli.app import run  # imported here, so that ``import ytheta.cli`` does not load Typer

            code = run(sys.argv[1:])
            sys.stdout.flush()
            if interruption.requested:  # compiled libraries may swallow an interruption
                code = _print_error("interrupted", INTERRUPTED)
        except KeyboardInterrupt:
            code = _print_error("interrupted", INTERRUPTED)
        except Exception as error:
            # Compiled libraries may turn an interruption into an error of their own.
            code = _print_error("interrupted", INTERRUPTED) if interruption.requested else _report_error(error)
        limit_exit(interruption, code)
    sys.exit(code)


def _report_error(error: Exception) -> int:
    """Report an error in one sentence; return the exit code."""
    if isinstance(error, YthetaError):
        for note in getattr(error, "__notes__", ()):
            _print_error(f"note: {' '.join(note.split())}", 2)
        return _print_error(f"error: {' '.join(str(error).split())}", 2)
    if _is_lack_of_memory(error):
        return _print_error("error: the memory is not enough; free some, raise its limit, or use less data", 2)
    if isinstance(error, OSError):
        _discard_output()
        return _print_error(
            f"error: the output cannot be written: {error.strerror or error}; free some space, or choose another place",
            2,
        )
    return _report_internal_error(error)


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether an error says so, that of a library that cannot be loaded included."""
    is_unloaded = isinstance(error, ImportError) and "failed to map segment" in str(error)  # glibc's words
    return isinstance(error, MemoryError) or is_unloaded or getattr(error, "errno", None) == errno.ENOMEM


def _report_internal_error(error: Exception) -> int:
    """Report an internal error; its exit code 70 is EX_SOFTWARE of sysexits.h."""
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    remedy = f"please report it, with the command line and the traceback that {DEBUG_VARIABLE}=1 prints"
    return _print_error(f"internal error: {what}; {remedy}", 70)


def _print_error(sentence: str, code: int) -> int:
    """Print a sentence on stderr, with long names shortened; return the exit code."""
    with contextlib.suppress(OSError):  # stderr may be closed as well
        sys.stderr.write(f"{_LONG_WORD.sub(_shorten, sentence)}\n")
    return code


def _shorten(word: re.Match[str]) -> str:
    """Return the beginning and the end of a long word, such as the name of a file."""
    half = MAX_WORD_LENGTH // 2
    return f"{word[0][:half]}…{word[0][-half:]}"


def _discard_output() -> None:
    """Redirect stdout to devnull, so that Python does not fail again when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


# Standard streams that survive their readers: a closed pipe or stream is no error, and the exit code stays.
#
# ``head`` closes the pipe when it has read enough, and ``>&-`` starts a program without stdout. The command then goes
# on without output, because it may still have files to write, and because its exit code is part of the result.


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

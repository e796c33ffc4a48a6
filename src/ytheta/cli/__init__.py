"""The command ``ytheta``: argv → calls → stdout, stderr, exit code.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 done but the answer is bad, 2 bad input or no room
for the output, 70 a fault of ytheta itself, 130 interrupted. With YTHETA_DEBUG set, such a fault shows its traceback.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback

from ytheta.errors import YthetaError

DEBUG = "YTHETA_DEBUG"  # an environment variable


def main() -> None:
    """Run the command; an error is one sentence on stderr, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows ? for it
    try:
        from ytheta.cli.app import run  # typer is loaded for commands only

        code = run(sys.argv[1:])
        sys.stdout.flush()
    except YthetaError as error:
        code = _complain(f"error: {' '.join(str(error).split())}", 2)
    except BrokenPipeError:  # the reader of a pipe, such as head, has had enough
        _discard_output()
        code = 0
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        code = 0  # rich noticed the closed pipe first, and would leave with 1
    except OSError as error:
        _discard_output()
        code = _complain(f"error: the output cannot be written: {error.strerror or error}; make room for it", 2)
    except KeyboardInterrupt:
        code = _complain("interrupted", 130)
    except Exception as error:
        code = _fault(error)
    sys.exit(code)


def _fault(error: Exception) -> int:
    """Something that nobody thought of; 70 is what sysexits.h calls an internal software error."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    remedy = f"please report it with the command and what {DEBUG}=1 makes it print"
    return _complain(f"fault: {what}; this is a fault of ytheta: {remedy}", 70)


def _complain(sentence: str, code: int) -> int:
    with contextlib.suppress(OSError):  # stderr may be closed as well
        sys.stderr.write(f"{sentence}\n")
    return code


def _discard_output() -> None:
    """Let what Python still has to write at its end go nowhere instead of failing again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

"""The command ``ytheta``: argv → calls → stdout, stderr, exit code.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 done but the answer is bad, 2 bad input.
"""

from __future__ import annotations

import sys

from ytheta.errors import YthetaError


def main() -> None:
    """Run the command; an error is one sentence on stderr, never a traceback."""
    from ytheta.cli.app import app  # typer is loaded for commands only

    try:
        app()
    except YthetaError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe, such as head, has had enough
        sys.stderr.close()
        sys.exit(0)

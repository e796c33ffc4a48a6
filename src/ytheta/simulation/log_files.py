"""Names of the files to which the logs of runs are written."""

from __future__ import annotations

from pathlib import Path

from ytheta.arguments import check_kind
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, refuse_unknown_fields
from ytheta.logs.write import SUFFIXES

RUN_FIELD = "{run}"  # placeholder in the name of a log; it is replaced by the number of the run
MAX_LOGS = 100


def names_every_run(path: str | Path) -> bool:
    """Return whether a name contains ``{run}``, so that every run has its own log."""
    return RUN_FIELD in str(path)


def list_log_paths(path: str | Path, runs: int) -> tuple[Path, ...]:
    """Return the path of the log of the first run, or of every run if the name contains ``{run}``.

    Raise an error if a file cannot be written, or if there are too many.
    """
    check_kind("path", path, (str, Path), "the name of a file, such as 'log.csv'")
    refuse_unknown_fields(path, RUN_FIELD, "the number of the run")
    if not names_every_run(path):
        return (check_writable(path, *SUFFIXES),)
    if runs > MAX_LOGS:
        raise InputError(f"{path} would write {runs} logs; write at most {MAX_LOGS} logs, or only the first run")
    return tuple(check_writable(str(path).replace(RUN_FIELD, str(run)), *SUFFIXES) for run in range(runs))

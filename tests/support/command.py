"""Running the command ``ytheta`` as a process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from tests.support.paths import ROOT
from ytheta.cli import main


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


def ytheta(*arguments: str, cwd: Path = ROOT, columns: int = 120) -> Result:
    """Run the command in this process: what the script does, without a second for starting Python each time."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["ytheta", *arguments]),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns), "NO_COLOR": "1"}),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


def refused(*arguments: str, cwd: Path = ROOT) -> str:
    """What a command that must fail says: one line, no traceback, nothing on stdout, exit code 2."""
    result = ytheta(*arguments, cwd=cwd)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    return line


def process(*arguments: str, **environment: str) -> tuple[list[str], dict[str, str]]:
    kept = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    return [sys.executable, "-m", "ytheta", *arguments], {**kept, **environment}


def read_json(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run the command with --json in a folder, and return the object it prints."""
    result = ytheta(*arguments, "--json", cwd=folder)
    assert result.returncode == code, result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    return data

"""Several files of one command: a process that is killed at any rename leaves all of them old, or all of them new."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from ytheta.errors import InputError
from ytheta.files.atomic import write_atomically, write_together

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges folders in one step")

# Ends this process before the rename or exchange of the given number, counted from 0.
EXPORT = """
import os, signal, sys
from pathlib import Path
from ytheta.exporting import export
from ytheta.files import atomic
last, count = int(sys.argv[1]), 0
def die_at(step):
    def replaced(*arguments):
        global count
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return step(*arguments)
    return replaced
os.replace = die_at(os.replace)
export.exchange_folders = die_at(atomic.exchange_folders)
export.write_files({Path(sys.argv[2]) / name: b"new" for name in ("a.c", "b.c", "c.h")})
"""


def write_or_die(folder: Path, step: int) -> int:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", EXPORT, str(step), str(folder)]
    return subprocess.run(command, env=environment, check=False).returncode


@pytest.mark.parametrize("step", [0, 1, 2])
def test_exported_files_are_all_old_or_all_new(step: int, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    for name in ("a.c", "b.c", "mine.txt"):
        (folder / name).write_text("old")
    (folder / "a.c").chmod(0o600)
    code = write_or_die(folder, step)
    contents = {name: (folder / name).read_text() for name in ("a.c", "b.c", "c.h") if (folder / name).exists()}
    assert contents in ({"a.c": "old", "b.c": "old"}, {"a.c": "new", "b.c": "new", "c.h": "new"})
    assert (code == 0) is ("c.h" in contents)
    assert code in (0, -signal.SIGKILL)
    assert (folder / "mine.txt").read_text() == "old"
    assert (folder / "a.c").stat().st_mode & 0o777 == 0o600
    assert write_or_die(folder, 99) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code"]  # the temporary folder was removed
    assert sorted(path.name for path in folder.iterdir()) == ["a.c", "b.c", "c.h", "mine.txt"]


def test_the_twin_with_folders_in_it_is_renamed_file_by_file(tmp_path: Path) -> None:
    """Such a folder stays; a kill between two renames is noticed by the test above."""
    folder = tmp_path / "code"
    (folder / "build").mkdir(parents=True)
    identity = folder.stat().st_ino
    for name in ("a.c", "b.c"):
        (folder / name).write_text("old")
    assert write_or_die(folder, 1) == -signal.SIGKILL
    assert {(folder / name).read_text() for name in ("a.c", "b.c")} == {"old", "new"}
    assert write_or_die(folder, 99) == 0
    assert folder.stat().st_ino == identity
    assert {(folder / name).read_text() for name in ("a.c", "b.c", "c.h")} == {"new"}


def write_newer(*paths: Path) -> None:
    with write_together():
        for path in paths:
            with write_atomically(path) as file:
                file.write_text("newer")


def test_a_group_appears_when_all_files_are_written(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    with write_together():
        for name in ("a", "b"):
            with write_atomically(tmp_path / name) as file:
                file.write_text("new")
            assert (tmp_path / "a").read_text() == "old"
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["new", "new"]
    with pytest.raises(InputError, match="cannot be written"):
        write_newer(tmp_path / "a", tmp_path / "none" / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_text() == "new"

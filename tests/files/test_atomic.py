"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ytheta.errors import InputError
from ytheta.files.atomic import PREFIX, check_writable, create_temporary, remove_stale_files, write_atomically


def test_paths_that_cannot_be_written_are_refused_beforehand(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none" / "arm.toml", "No such file"),
        (tmp_path, "is a folder"),
        (tmp_path / "arm.yaml", "extension .toml"),
        (tmp_path / f"{'x' * 300}.toml", "too long"),
        (tmp_path / "a\0b.toml", "null"),
    ):
        with pytest.raises(InputError, match=reason):
            check_writable(path, *([".toml"] if path.suffix else []))
    kept = tmp_path / "kept.toml"
    kept.write_text("x")
    assert check_writable(kept, ".toml") == kept
    assert (kept.read_text(), os.listdir(tmp_path)) == ("x", ["kept.toml"])


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    for mode in (0o600, 0o640, 0o644):
        path.write_text("old")
        path.chmod(mode)
        with write_atomically(path) as file:
            file.write_text("new")
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"pipe\.csv is not a regular file, and would be replaced by one"):
        check_writable(tmp_path / "pipe.csv", ".csv")


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt() -> None:
        with write_atomically(tmp_path / "a.txt") as file:
            file.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert os.listdir(tmp_path) == []


# Temporary files: those of a killed process are removed, those in use are not.


WRITER = """
import sys, time
from pathlib import Path
from ytheta.files.atomic import create_temporary
with create_temporary(Path(sys.argv[1])) as temporary:
    print(temporary, flush=True)
    time.sleep(60)
"""


def test_the_file_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "model.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        temporary = Path(writer.stdout.readline().strip())
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".toml"
        remove_stale_files(tmp_path)
        assert temporary.exists()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert temporary.exists()
    remove_stale_files(tmp_path)
    assert not temporary.exists()


def test_only_temporary_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}folder").mkdir()
    (tmp_path / "mine.toml").write_text("x")
    digits = "0123456789abcdef"
    (tmp_path / f"{PREFIX}{digits}").symlink_to(tmp_path / "mine.toml")
    (tmp_path / f"{PREFIX}notes").write_text("of someone else")
    stale = tmp_path / f"{PREFIX}{digits}.toml"
    stale.write_text("x")
    remove_stale_files(tmp_path)
    kept = {f"{PREFIX}folder", f"{PREFIX}{digits}", f"{PREFIX}notes", "mine.toml"}
    assert {path.name for path in tmp_path.iterdir()} == kept
    remove_stale_files(tmp_path / "none")


def test_a_temporary_file_ends_with_its_block(tmp_path: Path) -> None:
    with create_temporary(tmp_path / "a.csv") as temporary:
        remove_stale_files(tmp_path)  # even this process finds its own file locked
        assert temporary.exists()
    assert not list(tmp_path.iterdir())

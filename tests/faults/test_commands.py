"""Commands that are killed, that find a full disk or no home, or whose output nobody reads."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.arm_logs import true_arm, write_log
from tests.support.command import process
from tests.support.paths import ROOT

pytest.importorskip("resource")
# Files cannot become larger than a limit; a process that writes beyond it is killed, or the write fails.
LIMITED = """
import resource, signal, sys
limit, reaction, *sys.argv = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_DFL if reaction == "killed" else signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
from ytheta.cli import main
main()
"""
OLD = "what was there before"
IDENTIFY = ("identify", "lu-two-link", "run.npz", "-o", "model.toml", "--report", "page.html", "--force")
SIMULATE = ("simulate", "lu-two-link", "--seconds", "2", "-o", "log.parquet", "--force")
# It writes to the cache of kernels only.
COMPILE = ("simulate", "lu-two-link", "--seconds", "0.2", "--controller", "computed-torque")
# The commands with the size at which they are stopped, and the files that they have not written then.
CASES = [
    pytest.param(IDENTIFY, 2_000, ("model.toml", "page.html"), id="identify"),
    pytest.param(SIMULATE, 10_000, ("log.parquet",), id="simulate"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_log(tmp_path / "run.npz", true_arm(tmp_path), seconds=5.0)
    for name in ("model.toml", "page.html", "log.parquet"):
        (tmp_path / name).write_text(OLD)
    return tmp_path


def run(arguments: tuple[str, ...], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command, variables = process(*arguments, **environment)
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


def run_limited(
    arguments: tuple[str, ...], folder: Path, limit: int, reaction: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(limit), reaction, "ytheta", *arguments]
    _, variables = process(*arguments, **environment)  # with the same width of lines
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


def list_temporary(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".ytheta-")]


@pytest.mark.parametrize(("arguments", "limit", "old"), CASES)
def test_a_killed_command_leaves_whole_files(
    arguments: tuple[str, ...], limit: int, old: tuple[str, ...], folder: Path
) -> None:
    run(arguments, folder)  # the kernels are in the cache now
    for name in old:
        (folder / name).write_text(OLD)
    assert run_limited(arguments, folder, limit, "killed").returncode == -signal.SIGXFSZ
    assert len(list_temporary(folder)) == 1
    assert [(folder / name).read_text() for name in old] == [OLD] * len(old)
    assert run(arguments, folder).returncode == 0
    assert list_temporary(folder) == []
    assert all((folder / name).read_bytes() != OLD.encode() for name in old)


@pytest.mark.parametrize(("arguments", "limit", "old"), CASES)
def test_a_full_disk_is_one_sentence(
    arguments: tuple[str, ...], limit: int, old: tuple[str, ...], folder: Path
) -> None:
    result = run_limited(arguments, folder, limit, "refused")
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert line == f"error: {old[0]} cannot be written: File too large; free some space, or choose another place"
    assert "Traceback" not in result.stderr
    assert [(folder / name).read_text() for name in old] == [OLD] * len(old)
    assert list_temporary(folder) == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small file system; the tests with a limit on the size of files remain")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_file_system_that_is_full(full_disk: Path) -> None:
    (full_disk / "log.parquet").write_text(OLD)
    result = run(("simulate", "lu-two-link", "--seconds", "5", "-o", "log.parquet", "--force"), full_disk)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == (
        "error: log.parquet cannot be written: No space left on device; free some space, or choose another place"
    )
    assert [path.name for path in full_disk.iterdir()] == ["log.parquet"]
    assert (full_disk / "log.parquet").read_text() == OLD


def test_a_command_that_is_killed_while_it_compiles(tmp_path: Path) -> None:
    """The cache of kernels stays usable, and the next command cleans it."""
    cache = tmp_path / "cache"
    killed = run_limited(COMPILE, tmp_path, 100, "killed", YTHETA_CACHE=str(cache))
    assert killed.returncode == -signal.SIGXFSZ
    assert len(list_temporary(cache)) == 1
    result = run(COMPILE, tmp_path, YTHETA_CACHE=str(cache))
    assert (result.returncode, result.stderr) == (0, "")
    assert list_temporary(cache) == []
    assert len(list(cache.iterdir())) > 0


@pytest.mark.parametrize("limited", [True, False])
def test_without_a_cache_everything_works(limited: bool, tmp_path: Path) -> None:
    """The disk of the cache is full, or its folder cannot be made: not even root can make one in /proc."""
    expected = run(COMPILE, tmp_path)
    if limited:
        result = run_limited(COMPILE, tmp_path, 100, "refused", YTHETA_CACHE=str(tmp_path / "cache"))
        assert list((tmp_path / "cache").iterdir()) == []
    else:
        home = "/proc/nobody" if Path("/proc").exists() else str(tmp_path / "run.npz" / "home")
        result = run(COMPILE, tmp_path, HOME=home, XDG_CACHE_HOME="", YTHETA_CACHE="")
    assert result.returncode == 0
    assert result.stdout == expected.stdout
    assert len(result.stderr.splitlines()) <= 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash tells the exit codes of a pipe")
def test_output_that_nobody_reads_to_its_end() -> None:
    command, environment = process("robots")
    script = ["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "bash", *command]
    result = subprocess.run(script, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 1

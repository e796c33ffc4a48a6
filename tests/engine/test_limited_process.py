"""A child process may end in any way: the parent goes on, and says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.support.paths import ROOT
from ytheta.engine.limited_process import Limits, ProcessEndedError, run_limited

FUNCTIONS = "tests.support.child_functions"
AMPLE = Limits(memory=2**32, seconds=60.0)
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux enforces limits of memory and lists processes"
)


@pytest.fixture(autouse=True)
def _functions_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def receive_line(stream: IO[bytes]) -> bytes:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return line


def test_the_answer_arrives_without_what_libraries_print() -> None:
    assert run_limited(FUNCTIONS, "answer", ["a", "ä"], AMPLE, receive_line) == "a+ä\n".encode()


@pytest.mark.parametrize(
    ("function", "limits", "reason"),
    [
        ("abort", AMPLE, r"ended \(signal SIGABRT\)"),
        ("crash", AMPLE, r"ended \(signal SIGSEGV\)"),
        ("leave", AMPLE, r"ended \(exit code 1\)"),
        ("loop", Limits(memory=2**32, seconds=1.5), r"takes longer than 1\.5 s"),
        pytest.param("fill_memory", Limits(memory=10**9, seconds=60.0), r"more than 1 GB of memory", marks=on_linux),
    ],
)
def test_every_end_has_a_reason(function: str, limits: Limits, reason: str) -> None:
    with pytest.raises(ProcessEndedError, match=reason):
        run_limited(FUNCTIONS, function, None, limits, receive_line)


@on_linux
def test_the_memory_of_the_parent_is_not_limited() -> None:
    with pytest.raises(ProcessEndedError):
        run_limited(FUNCTIONS, "fill_memory", None, Limits(memory=10**9, seconds=60.0), receive_line)
    assert len(bytes(2 * 10**9)) == 2 * 10**9


def test_modules_in_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log may lie beside a file that is called like a library."""
    (tmp_path / "planted.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert run_limited(FUNCTIONS, "tell_modules", "planted", AMPLE, receive_line) == b"missing\n"
    monkeypatch.syspath_prepend(tmp_path)  # the twin: the child imports from where its parent does
    assert run_limited(FUNCTIONS, "tell_modules", "planted", AMPLE, receive_line) == b"found\n"


def test_the_child_ends_with_the_answer() -> None:
    assert not is_running(int(run_limited(FUNCTIONS, "tell_pid", None, AMPLE, receive_line)))


@on_linux
def test_the_child_ends_with_a_killed_parent() -> None:
    script = (
        "import sys, time; from ytheta.engine.limited_process import Limits, run_limited\n"
        "def receive(stream):\n    print(int(stream.readline()), flush=True); time.sleep(600)\n"
        f"run_limited({FUNCTIONS!r}, 'tell_pid', None, Limits(2**32, 600.0), receive)"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10.0
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"

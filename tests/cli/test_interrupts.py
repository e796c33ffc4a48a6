"""Ctrl-C ends a command within two seconds, with one word and exit code 130, and so do the processes it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import process
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux lists the processes of a command there")
MAX_TIME = 2.0  # s, from Ctrl-C to the end
# A command that swallows interruptions, as compiled libraries may do that call Python, and then goes on for a while.
SWALLOWING = """
import sys, time
from ytheta.cli import app, interrupts, main

@app.app.command()
def swallow():
    print("ready", flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        {reaction}

sys.argv = ["ytheta", "swallow"]
main()
"""
GO_ON = "time.sleep(2.5); print('went on')"


def interrupt_script(script: str, *, times: int = 1) -> tuple[int, str, str]:
    """Return exit code, output and errors of a script that is interrupted when it is ready."""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        for _ in range(times):
            time.sleep(0.1)
            running.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = running.communicate(timeout=60)
        assert time.monotonic() - start < MAX_TIME or "went on" in out
        return running.returncode, out, err


@pytest.mark.parametrize(
    ("reaction", "times"),
    [(GO_ON, 1), (GO_ON, 2), ("raise SystemError('returned a result with an exception set')", 1), ("raise", 1)],
)
def test_an_interruption_cannot_be_swallowed(reaction: str, times: int) -> None:
    assert interrupt_script(SWALLOWING.format(reaction=reaction), times=times) == (130, "", "interrupted\n")


def test_the_timer_needs_no_signals_of_unix() -> None:
    """Windows has neither SIGALRM nor interval timers."""
    script = "import signal\ndel signal.setitimer, signal.SIGALRM\n" + SWALLOWING.format(reaction=GO_ON)
    assert interrupt_script(script) == (130, "", "interrupted\n")


def test_without_the_timer_it_would_be_swallowed() -> None:
    """The twin of the test above."""
    script = SWALLOWING.format(reaction=GO_ON).replace("main()", "interrupts._start_timer = lambda: None\nmain()")
    assert interrupt_script(script) == (130, "went on\n", "interrupted\n")


def test_an_interruption_that_was_swallowed_shows_in_the_exit_code() -> None:
    """Even if the command ends before the timer."""
    script = SWALLOWING.format(reaction="time.sleep(0.2); print('went on')")
    assert interrupt_script(script) == (130, "went on\n", "interrupted\n")


def test_a_caller_that_ignores_interruptions_is_not_interrupted() -> None:
    """As with nohup, and for programs that start a command in the background."""
    script = SWALLOWING.replace("main()", "").replace("sleep(60)", "sleep(1); print('went on')")
    script = script.format(reaction="raise") + "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); main()"
    assert interrupt_script(script) == (0, "went on\n", "")


def list_descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have started."""
    children = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        children += [int(child) for child in (thread / "children").read_text().split()]
    return children + [further for child in children for further in list_descendants(child)]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(("seconds", "to_group"), [(0.1, True), (3.0, False)])
def test_dask(seconds: float, to_group: bool) -> None:
    """Ctrl-C while the workers start, and while they work; a terminal sends it to all processes, ``kill`` to one."""
    pytest.importorskip("distributed")
    arguments = ("lu-two-link", "--runs", "100000", "--seconds", "100", "--engine", "dask", "--threads", "2")
    command, environment = process("simulate", *arguments)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        while len(list_descendants(running.pid)) < 3:  # two workers and the process that watches semaphores
            assert running.poll() is None
            time.sleep(0.02)
        time.sleep(seconds)
        processes = list_descendants(running.pid)
        start = time.monotonic()
        (os.killpg if to_group else os.kill)(running.pid, signal.SIGINT)
        running.wait(timeout=60)
        assert time.monotonic() - start < MAX_TIME
        out, err = running.communicate(timeout=60)  # the streams end with the last process that has them
    assert (running.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    assert "Warning" not in err
    deadline = time.monotonic() + 10.0
    while left := [pid for pid in processes if is_running(pid)]:  # the last one notices that the others have ended
        assert time.monotonic() < deadline, left
        time.sleep(0.02)

"""Ctrl-C ends a command within two seconds, with one word and exit code 130, and so do the processes it started."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import write_log
from tests.support.command import process
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux lists the processes of a command there")
MAX_TIME = 2.0  # s, from Ctrl-C to the end
# A command that swallows interruptions, as compiled libraries may do that call Python, and then goes on for a while.
SWALLOWING = """
import sys, time
from ytheta.cli import app, interrupts, main

def swallow():
    print("ready", flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        {reaction}

app.COMMANDS["swallow"] = "__main__"
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
    without = "interrupts._end_late_process = lambda *_: None\nmain()"
    script = SWALLOWING.format(reaction=GO_ON).replace("main()", without)
    assert interrupt_script(script) == (130, "went on\n", "interrupted\n")


def test_an_interruption_that_was_swallowed_shows_in_the_exit_code() -> None:
    """Even if the command ends before the timer."""
    script = SWALLOWING.format(reaction="time.sleep(0.2); print('went on')")
    assert interrupt_script(script) == (130, "went on\n", "interrupted\n")


def test_a_long_compiled_call_does_not_delay_the_end() -> None:
    """Python runs the handler of a signal only when such a call has returned."""
    script = SWALLOWING.replace("time.sleep(60)", "__import__('hashlib').pbkdf2_hmac('sha256', b'', b'', 50_000_000)")
    assert interrupt_script(script.format(reaction="raise")) == (130, "", "interrupted\n")


def test_a_caller_that_ignores_interruptions_is_not_interrupted() -> None:
    """As with nohup, and for programs that start a command in the background."""
    script = SWALLOWING.replace("main()", "").replace("sleep(60)", "sleep(1); print('went on')")
    script = script.format(reaction="raise") + "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); main()"
    assert interrupt_script(script) == (0, "went on\n", "")


LIMITS = "--position joint1=-1.5:1.5 --position joint2=-1.5:1.5 --velocity 2 --effort 100"
SEARCH = f"lu-two-link {LIMITS} --criterion d --starts 100000 --threads 2 --json"
# A thread has been started, but nobody knows it yet, when the interruption comes.
UNLUCKY = """
import _thread, signal, sys, threading, time
from ytheta.cli import main

def interrupt_after(start):
    def start_and_interrupt(*arguments):
        identity = start(*arguments)
        if sys._getframe(1).f_globals["__name__"] in ("concurrent.futures.thread", "ytheta.engine.local"):
            signal.raise_signal(signal.SIGINT)
        return identity
    return start_and_interrupt

threading.Thread.start = interrupt_after(threading.Thread.start)
_thread.start_new_thread = interrupt_after(_thread.start_new_thread)
main()
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(f"excite {SEARCH}", 0), ("simulate lu-two-link --runs 100000 --seconds 100 --threads 2 --json", 130)],
)
def test_an_interruption_while_a_thread_starts(arguments: str, code: int) -> None:
    """With the threads of concurrent.futures, Python waited for ever for the one that nobody told to stop."""
    command = [sys.executable, "-c", UNLUCKY, *arguments.split()]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert result.returncode == code, result.stderr
    assert "interrupted" in (result.stderr if code else json.loads(result.stdout)["search"]["ending"])


# Every command runs in a fork of a process that has imported what it needs, and is interrupted after a given time.
AT_RANDOM = """
import faulthandler, json, os, signal, sys, time
import casadi, llvmlite, numpy, polars, scipy.linalg, scipy.optimize, scipy.signal
import ytheta.cli.app
from ytheta.cli import main

faulthandler.enable()  # SIGABRT shows what all threads do
for k, (arguments, delay) in enumerate(json.loads(sys.argv[1])):
    child = os.fork()
    if not child:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{k}.{name}", os.O_WRONLY | os.O_CREAT), number)
        sys.argv = ["ytheta", *arguments.replace("NUMBER", str(k)).split()]
        main()
    time.sleep(delay)
    os.kill(child, signal.SIGINT)
    begin, ended = time.monotonic(), 0
    while not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
        if time.monotonic() - begin > 8.0:
            os.kill(child, signal.SIGABRT)
    print(json.dumps([os.waitstatus_to_exitcode(status), time.monotonic() - begin]), flush=True)
"""


def test_interruptions_at_random_moments(tmp_path: Path) -> None:
    """Real commands end in time, and leave their files complete or not at all."""
    seed = int(os.environ.get("YTHETA_TEST_SEED", random.randrange(10**6)))
    print(f"YTHETA_TEST_SEED={seed}")  # noqa: T201  # pytest shows it if the test fails
    rng, log = random.Random(seed), write_log(tmp_path / "long.npz", yt.load("lu-two-link"), seconds=600.0)
    commands = [
        f"excite {SEARCH} -o NUMBER.csv",
        "simulate lu-two-link --runs 100000 --seconds 100 --threads 2 --json",
        f"identify lu-two-link {log.name} -o NUMBER.toml",
    ]
    moments = [(command, rng.uniform(0.02, 1.2)) for command in commands for _ in range(5)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a fork must have no other threads
    script = [sys.executable, "-c", AT_RANDOM, json.dumps(moments)]
    result = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    ends = [json.loads(line) for line in result.stdout.splitlines()]
    limit = MAX_TIME * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    for k, ((command, delay), (code, seconds)) in enumerate(zip(moments, ends, strict=True)):
        told = (
            f"{command} after {delay:.4f} s: exit code {code}, {seconds:.2f} s\n{(tmp_path / f'{k}.err').read_text()}"
        )
        outputs = [path.name for path in tmp_path.glob(f"{k}.*") if path.suffix in (".csv", ".toml")]
        assert seconds < limit, told
        assert "Traceback" not in told, told
        for name in outputs:
            if name.endswith(".toml"):
                assert len(yt.read_model(tmp_path / name).robot.actuated) == 2, told  # it is complete
        if code == 0 and command.startswith("excite"):  # the search had begun
            assert json.loads((tmp_path / f"{k}.out").read_text())["search"]["ending"] == "interrupted", told
            assert sorted(outputs) == [f"{k}.csv", f"{k}.slow.csv"], told
        elif code in (0, -signal.SIGINT):  # a fast machine: the command had ended, or Python itself was about to end
            assert outputs == [f"{k}.toml"], told
        else:  # identify may have written its model before it was interrupted
            assert code == 130, told
            assert outputs == [] or command.startswith("identify"), told
            assert (tmp_path / f"{k}.err").read_text().splitlines()[-1] == "interrupted", told


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

"""A child process may end in any way: the parent goes on, and says why. Every limit has a twin that keeps within it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.processes import assert_ends, is_running
from ytheta import errors
from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import (
    MAX_HEAD_SIZE,
    EndReason,
    LimitedProcess,
    ProcessEndedError,
    ProcessLimits,
    run_limited,
)

FUNCTIONS = "tests.support.child_functions"
AMPLE = ProcessLimits(memory=2**32, seconds=60.0, processor_seconds=60.0)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces all limits and lists processes")


@pytest.fixture(autouse=True)
def _functions_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def call(function: str, request: object = None, limits: ProcessLimits = AMPLE) -> Reply:
    return run_limited(FUNCTIONS, function, request, limits)


def end(function: str, request: object = None, limits: ProcessLimits = AMPLE) -> tuple[EndReason, str]:
    with pytest.raises(ProcessEndedError) as caught:
        call(function, request, limits)
    return caught.value.reason, str(caught.value)


def test_the_answer_arrives_without_what_libraries_print() -> None:
    assert call("join", ["a", "ä", "\n"]).content == "a+ä+\n"
    assert call("read_input").content == ""  # requests are not what libraries read


def test_blocks_arrive_as_they_are() -> None:
    sizes = {"first": 3, "empty": 0, "last": 3 * 10**6}  # more than fits into a pipe
    reply = call("repeat", sizes)
    assert reply.content == list(sizes)
    assert list(reply.blocks) == [b"\x00" * 3, b"", b"\x02" * 3 * 10**6]


def test_an_answer_is_bounded_before_it_is_received() -> None:
    bounded = replace(AMPLE, reply=1000)
    assert len(call("repeat", {"a": 400, "b": 600}, bounded).blocks) == 2
    reason, text = end("repeat", {"a": 400, "b": 601}, bounded)
    assert reason is EndReason.OUT_OF_MEMORY
    assert text == "its content has 1e-06 GB, but only 1e-06 GB are expected"
    assert end("join", ["a" * MAX_HEAD_SIZE], AMPLE) == (
        EndReason.OUT_OF_MEMORY,
        "it lists more than any log contains",
    )


def test_a_conversation_keeps_what_was_read() -> None:
    with LimitedProcess(FUNCTIONS, "remember", AMPLE) as process:
        assert [process.ask(text).content for text in "ab"] == [["a"], ["a", "b"]]
    assert call("remember", "c").content == ["c"]  # another process


def test_threads_take_turns() -> None:
    def ask(size: int) -> tuple[Any, int]:
        reply = process.ask({str(size): size})
        return reply.content, len(reply.blocks[0])

    with LimitedProcess(FUNCTIONS, "repeat", AMPLE) as process, ThreadPoolExecutor(4) as threads:
        sizes = range(100_000, 100_040)
        assert list(threads.map(ask, sizes)) == [([str(size)], size) for size in sizes]


def test_errors_of_ytheta_are_raised_here_and_the_conversation_goes_on() -> None:
    with LimitedProcess(FUNCTIONS, "refuse", AMPLE) as process:
        for name in ("InputError", "RobotFileError", "MissingExtraError"):
            with pytest.raises(errors.YthetaError, match=f"^{name} was raised$") as caught:
                process.ask(name)
            assert type(caught.value) is getattr(errors, name)
        with pytest.raises(errors.InputError, match=r"^foreign was raised$") as caught:
            process.ask("foreign")
        assert type(caught.value) is errors.InputError


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        ("abort", "signal SIGABRT"),
        ("crash", "signal SIGSEGV"),
        ("leave", "exit code 1"),
        ("fail", "exit code 1"),
        ("unknown", "exit code 1"),
    ],
)
def test_crashes_are_described(function: str, cause: str) -> None:
    assert end(function) == (EndReason.CRASHED, f"the process that read it ended ({cause})")


def test_wall_clock_time_is_limited_for_each_answer() -> None:
    limits = replace(AMPLE, seconds=1.5)
    started = time.monotonic()
    assert end("wait", 600.0, limits) == (EndReason.LATE, "it takes longer than 1.5 s")
    assert time.monotonic() - started < 10.0
    with LimitedProcess(FUNCTIONS, "wait", replace(AMPLE, seconds=5.0)) as process:
        for _ in range(4):  # the twin: longer in total
            process.ask(1.5)


@on_linux
def test_processor_time_is_limited_for_each_answer() -> None:
    limits = replace(AMPLE, processor_seconds=1.0)  # systems count whole seconds, so up to 2 s
    assert end("work", 600.0, limits) == (EndReason.LATE, "it takes longer than 1 s of processor time")
    with LimitedProcess(FUNCTIONS, "work", limits) as process:
        for _ in range(4):  # the twin: longer in total
            process.ask(0.6)
    call("wait", 2.5, limits)  # waiting takes none


@on_linux
def test_memory_is_limited_in_the_child_only() -> None:
    limits = replace(AMPLE, memory=10**9)
    assert end("fill_memory", 2 * 10**9, limits) == (EndReason.OUT_OF_MEMORY, "it needs more than 1 GB of memory")
    assert call("fill_memory", 5 * 10**8, limits).content > 4 * 10**8
    assert len(bytes(2 * 10**9)) == 2 * 10**9


@on_linux
def test_files_are_limited_and_cores_are_not_dumped(tmp_path: Path) -> None:
    import resource

    limits = replace(AMPLE, memory=10**9)
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))  # as on a system that dumps cores
    try:
        assert call("tell_limits", None, limits).content == [0, 10**9]
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    for size, outcome in ((2 * 10**9, "OSError"), (5 * 10**8, "written")):  # without content, hence not on the disk
        assert call("write_file", {"path": str(tmp_path / "file"), "size": size}, limits).content == outcome


def test_modules_in_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log may lie beside a file that is called like a library."""
    for name in ("planted", "json", "ytheta"):
        (tmp_path / f"{name}.py").write_text("" if name == "planted" else "raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # as in an interactive Python
    assert call("tell_module", "planted").content == "missing"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "planted.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "folder")  # the twin: the child imports from where its parent does
    assert call("tell_module", "planted").content == "found"


def test_the_child_ends_when_it_is_not_needed() -> None:
    assert not is_running(call("tell_pid").content)
    process = LimitedProcess(FUNCTIONS, "tell_pid", AMPLE)
    pid = process.ask(None).content
    assert pid == process.pid
    assert is_running(pid)
    del process
    gc.collect()
    assert not is_running(pid)


def test_a_process_that_has_ended_does_not_answer() -> None:
    process = LimitedProcess(FUNCTIONS, "tell_pid", AMPLE)
    process.close()
    for _ in range(2):
        with pytest.raises(ProcessEndedError, match="the process that read it ended"):
            process.ask(None)


def test_an_interrupted_conversation_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of an answer would be taken for the next one."""
    with LimitedProcess(FUNCTIONS, "repeat", AMPLE) as process:
        monkeypatch.setattr("ytheta.engine.limited_process._receive_block", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            process.ask({"a": 100_000})
        assert not is_running(process.pid)
        monkeypatch.undo()
        with pytest.raises(ProcessEndedError):
            process.ask({"b": 1})


def _interrupt(*_arguments: object) -> None:
    raise KeyboardInterrupt


@on_linux
@pytest.mark.parametrize("is_busy", [False, True])
def test_the_child_ends_with_a_killed_parent(is_busy: bool, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    script = (
        "import sys, time; from ytheta.engine.limited_process import LimitedProcess, ProcessLimits\n"
        f"process = LimitedProcess({FUNCTIONS!r}, sys.argv[1], ProcessLimits(2**32, 600.0, 600.0))\n"
        "reply = process.ask(sys.argv[2])\n"
        "print(reply.content, file=open(sys.argv[2], 'w'), flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, "start_and_work" if is_busy else "tell_pid", str(place)]
    with subprocess.Popen(command, env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}) as parent:
        deadline = time.monotonic() + 30.0
        while not (place.exists() and place.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child = int(place.read_text())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    assert_ends(child)


def test_no_timer_is_left() -> None:
    before = threading.active_count()
    call("tell_pid")
    assert threading.active_count() <= before + 1  # it may be about to end


@on_linux
def test_an_isolated_process_only_reads_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home", "robot"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
    with socket.create_server(("127.0.0.1", 0)) as server:
        request = {
            "readable": str(tmp_path / "robot" / "file"),
            "other": str(tmp_path / "home" / "file"),
            "home": str(tmp_path / "home"),
            "port": str(server.getsockname()[1]),
            "pid": str(os.getpid()),
        }
        attempts, failed = call("attempt", request, replace(AMPLE, readable=(tmp_path / "robot",))).content
        assert failed == dict.fromkeys([name for name in attempts if name != "read"], "PermissionError")
        assert (tmp_path / "robot" / "file").read_text() == "text"
        _, failed = call("attempt", request).content  # the twin: without isolation, all of it is possible
        assert failed == {}


def test_what_may_be_read_is_longer_than_an_argument_can_be(tmp_path: Path) -> None:
    """As in a folder with thousands of others, each of which may be a package of a robot."""
    readable = tuple(tmp_path / f"{k:0100}" for k in range(2000))  # Linux: 128 kB for an argument
    with LimitedProcess(FUNCTIONS, "remember", replace(AMPLE, readable=readable)) as process:
        assert [process.ask(text).content for text in "ab"] == [["a"], ["a", "b"]]


@on_linux
def test_an_isolated_process_has_threads_and_libraries(tmp_path: Path) -> None:
    isolated = replace(AMPLE, readable=(tmp_path,))
    for module in ("numpy", "scipy.io", "polars", "xacro"):
        assert call("tell_module", module, isolated).content == "found"

"""The command as a process: exit codes, closed pipes, full disks, interrupts, help."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from tests.support.command import process, refused, ytheta
from tests.support.urdf_arm import ARM
from ytheta.cli.app import COMMANDS


def test_the_installed_command(tmp_path: Path) -> None:
    for command in ([sys.executable, "-m", "ytheta"], [str(Path(sys.executable).with_name("ytheta"))]):
        good = subprocess.run([*command, "inspect", "panda", "--json"], capture_output=True, text=True)
        assert (good.returncode, json.loads(good.stdout)["joints"]) == (0, 7)
        bad = subprocess.run([*command, "inspect", str(tmp_path)], capture_output=True, text=True)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert bad.stderr.startswith("error: ")
        assert bad.stderr.count("\n") == 1


# --- width, pipes, disks, interrupts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("inspect", "panda"), ("inspect", "panda", "--json"), ("--help",), ("--version",)]
)
def test_a_closed_pipe_is_not_an_error(arguments: tuple[str, ...]) -> None:
    command, environment = process(*arguments)
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(command, env=environment, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [("inspect", "panda"), ("inspect", "panda", "--json")])
def test_a_full_disk_is_one_sentence(arguments: tuple[str, ...]) -> None:
    command, environment = process(*arguments)
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr.startswith(b"error: the output cannot be written: No space left")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces a limit of memory")
@pytest.mark.parametrize(
    ("arguments", "size", "reason"),
    [
        (
            ("identify", "ur10", "log.parquet"),
            300e6,
            "this process may use 0.3 GB (ulimit -v), but its libraries reserve",
        ),
        (("identify", "ur10", "log.parquet"), 1e9, "this process may use 1 GB (ulimit -v), but its libraries reserve"),
        (("inspect", "ur10"), 140e6, "free some"),
        (("inspect", "ur10"), 1e9, None),  # twins: few libraries, or none
        (("identify", "--help"), 300e6, None),
    ],
)
def test_a_lack_of_memory_is_one_sentence(arguments: tuple[str, ...], size: float, reason: str | None) -> None:
    """Polars aborts or waits for ever if it is loaded with too little memory."""
    import resource

    command, environment = process(*arguments)
    result = subprocess.run(
        command,
        env={**environment, "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (int(size), int(size))),
        capture_output=True,
        text=True,
        timeout=60,
    )
    if reason is None:
        assert (result.returncode, result.stderr) == (0, "")
        return
    assert result.returncode == 2
    assert re.fullmatch(r"error: the memory is not enough[:;] [^\n]*\n", result.stderr), result.stderr
    assert reason in result.stderr


def test_a_failed_allocation_is_no_internal_error() -> None:
    for error in (MemoryError(), OSError(12, "Cannot allocate memory"), ImportError("x.so: failed to map segment")):
        with mock.patch("ytheta.cli.app.run", side_effect=error):
            assert refused("robots") == (
                "error: the memory is not enough; free some, raise its limit, or use less data"
            )
    with mock.patch("ytheta.cli.app.run", side_effect=OSError(28, "No space left on device")):  # the twin
        assert refused("robots").startswith("error: the output cannot be written")


def test_a_terminal_without_unicode() -> None:
    command, environment = process("inspect", "walker", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    result = subprocess.run(command, env=environment, capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"q8 R z ?? link1 (closes a loop)" in result.stdout


def test_an_interrupt_prints_one_line() -> None:
    command, environment = process("inspect", "panda")
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    loaded = Path(f"/proc/{running.pid}/maps")
    while running.poll() is None and "multiarray" not in loaded.read_text():  # numpy is there: main is at work
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"interrupted\n")


# Arguments that each command needs, with names of files that need not exist.
ARGUMENTS = {
    "robots": (),
    "inspect": ("panda",),
    "base": ("panda",),
    "excite": ("panda",),
    "simulate": ("panda",),
    "check": ("panda", "none.csv"),
    "identify": ("panda", "none.csv"),
    "predict": ("panda", "none.csv"),
    "payload": ("panda", "none.csv"),
    "reproduce": (),
    "export": ("panda",),
    "view": ("panda",),
    "bench": (),  # its robot has a default
    "compare": (),  # it needs models, and reads no descriptions
}
REQUIRED_OPTIONS = {"export": ("--to", "toml", "--output", "none.toml")}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_wrong_usage_is_one_sentence(command: str) -> None:
    arguments, options = ARGUMENTS[command], REQUIRED_OPTIONS.get(command, ())
    place = f"; see ytheta {command} --help"
    assert refused(command, *arguments, "--wwwww") == f"error: No such option: --wwwww{place}"
    misspelled = refused(command, *arguments, "--jsn")
    assert misspelled.startswith("error: No such option: --jsn")
    assert "--json" in misspelled
    assert misspelled.endswith(place)
    if arguments:
        missing = refused(command, *arguments[:-1], *options)
        assert missing.startswith("error: Missing argument '")
        assert missing.endswith(place)
        wide = refused(command, *arguments, *options, "--snap", "wide")
        assert wide.startswith("error: Invalid value for '--snap': ")
        assert "there is no robot 'pandas' in the catalog" in refused(command, "pandas", *arguments[1:], *options)


def test_every_command_is_tried() -> None:
    assert set(ARGUMENTS) == set(COMMANDS)


def test_wrong_usage_without_a_command() -> None:
    assert refused("inspekt", "panda") == "error: No such command 'inspekt'; did you mean 'inspect'?"
    assert refused("--colour") == "error: No such option: --colour; see ytheta --help"
    assert "the tolerance 0.3 for rounded angles (snap) must be between" in refused("inspect", "ur10", "--snap", "0.3")


def test_a_number_that_is_none_is_refused_in_plain_words() -> None:
    for option, thing in (("--seconds", "a number"), ("--runs", "a whole number")):
        expected = f"error: Invalid value for '{option}': this is not {thing}; see ytheta simulate --help"
        assert refused("simulate", "lu-two-link", option, "a") == expected


def test_a_short_option_for_help() -> None:
    assert ytheta("-h").stdout == ytheta("--help").stdout
    assert ytheta("base", "-h").stdout == ytheta("base", "--help").stdout


def test_a_bug_is_not_bad_input() -> None:
    """Only errors of usage and of ytheta are sentences with exit code 2."""
    with mock.patch("ytheta.cli.robots.print_value", side_effect=ZeroDivisionError("by zero")):
        result = ytheta("robots")
    assert (result.returncode, result.stdout) == (70, "")
    assert result.stderr.startswith("internal error: ZeroDivisionError: by zero; please report it")


def test_an_interrupt_inside_a_command_is_an_interrupt() -> None:
    with mock.patch("ytheta.cli.robots.print_value", side_effect=KeyboardInterrupt):
        result = ytheta("robots")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("command", ARGUMENTS)
def test_help_has_an_example(command: str) -> None:
    result = ytheta(command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    (line,) = [line.strip() for line in result.stdout.splitlines() if "Example:" in line]  # not wrapped
    assert line.startswith(f"Example: ytheta {command}")
    assert "`" not in result.stdout
    options = {word for word in line.split() if word.startswith("--")}
    assert {option for option in options if f"  {option}" not in result.stdout} == set()
    short = ytheta("--help").stdout
    assert f"  {command}  " in short
    assert "..." not in short.partition("Commands:")[2]


@pytest.mark.parametrize("command", ["robots", "inspect", "base"])
def test_the_example_runs(command: str) -> None:
    shown = re.search(rf"Example: ytheta ({command}[^\n,]*)", ytheta(command, "--help").stdout)
    assert shown is not None
    assert ytheta(*shown[1].split()).returncode == 0


def test_long_names_with_spaces_are_shortened_in_errors(tmp_path: Path) -> None:
    kind = " ".join(300 * ["revolute"])
    (tmp_path / "arm.urdf").write_text(ARM.replace('type="revolute"', f'type="{kind}"'))
    line = refused("inspect", "arm.urdf", cwd=tmp_path)
    assert len(line) < 500
    assert "the joint type 'revolute revolute" in line
    assert "is unknown" in line


def test_long_names_are_shortened_in_errors() -> None:
    for name in (3000 * "x", 3000 * "y" + ".urdf"):
        line = refused("inspect", name)
        assert len(line) < 400
        assert name[:80] + "…" in line or "x…x" in line
    assert 100 * "x" in refused("inspect", 100 * "x")  # the twin

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

import pytest

from tests.support.command import process, refused, ytheta


def test_the_installed_command(tmp_path: Path) -> None:
    for command in ([sys.executable, "-m", "ytheta"], [str(Path(sys.executable).with_name("ytheta"))]):
        good = subprocess.run([*command, "inspect", "panda", "--json"], capture_output=True, text=True)
        assert (good.returncode, json.loads(good.stdout)["joints"]) == (0, 7)
        bad = subprocess.run([*command, "inspect", str(tmp_path)], capture_output=True, text=True)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert bad.stderr.startswith("error: ")
        assert bad.stderr.count("\n") == 1


# --- width, pipes, disks, interrupts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("inspect", "panda"), ("inspect", "panda", "--json"), ("--help",)])
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


def test_wrong_usage_exits_with_2() -> None:
    for arguments in (["inspect"], ["inspekt", "panda"], ["inspect", "panda", "--snap", "-1"]):
        assert ytheta(*arguments).returncode == 2
    assert "Missing argument 'ROBOT'; see ytheta inspect --help" in refused("inspect")
    assert "the tolerance 0.3 for rounded angles (snap) must be between" in refused("inspect", "ur10", "--snap", "0.3")
    assert "Usage: ytheta" in ytheta().stdout


def test_help_has_an_example() -> None:
    for command in ("robots", "inspect"):
        text = ytheta(command, "--help").stdout
        assert "Example" in text
        shown = re.search(rf"Example: ytheta ({command}[^\n,]*)", text)
        assert shown is not None, text
        assert ytheta(*shown[1].split()).returncode == 0
    assert "0.1.0" in ytheta("--version").stdout

"""``ytheta view`` as a process: it serves on the loopback interface and ends with Ctrl-C; what it refuses."""

from __future__ import annotations

import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.support.command import process, refused
from tests.support.ports import find_free_port

pytest.importorskip("viser", reason="viser is not installed (pip install 'ytheta[view]')")


def test_it_serves_until_it_is_interrupted() -> None:
    command, environment = process("view", "panda", "--no-open", "--port", str(find_free_port()))
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        try:
            line = running.stdout.readline()
            address = line.split()[0]
            assert address.startswith("http://127.0.0.1:")
            assert line.endswith("shows panda; press Ctrl-C to end\n")
            with urllib.request.urlopen(address, timeout=10) as page:
                assert page.status == 200
            time.sleep(0.5)  # a process that is interrupted while it prints may print the line again
            before = time.monotonic()
            running.send_signal(signal.SIGINT)
            code = running.wait(timeout=10)
            assert time.monotonic() - before < 2.0
        finally:
            running.kill()
        assert code == 0
        assert running.stdout.read() == ""
        assert "Traceback" not in running.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-robot"], "no-such-robot"),
        (["panda", "--log", "missing.csv"], "missing.csv"),
        (["panda", "--trajectory", "missing.toml"], "missing.toml"),
        (["panda", "--log", "a.csv", "--trajectory", "a.toml"], "give one of them"),
        (["panda", "--port", "0"], "port"),
    ],
)
def test_wrong_input_is_one_sentence(arguments: list[str], message: str, tmp_path: Path) -> None:
    assert message in refused("view", *arguments, "--no-open", cwd=tmp_path)

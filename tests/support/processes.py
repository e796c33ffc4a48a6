"""Whether processes run."""

from __future__ import annotations

import os
import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:  # there is no /proc
        return True
    except ProcessLookupError:
        return False


def assert_ends(pid: int, seconds: float = 10.0) -> None:
    """Assert that a process ends within this time."""
    deadline = time.monotonic() + seconds
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs after {seconds} s"
        time.sleep(0.02)

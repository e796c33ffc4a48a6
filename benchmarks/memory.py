"""Peak memory of a process."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def read_peak_memory() -> float:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss includes the peak of the parent process
        return 1024.0 * float(status.read_text().split("VmHWM:")[1].split()[0])
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobyte)

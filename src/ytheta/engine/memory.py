"""How much memory this process can use."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]


def measure_free_memory() -> float:
    """Return the bytes that this process can still allocate; infinite if the system does not say.

    It is what the machine has free, what the group of processes (cgroup) may still use, and what the limit of
    addresses (``ulimit -v``) leaves, whichever is least.
    """
    free = [float("inf")]
    with suppress(OSError, TypeError, ValueError):
        available = re.search(r"^MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        free.append(1024.0 * int(available[1]))  # type: ignore[index]
    with suppress(OSError, ValueError):  # in a container; "max" is no number
        group = Path("/sys/fs/cgroup")
        free.append(float(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())))
    if (limit := find_address_limit()) is not None:
        with suppress(OSError, ValueError, IndexError):
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            free.append(float(limit - used))
    return max(0.0, min(free))


def find_address_limit() -> int | None:
    """Return how many bytes of addresses this process may have (``ulimit -v``), used or not; None if any number."""
    limit = None if resource is None else resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if resource is None or limit == resource.RLIM_INFINITY else limit

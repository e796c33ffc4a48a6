"""What a worker process of our own cluster does first.

A terminal sends Ctrl-C to all processes that it started. It is for the one that started the workers, and that one ends
them.
"""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(_worker: Any) -> None:
    """Called by Dask, by this name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

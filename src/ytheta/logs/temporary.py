"""Large arrays that are needed for a moment only, beside a log that fills the memory.

The allocator keeps what is freed below a size that grows with what was freed before, up to 32 megabytes: a column of an
hour at 1 kHz. These arrays have a mapping of their own, which is given back at once.
"""

from __future__ import annotations

import mmap

import numpy as np

from ytheta.shapes import Float


def scratch(count: int) -> Float[np.ndarray, "count"]:
    """An array of zeros whose memory is given back when it is no longer used."""
    if count == 0:
        return np.zeros(0)
    return np.frombuffer(mmap.mmap(-1, 8 * count), dtype=np.float64)


def steps_of(t: Float[np.ndarray, "samples"]) -> Float[np.ndarray, "steps"]:
    """Differences of neighbouring stamps, as ``np.diff`` in scratch memory."""
    return np.subtract(t[1:], t[:-1], out=scratch(max(len(t) - 1, 0)))

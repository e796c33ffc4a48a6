"""Large temporary arrays whose memory goes back to the operating system as soon as they are no longer used.

The C allocator keeps freed memory below a threshold that grows up to 32 megabytes, the size of one column of an hour at
1 kHz. Beside a log that nearly fills the memory this is too much, so these arrays have a memory mapping of their own.
"""

from __future__ import annotations

import mmap

import numpy as np

from ytheta.shapes import Float


def allocate_temporary(count: int) -> Float[np.ndarray, "count"]:
    """Return an array of zeros in a memory mapping of its own."""
    if count == 0:
        return np.zeros(0)
    return np.frombuffer(mmap.mmap(-1, 8 * count), dtype=np.float64)


def compute_steps(values: Float[np.ndarray, "samples"]) -> Float[np.ndarray, "steps"]:
    """Return the differences of neighbouring values, as ``np.diff``, in temporary memory."""
    return np.subtract(values[1:], values[:-1], out=allocate_temporary(max(len(values) - 1, 0)))

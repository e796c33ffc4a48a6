"""Large temporary arrays whose memory is returned to the operating system as soon as an array is no longer used.

The C allocator does not return freed blocks of up to 32 MB to the operating system; one column of a log of one hour at
1 kHz is smaller than that. To keep peak memory low for long logs, each of these arrays has its own memory mapping.
"""

from __future__ import annotations

import math
import mmap

import numpy as np

from ytheta.shapes import Float, Shaped


def allocate_temporary(count: int) -> Float[np.ndarray, "count"]:
    """Return an array of zeros that has its own memory mapping."""
    return allocate_like(np.zeros(0), (count,))


def allocate_like(array: Shaped[np.ndarray, "..."], shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
    """Return zeros of the same type as ``array`` that have their own memory mapping."""
    count = math.prod(shape)
    if count == 0:
        return np.zeros(shape, array.dtype)
    return np.frombuffer(mmap.mmap(-1, array.itemsize * count), dtype=array.dtype).reshape(shape)


def compute_steps(values: Float[np.ndarray, "samples"]) -> Float[np.ndarray, "steps"]:
    """Return the differences of neighbouring values as a temporary array; otherwise like ``np.diff``."""
    return np.subtract(values[1:], values[:-1], out=allocate_temporary(max(len(values) - 1, 0)))

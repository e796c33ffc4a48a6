"""Memory for kernels: arrays that begin at a cache line."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_MIN_ALIGNED_SIZE = 2**15  # doubles; for smaller arrays, alignment costs more time than it saves
_CACHE_LINE = 8  # doubles


def allocate_aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Return a new uninitialized array that begins at a cache line, which is also a multiple of the vector length."""
    count = math.prod(shape)
    raw = np.empty(count + _CACHE_LINE)
    first = -(_find_address(raw) // 8) % _CACHE_LINE
    return raw[first : first + count].reshape(shape)


def allocate_result(shape: tuple[int, ...]) -> np.ndarray:
    """Return a new uninitialized array; a large one begins at a cache line, which makes stores faster."""
    return np.empty(shape) if math.prod(shape) < _MIN_ALIGNED_SIZE else allocate_aligned(shape)


_map_bytes: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer


def _find_address(array: np.ndarray) -> int:
    """Return the address of a writable array by the buffer protocol, which is several times faster than ``ctypes``."""
    return ctypes.addressof(_map_bytes(array))

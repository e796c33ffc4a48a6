"""Memory for kernels: arrays aligned to cache lines, and a pool of reusable buffers."""

from __future__ import annotations

import ctypes
import math
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

_POOL_SIZE = 4  # the number of buffers that a pool keeps
_MIN_ALIGNED_SIZE = 2**15  # doubles; for smaller arrays, alignment costs more time than it saves
_CACHE_LINE = 8  # doubles


_address_of_buffer: Callable[[Any], int] = ctypes.addressof
_buffer_of: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer


def find_address(array: Any) -> int:
    """Return the address of an array's data; the buffer protocol is several times faster than ``array.ctypes``."""
    try:
        return _address_of_buffer(_buffer_of(array))
    except TypeError:  # not writable
        address: int = array.ctypes.data
        return address


def allocate_aligned_zeros(count: int) -> np.ndarray:
    """Return zeros at an address that is aligned to vector registers and cache lines."""
    raw = np.zeros(count + _CACHE_LINE)
    first = -(find_address(raw) // 8) % _CACHE_LINE
    return raw[first : first + count]


def allocate_result(shape: tuple[int, ...]) -> np.ndarray:
    """Return a new uninitialized array; a large one starts at a cache line, which makes stores faster."""
    count = math.prod(shape)
    if count < _MIN_ALIGNED_SIZE:
        return np.empty(shape)
    raw = np.empty(count + _CACHE_LINE)
    first = -(find_address(raw) // 8) % _CACHE_LINE
    return raw[first : first + count].reshape(shape)


def _count_references() -> int:
    """Return the reference count of an array that has exactly one view, as ``BufferPool.acquire`` measures it."""
    array = np.empty(2)[1:]
    return sys.getrefcount(array.base)


_REFERENCES_IF_UNUSED = _count_references()


class BufferPool:
    """Buffers of one size. A buffer is handed out again as soon as no array refers to it.

    New memory costs more time than a kernel needs to fill it, because the system clears every page on first access.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = (rows, columns)
        self._buffers: deque[tuple[np.ndarray, int]] = deque(maxlen=_POOL_SIZE)

    def acquire(self) -> tuple[np.ndarray, int]:
        """Return an array that nobody else uses, and its address; the array still contains old numbers."""
        for _ in range(len(self._buffers)):
            try:
                array, address = self._buffers.popleft()  # no other thread can acquire the buffer until it is put back
            except IndexError:
                break
            # All views, also views of views, refer to the one array that owns the memory.
            unused = sys.getrefcount(array.base) == _REFERENCES_IF_UNUSED
            view = array[:] if unused else array
            self._buffers.append((array, address))
            if unused:
                return view, address
        rows, columns = self._shape
        array = allocate_aligned_zeros(rows * columns).reshape(self._shape)
        view, address = array[:], find_address(array)
        self._buffers.append((array, address))  # after making the view, so that no other thread acquires the buffer
        return view, address

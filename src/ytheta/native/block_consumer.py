"""Block consumer: a function of machine code that takes the blocks of a kernel, one after the other.

The function is ``function(context, first, count, values, stride)``: value k of sample ``first + j`` is at
``values[k * stride + j]`` for j < ``count``. It may overwrite these values. It is called without Python's global lock,
so it must not use Python. The next block overwrites the values.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ytheta.shapes import NonzerosBySample

_INTEGER, _POINTER = ctypes.c_int64, ctypes.c_void_p
_FUNCTION = ctypes.CFUNCTYPE(None, _POINTER, _INTEGER, _INTEGER, _POINTER, _INTEGER)


@dataclass(frozen=True, eq=False)
class BlockConsumer:
    """The function and its context, both as addresses.

    The context is made for blocks of at least ``rows`` values per sample and for ``samples`` samples in total.
    ``memory`` is anything that must exist as long as the function may be called, above all the context.
    """

    function: int
    context: int
    rows: int
    samples: int
    memory: object

    def call(self, first: int, values: NonzerosBySample) -> None:
        """Call the function with one block, whose rows are arrays of adjacent doubles."""
        address, stride = values.ctypes.data, values.strides[0] // values.itemsize
        _FUNCTION(self.function)(self.context, first, values.shape[1], address, stride)

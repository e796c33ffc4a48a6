"""Machine: object code loaded into memory, and the calls into it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.native.lanes import LIBRARY
from ytheta.native.llvm import binding, target_machine

if TYPE_CHECKING:
    from ytheta.formulation.graph import Graph

_POINTER, _INTEGER = ctypes.c_void_p, ctypes.c_int64
# The result, then: inputs, first, last, out, stride, scratch
_ENTRY = (_INTEGER, _POINTER, _INTEGER, _INTEGER, _POINTER, _INTEGER, _POINTER)

_NOTHING = ctypes.c_char * 0


class _Single(partial[int]):
    """A call with a fixed first argument, as fast as Python has it, that keeps alive what the machine code uses."""

    kept: tuple[Any, ...]


class Machine:
    """The entries of the code (see ``tiles``), and a scratch buffer for every thread that calls them."""

    backend = "llvm"

    def __init__(self, code: bytes) -> None:
        llvm = binding()
        _find_library()
        # The code lives as long as the engine, so the engine is kept.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        dense, block, one = (self._engine.get_function_address(name) for name in ("dense", "block", "one"))
        size = self._engine.get_global_value_address("scratch")
        self._size = ctypes.c_int64.from_address(size).value
        entry = ctypes.CFUNCTYPE(*_ENTRY)
        self._dense, self._block = entry(dense), entry(block)
        # For one sample, giving the interpreter's lock away and taking it again would cost more than the work.
        self._one = ctypes.PYFUNCTYPE(_INTEGER, _POINTER, ctypes.c_char_p)(one)
        self._local = threading.local()

    def prepared(self, arrays: Sequence[np.ndarray]) -> Any:
        """The arrays in the form that the calls below take; they must stay alive."""
        return _pointers(arrays)

    def dense(self, prepared: Any, first: int, last: int, out: np.ndarray) -> bool:
        """Write samples first … last - 1 of ``out``; false if an input is not finite."""
        return not self._dense(prepared, first, last, address(out), 0, self._scratch())

    def block(self, prepared: Any, first: int, last: int, values: np.ndarray) -> bool:
        """Write the values of samples first … last - 1 to columns of ``values``; false if an input is not finite."""
        return not self._block(prepared, first, last, address(values), values.shape[1], self._scratch())

    def single(self, graph: Graph) -> tuple[np.ndarray, Callable[[bytes], int]]:
        """For one sample and one thread: where the result will be, and the call that puts it there.

        The call takes the bytes of all inputs one after the other; 1 if an input is not finite, else 0.
        """
        out, scratch = np.zeros(graph.shape), aligned(self._size)
        context = _pointers([out, scratch])
        run = _Single(self._one, ctypes.addressof(context))
        run.kept = (self, context, scratch)
        return out, run

    def _scratch(self) -> int:
        if not hasattr(self._local, "scratch"):
            self._local.scratch = aligned(self._size)
            self._local.place = address(self._local.scratch)
        place: int = self._local.place
        return place


def aligned(count: int) -> np.ndarray:
    """Zeros at an address that suits every vector register and every cache line."""
    raw = np.zeros(count + 8)
    first = -(address(raw) // 8) % 8
    return raw[first : first + count]


def address(array: Any) -> int:
    """Where an array begins; through its buffer, which is several times faster than ``array.ctypes``."""
    try:
        return ctypes.addressof(_NOTHING.from_buffer(array))
    except TypeError:  # not writable
        place: int = array.ctypes.data
        return place


def _pointers(arrays: Sequence[np.ndarray]) -> Any:
    return (ctypes.c_void_p * max(1, len(arrays)))(*map(address, arrays))


@cache
def _find_library() -> None:
    """Tell LLVM where the functions of the C library are, on systems where it does not find them itself."""
    llvm = binding()
    missing = [name for name in ("sin", "cos", *LIBRARY.values()) if llvm.address_of_symbol(name) is None]
    if missing:
        from ctypes.util import find_library

        library = ctypes.CDLL(find_library("m") or "ucrtbase")
        for name in missing:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)

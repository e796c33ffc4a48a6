"""Machine: object code loaded into memory, and the calls into it."""

from __future__ import annotations

import ctypes
import math
import struct
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.native.lanes import LIBRARY
from ytheta.native.llvm import binding, target_machine

if TYPE_CHECKING:
    from ytheta.formulation.graph import Graph

_DOUBLE = np.dtype(np.float64)
_SPARE = 2  # buffers kept for the next who needs one
_LARGE = 2**15  # doubles; fewer are written before an aligned place is found


@cache
def _words(count: int) -> Callable[..., bytes]:
    """What turns that many words into bytes."""
    return struct.Struct(f"{count}q").pack


_FOUR = _words(4)
_address_of: Callable[[Any], int] = ctypes.addressof
_begin_of: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer


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
        self._size, self.columns = (
            ctypes.c_int64.from_address(self._engine.get_global_value_address(name)).value
            for name in ("scratch", "columns")
        )
        # The words of a call as bytes: ctypes takes these several times faster than words one by one.
        self._dense, self._block = (ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(f) for f in (dense, block))
        # For one sample, giving the interpreter's lock away and taking it again would cost more than the work.
        self._one = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(one)
        self._local = threading.local()

    def prepared(self, arrays: Sequence[np.ndarray]) -> Any:
        """The arrays in the form that the calls below take; they must stay alive."""
        try:
            places = [_address_of(_begin_of(array)) for array in arrays]
        except TypeError:
            places = [address(array) for array in arrays]
        return _words(len(places))(*places)

    def dense(self, prepared: Any, first: int, last: int, out: np.ndarray) -> bool:
        """Write samples first … last - 1 of ``out``; false if an input is not finite."""
        return not self._dense(_FOUR(first, last, address(out), self._scratch()) + prepared)

    def writer(self, prepared: Any, _values: np.ndarray, place: int) -> Callable[[int, int], bool]:
        """What writes the values of samples first … last - 1 to the array of ``columns`` columns at ``place``.

        It gives false if an input is not finite. The array must stay alive.
        """
        run, scratch = self._block, self._scratch
        return lambda first, last: not run(_FOUR(first, last, place, scratch()) + prepared)

    def single(self, graph: Graph) -> tuple[np.ndarray, Callable[[bytes], int], bytes]:
        """For one sample and one thread: where the result will be, the call that puts it there, and its first words.

        The call takes these words and the bytes of all inputs one after the other; 1 if an input is not finite, else 0.
        It writes to the memory behind the result, scratch buffer included: the result must stay alive.
        """
        buffer = aligned(self._size + graph.size)
        out = buffer[self._size :].reshape(graph.shape)
        return out, self._one, _words(2)(address(out), address(buffer))

    def _scratch(self) -> int:
        try:
            place: int = self._local.place
        except AttributeError:
            self._local.scratch = aligned(self._size)
            place = self._local.place = address(self._local.scratch)
        return place


class Lender:
    """Buffers of one size, each lent again as soon as no array shows it any more.

    Fresh memory costs more than what a kernel writes to it: the system clears every page of it when first touched.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = (rows, columns)
        self._kind: Any = type("Shown", (ctypes.c_double * (rows * columns),), {})
        self._spare: list[tuple[np.ndarray, int]] = []
        self._lent: dict[int, tuple[weakref.ref[Any], np.ndarray, int]] = {}

    def lend(self) -> tuple[np.ndarray, int]:
        """An array that nobody else has, and where it begins; what it holds is left from before."""
        try:
            buffer, place = self._spare.pop()
        except IndexError:
            rows, columns = self._shape
            buffer = aligned(rows * columns)
            place = address(buffer)
        # Every view of the array that is given out keeps this object alive, and nothing else does.
        shown = self._kind.from_address(place)
        shown.buffer = buffer
        loan = weakref.ref(shown, self._take_back)
        self._lent[id(loan)] = loan, buffer, place
        return np.ndarray(self._shape, _DOUBLE, shown), place

    def _take_back(self, gone: weakref.ref[Any]) -> None:
        _, buffer, place = self._lent.pop(id(gone))
        if len(self._spare) < _SPARE:
            self._spare.append((buffer, place))


def aligned(count: int) -> np.ndarray:
    """Zeros at an address that suits every vector register and every cache line."""
    raw = np.zeros(count + 8)
    first = -(address(raw) // 8) % 8
    return raw[first : first + count]


def fresh(shape: tuple[int, ...]) -> np.ndarray:
    """A new array that is not cleared; if large, at the begin of a cache line: it takes longer to write across two."""
    count = math.prod(shape)
    if count < _LARGE:
        return np.empty(shape)
    raw = np.empty(count + 8)
    first = -(address(raw) // 8) % 8
    return raw[first : first + count].reshape(shape)


def address(array: Any) -> int:
    """Where an array begins; through its buffer, which is several times faster than ``array.ctypes``."""
    try:
        return _address_of(_begin_of(array))
    except TypeError:  # not writable
        place: int = array.ctypes.data
        return place


@cache
def _find_library() -> None:
    """Tell LLVM where the functions of the C library are, on systems where it does not find them itself."""
    llvm = binding()
    missing = [name for name in ("sin", "cos", *LIBRARY.values()) if llvm.address_of_symbol(name) is None]
    if missing:
        library = _library(missing)
        for name in missing:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


def _library(names: list[str]) -> ctypes.CDLL:
    try:
        own = ctypes.CDLL(None)  # what this process has loaded already; no search on disk
    except TypeError:  # Windows
        return ctypes.CDLL("ucrtbase")
    if all(hasattr(own, name) for name in names):
        return own
    from ctypes.util import find_library

    return ctypes.CDLL(find_library("m"))

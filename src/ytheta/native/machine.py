"""Machine: object code loaded into memory, and the calls into it."""

from __future__ import annotations

import ctypes
import math
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.native.codegen.array_access import find_fields
from ytheta.native.codegen.llvm import binding, target_machine
from ytheta.native.codegen.simd import LIBRARY

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_DOUBLE = np.dtype(np.float64)
_KEPT = 4  # buffers for those who need one
_LARGE = 2**15  # doubles; fewer are written before an aligned place is found


_THREE, _FIVE = struct.Struct("3q").pack, struct.Struct("5q").pack
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
        dense, block, look, one = map(self._engine.get_function_address, ("dense", "block", "look", "one"))
        self._size, self.columns = (
            ctypes.c_int64.from_address(self._engine.get_global_value_address(name)).value
            for name in ("scratch", "columns")
        )
        # The words of a call as bytes: ctypes takes these several times faster than words one by one.
        self._dense, self._block = (ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(f) for f in (dense, block))
        # For one sample, giving the interpreter's lock away and taking it again would cost more than the work.
        self._one = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(one)
        self._look = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.c_char_p)(look)
        kinds = self._engine.get_global_value_address("kinds")
        (ctypes.c_int64 * 2).from_address(kinds)[:] = list(find_fields())
        self._local = threading.local()

    def look(self, samples: int, out: Any, arrays: tuple[Any, ...]) -> bool:
        """Whether the arrays are plain (see ``objects``) and have that many samples, and ``out``, if any, fits them."""
        plain: bool = self._look(_THREE(samples, 0 if out is None else id(out), id(arrays)))
        return plain

    def dense(self, arrays: tuple[np.ndarray, ...], first: int, last: int, out: np.ndarray) -> bool:
        """Write samples first … last - 1 of ``out``; false if an input is not finite. The arrays must be plain."""
        return not self._dense(_FIVE(first, last, id(out), self._scratch(), id(arrays)))

    def writer(self, arrays: tuple[np.ndarray, ...], _values: np.ndarray, place: int) -> Callable[[int, int], bool]:
        """What writes the values of samples first … last - 1 to the array of ``columns`` columns at ``place``.

        It gives false if an input is not finite. The arrays must be plain, and all must stay alive.
        """
        run, scratch, inputs = self._block, self._scratch, id(arrays)
        return lambda first, last: not run(_FIVE(first, last, place, scratch(), inputs))

    def single(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]:
        """From the vectors of one sample to its result; nothing if they are not plain, not finite or not as many."""
        shape, run, local, empty, words = graph.shape, self._one, self._local, np.empty, _THREE

        def call(vectors: tuple[Any, ...]) -> np.ndarray | None:
            out = empty(shape)
            try:
                scratch = local.place
            except AttributeError:
                scratch = self._scratch()
            return None if run(words(id(out), scratch, id(vectors))) else out

        return call

    def _scratch(self) -> int:
        try:
            place: int = self._local.place
        except AttributeError:
            # A signal handler may come in between and make one too: what has an address is never let go.
            buffer = aligned(self._size)
            self._local.__dict__.setdefault("buffers", []).append(buffer)
            place = self._local.place = address(buffer)
        return place


def _references() -> int:
    """How many an array has that only one other shows, counted as below."""
    array = np.empty(2)[1:]
    return sys.getrefcount(array.base)


_UNSEEN = _references()


class Lender:
    """Buffers of one size, each lent again as soon as no array shows it any more.

    Fresh memory costs more than what a kernel writes to it: the system clears every page of it when first touched.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = (rows, columns)
        self._kept: deque[tuple[np.ndarray, int]] = deque(maxlen=_KEPT)

    def lend(self) -> tuple[np.ndarray, int]:
        """An array that nobody else has, and where it begins; what it holds is left from before."""
        for _ in range(len(self._kept)):
            try:
                array, place = self._kept.popleft()  # nobody else finds it until it is put back
            except IndexError:
                break
            # Every view of a view refers to the one array that owns the memory.
            unseen = sys.getrefcount(array.base) == _UNSEEN
            shown = array[:] if unseen else array
            self._kept.append((array, place))
            if unseen:
                return shown, place
        rows, columns = self._shape
        array = aligned(rows * columns).reshape(self._shape)
        shown, place = array[:], address(array)
        self._kept.append((array, place))  # only now: another thread would take it for unseen
        return shown, place


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

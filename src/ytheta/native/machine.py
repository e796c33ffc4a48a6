"""Machine: object code loaded into memory, and the calls into it."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.native.buffers import allocate_aligned_zeros, find_address
from ytheta.native.codegen.array_access import find_type_addresses
from ytheta.native.codegen.llvm import create_target_machine, load_llvm
from ytheta.native.codegen.simd import C_FUNCTIONS

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_pack_three_words, _pack_five_words = struct.Struct("3q").pack, struct.Struct("5q").pack


class Machine:
    """The entry points of the code (see ``codegen.tiles``), and one scratch buffer per calling thread."""

    backend = "llvm"

    def __init__(self, code: bytes) -> None:
        llvm = load_llvm()
        _register_c_functions()
        # The code stays in memory as long as the engine exists, so the engine is kept.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), create_target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        dense, block, fits, one = map(self._engine.get_function_address, ("dense", "block", "fits", "one"))
        self._scratch_size, self.columns = (
            ctypes.c_int64.from_address(self._engine.get_global_value_address(name)).value
            for name in ("scratch", "columns")
        )
        # The arguments of a call are passed as one bytes object: ctypes converts it several times faster than integers.
        self._dense, self._block = (ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(f) for f in (dense, block))
        # PYFUNCTYPE keeps Python's global lock: for one sample, releasing it would cost more than the computation.
        self._one = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(one)
        self._fits = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.c_char_p)(fits)
        types = self._engine.get_global_value_address("types")
        (ctypes.c_int64 * 2).from_address(types)[:] = list(find_type_addresses())
        self._local = threading.local()

    def fits(self, samples: int, out: Any, arrays: tuple[Any, ...]) -> bool:
        """Whether all arrays are plain (see ``codegen.array_access``) and have this many samples.

        If ``out`` is not None, it must be a plain array of the shape of the results.
        """
        fit: bool = self._fits(_pack_three_words(samples, 0 if out is None else id(out), id(arrays)))
        return fit

    def write_dense(self, arrays: tuple[np.ndarray, ...], first: int, last: int, out: np.ndarray) -> bool:
        """Write the samples ``first`` to ``last - 1`` to ``out``; return False if an input is not finite.

        The arrays must be plain.
        """
        return not self._dense(_pack_five_words(first, last, id(out), self._find_scratch(), id(arrays)))

    def make_block_writer(
        self, arrays: tuple[np.ndarray, ...], _values: np.ndarray, address: int
    ) -> Callable[[int, int], bool]:
        """Return a function of ``first`` and ``last`` that writes a block of samples to the array at ``address``.

        It writes the samples ``first`` to ``last - 1``. The array has ``columns`` columns. The function returns False
        if an input is not finite. The inputs must be plain, and all arrays must stay alive.
        """
        run, scratch, inputs = self._block, self._find_scratch, id(arrays)
        return lambda first, last: not run(_pack_five_words(first, last, address, scratch(), inputs))

    def make_sample_function(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]:
        """Return a function from the vectors of one sample to its array.

        It returns None if a vector is not plain or not finite, or if the number of vectors is wrong.
        """
        shape, run, local, empty, pack = graph.shape, self._one, self._local, np.empty, _pack_three_words

        def call(vectors: tuple[Any, ...]) -> np.ndarray | None:
            out = empty(shape)
            try:
                scratch = local.address
            except AttributeError:
                scratch = self._find_scratch()
            return None if run(pack(id(out), scratch, id(vectors))) else out

        return call

    def _find_scratch(self) -> int:
        """Return the address of this thread's scratch buffer; the first call allocates the buffer."""
        try:
            address: int = self._local.address
        except AttributeError:
            # A signal handler may interrupt these lines and allocate a buffer too: keep both, since both are in use.
            buffer = allocate_aligned_zeros(self._scratch_size)
            self._local.__dict__.setdefault("buffers", []).append(buffer)
            address = self._local.address = find_address(buffer)
        return address


@cache
def _register_c_functions() -> None:
    """Register the addresses of C library functions that LLVM does not find by itself on some systems."""
    llvm = load_llvm()
    missing = [name for name in ("sin", "cos", *C_FUNCTIONS.values()) if llvm.address_of_symbol(name) is None]
    if missing:
        library = _load_c_library(missing)
        for name in missing:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


def _load_c_library(names: list[str]) -> ctypes.CDLL:
    try:
        process = ctypes.CDLL(None)  # libraries that this process has already loaded; no search on disk
    except TypeError:  # Windows
        return ctypes.CDLL("ucrtbase")
    if all(hasattr(process, name) for name in names):
        return process
    from ctypes.util import find_library

    return ctypes.CDLL(find_library("m"))

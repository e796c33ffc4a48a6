"""Machine: object code loaded into memory, and the calls into it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.native.block_consumer import BlockConsumer
from ytheta.native.code_memory import CodeMemory, hide_from_collector
from ytheta.native.codegen.llvm import create_target_machine, load_llvm
from ytheta.native.codegen.python_abi import ENTRY_POINTS, PYTHON_FUNCTIONS
from ytheta.native.codegen.simd import C_FUNCTIONS

_METH_FASTCALL = 0x80  # the arguments are passed as a C array and its length


class Machine:
    """The entry points of the code (see ``codegen.entry_points``), and one scratch buffer per calling thread.

    A block has at most ``block_samples`` samples; the array that it is written to has ``columns`` columns.
    """

    backend = "llvm"

    def __init__(self, code: bytes) -> None:
        llvm = load_llvm()
        _register_functions()
        CodeMemory.release_unused()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), create_target_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self._scratch_bytes, self.columns, self.block_samples = (
            ctypes.c_int64.from_address(engine.get_global_value_address(name)).value
            for name in ("scratch", "columns", "block_samples")
        )
        memory = CodeMemory(engine)
        self._one, self._dense, self._block, self._feed = (
            _make_function(name, engine.get_function_address(name), memory) for name in ENTRY_POINTS
        )
        self._local = threading.local()

    def write_one(self, vectors: tuple[Any, ...], out: np.ndarray) -> int:
        """Write the array of one sample to ``out``; return an ``Outcome``."""
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._one(scratch, out, *vectors)

    def write_dense(self, arrays: tuple[Any, ...], first: int, last: int, out: Any) -> int:
        """Write the samples ``first`` to ``last - 1`` to their places in ``out``; return an ``Outcome``.

        ``out`` is the array of the results of all samples.
        """
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._dense(scratch, out, first, last, *arrays)

    def write_block(self, arrays: tuple[Any, ...], first: int, last: int, values: np.ndarray) -> int:
        """Write the nonzeros of the samples ``first`` to ``last - 1`` to successive columns of ``values``.

        Return the first of these columns, or an ``Outcome``, which is negative. If ``first`` equals ``last``, the
        arguments are only checked.
        """
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._block(scratch, values, first, last, *arrays)

    def feed(self, arrays: tuple[Any, ...], consumer: BlockConsumer) -> int:
        """Pass the blocks of all samples to the consumer, in order; return an ``Outcome``.

        There must be as many samples as the consumer expects.
        """
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._feed(scratch, consumer.samples, consumer.function, consumer.context, *arrays)

    def _allocate_scratch(self) -> bytearray:
        """Return a new scratch buffer of this thread."""
        scratch = self._local.scratch = bytearray(self._scratch_bytes)
        return scratch


class _MethodDefinition(ctypes.Structure):
    """The struct PyMethodDef of Python's stable ABI."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _make_function(name: str, address: int, memory: CodeMemory) -> Callable[..., int]:
    """Return an entry point as a built-in function of Python; calls through ctypes would take several times longer."""
    definition = _MethodDefinition(name.encode(), address, _METH_FASTCALL, None)
    # The first argument of the entry point; the function keeps it, and so its own definition and code.
    context = (np.ndarray, hide_from_collector(definition, memory))
    # A prototype of its own: the attributes of ctypes.pythonapi are shared with all other libraries.
    kinds = (ctypes.POINTER(_MethodDefinition), ctypes.py_object, ctypes.py_object)
    create = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(("PyCFunction_NewEx", ctypes.pythonapi))
    function: Callable[..., int] = create(definition, context, None)
    return function


@cache
def check_python() -> None:
    """Raise an InputError if machine code cannot be used with this Python."""
    names = (*PYTHON_FUNCTIONS, "PyCFunction_NewEx")
    if ctypes.sizeof(ctypes.c_void_p) != 8 or not all(hasattr(ctypes.pythonapi, name) for name in names):
        raise InputError(
            'machine code needs a 64-bit Python with the stable ABI of CPython 3.11; compile with backend="interpreter"'
        )


@cache
def _register_functions() -> None:
    """Register the addresses of Python's functions, and of C functions that LLVM does not find on some systems."""
    check_python()
    llvm = load_llvm()
    for name in PYTHON_FUNCTIONS:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
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

"""Compilation of graphs into kernels, with a cache in memory and one on disk.

``Machine`` loads object code into memory and calls it; ``CodeMemory`` releases this memory after the last call.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.native import cache as disk
from ytheta.native.cache import RecentValues
from ytheta.native.codegen.llvm import create_target_machine, detect_host, emit_object, load_llvm
from ytheta.native.codegen.python_abi import ENTRY_POINTS, PYTHON_FUNCTIONS
from ytheta.native.codegen.simd import C_FUNCTIONS
from ytheta.native.fingerprint import fingerprint_sources
from ytheta.native.graph import check_function
from ytheta.native.kernel import BlockConsumer, Kernel

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

BACKENDS = ("llvm", "interpreter")

# The same graphs are often compiled again.
_machines: RecentValues[Machine] = RecentValues(kept=64)


def compile_graph(graph: Graph, *, backend: str = "llvm", cache: bool = True) -> Kernel:
    """Return the kernel of a graph.

    ``backend`` is "llvm" (machine code) or "interpreter" (CasADi's own evaluation, the reference). Machine code is
    reused if this process or the cache on disk already has it; ``cache=False`` always compiles.
    """
    start = time.perf_counter()
    if backend == "interpreter":
        from ytheta.native.interpreter import Interpreter  # imported here, since machine code does not need it

        check_function(graph)
        runner = Interpreter(graph)
        return Kernel(graph, runner, cpu="", lanes=1, origin="interpreted", seconds=time.perf_counter() - start)
    if backend != "llvm":
        raise UnknownNameError(f"there is no backend {backend!r}{suggest_names(backend, BACKENDS)}")
    check_python()
    with LLVM_LOCK:
        machine, origin = _load_machine(graph, cache=cache)
    host = detect_host()
    return Kernel(graph, machine, cpu=host.cpu, lanes=host.lanes, origin=origin, seconds=time.perf_counter() - start)


def _load_machine(graph: Graph, *, cache: bool) -> tuple[Machine, str]:
    """Return the machine code of a graph, and its origin: "memory", "disk" or "compiled"."""
    if not cache:
        return Machine(emit_object(graph)), "compiled"
    sources = fingerprint_sources("native")  # a version number could be left unchanged by mistake
    key = disk.make_key(graph.digest, "llvm", detect_host().fingerprint, sources or "")
    machine, origin = _machines.find(key), "memory"
    if machine is None:
        # If it is not known which sources this process runs, its code must not be mixed with that of other processes.
        code, origin = disk.read(key) if sources else None, "disk"
        if code is None:
            code, origin = emit_object(graph), "compiled"
            if sources and fingerprint_sources("native") == sources:  # nothing was changed during the compilation
                disk.write(key, code)
        machine = Machine(code)
        _machines.store(key, machine)
    return machine, origin


# Machine: object code loaded into memory, and the calls into it.


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
        """Write the array of one sample to ``out``; return a ``KernelOutcome``."""
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._one(scratch, out, *vectors)

    def write_dense(self, arrays: tuple[Any, ...], first: int, last: int, out: Any) -> int:
        """Write the samples ``first`` to ``last - 1`` to their places in ``out``; return a ``KernelOutcome``.

        ``out`` is the array of the results of all samples.
        """
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._dense(scratch, out, first, last, *arrays)

    def write_block(self, arrays: tuple[Any, ...], first: int, last: int, values: np.ndarray) -> int:
        """Write the nonzeros of the samples ``first`` to ``last - 1`` to successive columns of ``values``.

        Return the first of these columns, or a ``KernelOutcome``, which is negative. If ``first`` equals ``last``, the
        arguments are only checked.
        """
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._allocate_scratch()
        return self._block(scratch, values, first, last, *arrays)

    def feed(self, arrays: tuple[Any, ...], consumer: BlockConsumer) -> int:
        """Pass the blocks of all samples to the consumer, in order; return a ``KernelOutcome``.

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


# Memory of machine code: it is released after the last call, and not while another thread compiles or forks.


# Held during every use of LLVM. A finalizer may interrupt a compilation and compile or fork itself; therefore the lock
# is reentrant.
LLVM_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):  # this function does not exist on every system
    # A fork waits for other threads. Else the child would inherit a lock of LLVM that nobody unlocks.
    os.register_at_fork(before=LLVM_LOCK.acquire, after_in_parent=LLVM_LOCK.release, after_in_child=LLVM_LOCK.release)

_never_released: list[np.ndarray] = []


class CodeMemory:
    """The memory of LLVM's engine, which is released when the last reference to this object is gone.

    If another thread uses LLVM or forks at that time, the memory is released at the next compilation. A finalizer must
    not wait for the lock: the other thread may wait for something that this thread holds, such as a module's import.
    """

    # Attributes of the class, since variables of the module may be gone when the interpreter ends.
    _lock = LLVM_LOCK
    _unused: ClassVar[deque[Any]] = deque()

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __del__(self) -> None:
        self._unused.append(self._engine)
        del self._engine
        self.release_unused()

    @classmethod
    def release_unused(cls) -> None:
        """Release memory that is not used any more, unless another thread uses LLVM."""
        if cls._lock.acquire(blocking=False):
            try:
                cls._unused.clear()
            finally:
                cls._lock.release()


def hide_from_collector(*values: object) -> np.ndarray:
    """Return an array that keeps the values where the garbage collector does not find them.

    If a function is part of a reference cycle, the collector calls the finalizers of everything that it finds in the
    cycle, in any order. It must not find the code: another finalizer may still call the function, or make it reachable
    again. NumPy's arrays of objects do not take part in garbage collection, so the values are released only after the
    function. If a future NumPy changes this, they are never released.
    """
    hidden = np.empty(1, dtype=object)
    hidden[0] = values
    if gc.is_tracked(hidden):
        _never_released.append(hidden)
    return hidden

"""Graph → Kernel."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ytheta.errors import UnknownNameError, suggest_names
from ytheta.native import cache as disk
from ytheta.native.codegen.array_access import find_fields
from ytheta.native.codegen.llvm import host, object_code
from ytheta.native.codegen.program import check_function
from ytheta.native.interpreter import Interpreter
from ytheta.native.kernel import Kernel
from ytheta.native.machine import Machine

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

BACKENDS = ("llvm", "interpreter")

# Machine code of this process: alive while a kernel uses it, and a while longer for what is asked for again and again.
_loaded: WeakValueDictionary[bytes, Machine] = WeakValueDictionary()
_recent: deque[Machine] = deque(maxlen=64)
_working = threading.Lock()


def _begin_anew() -> None:
    """In a child of a process one of whose threads was compiling: nobody is left to open the lock."""
    global _working
    _working = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on every system
    os.register_at_fork(after_in_child=_begin_anew)


def compile_graph(graph: Graph, *, backend: str = "llvm", cache: bool = True) -> Kernel:
    """The kernel of a graph.

    ``backend`` is "llvm" (machine code) or "interpreter" (CasADi's own evaluation, the reference). Machine code that is
    there already, in this process or in the cache on disk, is taken; ``cache=False`` always compiles.
    """
    began = time.perf_counter()
    check_function(graph)
    if backend == "interpreter":
        runner = Interpreter(graph)
        return Kernel(graph, runner, cpu="", lanes=1, origin="interpreted", seconds=time.perf_counter() - began)
    if backend != "llvm":
        raise UnknownNameError(f"there is no backend {backend!r}{suggest_names(backend, BACKENDS)}")
    find_fields()  # says at once where machine code cannot be used
    with _working:
        machine, origin = _machine(graph, cache=cache)
    cpu, lanes = host().cpu, host().lanes
    return Kernel(graph, machine, cpu=cpu, lanes=lanes, origin=origin, seconds=time.perf_counter() - began)


def _machine(graph: Graph, *, cache: bool) -> tuple[Machine, str]:
    if not cache:
        return Machine(object_code(graph)), "compiled"
    name = disk.key(graph.digest, "llvm", host().fingerprint)
    machine, origin = _loaded.get(name), "memory"
    if machine is None:
        code, origin = disk.read(name), "disk"
        if code is None:
            code, origin = object_code(graph), "compiled"
            disk.write(name, code)
        machine = Machine(code)
    _loaded[name] = machine
    _recent.append(machine)
    return machine, origin

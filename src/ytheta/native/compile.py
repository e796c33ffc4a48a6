"""Compilation of graphs into kernels, with a cache in memory and one on disk."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ytheta.errors import UnknownNameError, suggest_names
from ytheta.files.fingerprint import fingerprint_sources
from ytheta.native import cache as disk
from ytheta.native.code_memory import LLVM_LOCK
from ytheta.native.codegen.llvm import detect_host, emit_object
from ytheta.native.kernel import Kernel
from ytheta.native.machine import Machine, check_python
from ytheta.native.recent import RecentValues

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
        from ytheta.native.codegen.program import check_function  # imported here, since machine code does not need it
        from ytheta.native.interpreter import Interpreter

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

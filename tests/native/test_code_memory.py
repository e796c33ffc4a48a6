"""Memory of machine code: finalizers that call kernels, and forks while other threads compile."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

from tests.support.kernel_graphs import linear_graph
from ytheta.native import compile_graph
from ytheta.native.codegen.python_abi import ENTRY_POINTS
from ytheta.native.compile import LLVM_LOCK

FINALIZER = """
import gc
import numpy as np
from tests.support.kernel_graphs import linear_graph
from ytheta.native import compile_graph
from ytheta.native import compile as native_compile

if {tracked}:  # as if arrays took part in garbage collection
    native_compile.gc = type("Gc", (), dict(is_tracked=lambda _: True))
saved = []

class User:
    def __del__(self):
        print(self.kernel.one(np.array([2.0, 3.0])).tolist())
        saved.append(self.kernel)

def make_cycle():
    kernel = compile_graph(linear_graph(3), cache=False)
    user = User()
    user.kernel, user.self = kernel, user

make_cycle()
gc.collect()
print(saved.pop().one(np.array([2.0, 3.0])).tolist(), len(native_compile._never_released))
"""


@pytest.mark.parametrize("tracked", [False, True])
def test_a_finalizer_in_a_reference_cycle_may_call_and_save_a_kernel(tracked: bool) -> None:
    """The garbage collector finalizes the objects of a cycle in any order; the code must not be among them."""
    script = FINALIZER.format(tracked=tracked)
    process = subprocess.run([sys.executable, "-X", "dev", "-c", script], capture_output=True, text=True, timeout=60)
    expected = f"[2.0, 5.0, 8.0]\n[2.0, 5.0, 8.0] {len(ENTRY_POINTS) if tracked else 0}\n"
    assert (process.returncode, process.stdout) == (0, expected), process.stderr


def compile_and_observe() -> tuple[list[Any], weakref.ref[object]]:
    """Return the machine of a new kernel in a reference cycle, and a reference to the engine that owns its code."""
    runner: Any = compile_graph(linear_graph(5), cache=False)._runner
    cycle: list[Any] = [runner]
    cycle.append(cycle)
    _, hidden = runner._one.__self__
    assert not gc.is_tracked(hidden)
    return cycle, weakref.ref(hidden[0][1]._engine)


def test_code_is_released_with_its_kernel() -> None:
    cycle, engine = compile_and_observe()
    gc.collect()
    assert engine() is not None
    del cycle
    gc.collect()
    assert engine() is None


def test_code_is_not_released_while_another_thread_uses_llvm() -> None:
    """A fork that waits for the other thread would come in the middle of the release."""
    cycle, engine = compile_and_observe()
    started, done = threading.Event(), threading.Event()

    def use_llvm() -> None:
        with LLVM_LOCK:
            started.set()
            done.wait()

    thread = threading.Thread(target=use_llvm)
    thread.start()
    started.wait()
    del cycle
    gc.collect()
    assert engine() is not None
    done.set()
    thread.join()
    compile_graph(linear_graph(5), cache=False)
    assert engine() is None


FORK = """
import os, signal, threading, time
from tests.support.kernel_graphs import planar_chain
from ytheta.native import compile_graph, compile as module

emit, started, finished = module.emit_object, threading.Event(), []

def fork(check):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if check() else 1)
    return os.waitpid(child, 0)[1]

def emit_slowly(graph):
    code = emit(graph)
    started.set()
    time.sleep(0.2)
    finished.append(True)
    return code

def emit_and_fork(graph):
    print(fork(lambda: True))
    return emit(graph)

module.emit_object = emit_slowly
thread = threading.Thread(target=compile_graph, args=(planar_chain(2),))
thread.start()
started.wait()
print(fork(lambda: finished and compile_graph(planar_chain(3), cache=False)))
thread.join()
module.emit_object = emit_and_fork
compile_graph(planar_chain(2), cache=False)
print(compile_graph(planar_chain(2)).about.origin)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_for_the_compilation_of_another_thread() -> None:
    """Else a lock of LLVM would stay locked in the child. A thread that compiles may fork without waiting."""
    command = [sys.executable, "-c", FORK]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stdout.split()) == (0, ["0", "0", "memory"]), process.stderr

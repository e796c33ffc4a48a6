"""Memory of machine code: it is released after the last call, and not while another thread compiles or forks."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from typing import Any, ClassVar

import numpy as np

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

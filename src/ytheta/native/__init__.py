"""Compilation of a Graph into a Kernel: machine code for batches of samples, or CasADi's interpreter as the reference.

``compile_graph(graph)`` returns a Kernel. Importing this package does not load LLVM and CasADi, because loading
them takes longer than most commands run. The first compilation loads them.
"""

from __future__ import annotations

from ytheta.native.compile import compile_graph
from ytheta.native.graph import Operations, count_operations
from ytheta.native.kernel import About, Block, Kernel

__all__ = ["About", "Block", "Kernel", "Operations", "compile_graph", "count_operations"]

"""Compilation of a Graph into a Kernel: machine code for batches of samples, or CasADi's interpreter as the reference.

``compile_graph(graph)`` returns a Kernel. This package does not import LLVM and CasADi; the first compilation does,
because both take longer to load than most commands run.
"""

from __future__ import annotations

from ytheta.native.compile import compile_graph
from ytheta.native.kernel import About, Block, Kernel
from ytheta.native.operations import Operations, count_operations

__all__ = ["About", "Block", "Kernel", "Operations", "compile_graph", "count_operations"]

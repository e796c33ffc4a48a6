"""A kernel as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ytheta.dynamics.kernels import AnyKernel


def summarize_kernel(kernel: AnyKernel) -> dict[str, Any]:
    """Return the interface of a kernel, its operations, and how it was made.

    Shapes are those of one sample. An input that is ``shared`` is the same for all samples.
    """
    graph, about = kernel.graph, kernel.about
    return {
        "name": graph.name,
        "made_from": graph.made_from,
        "inputs": [{"name": entry.name, "size": entry.size, "shared": entry.shared} for entry in graph.inputs],
        "shape": list(graph.shape),
        "nonzeros": len(graph.places),
        **asdict(about),
        "operations": {**asdict(about.operations), "total": about.operations.total},
    }

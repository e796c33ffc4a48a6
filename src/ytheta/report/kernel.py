"""A kernel for a terminal, and as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ytheta.report.terminal import make_table, safe_text

if TYPE_CHECKING:
    from rich.console import Console

    from ytheta.dynamics.kernels import AnyKernel

_DIGEST_LENGTH = 16  # characters; the whole digest is in ``about``
_OPERATIONS = {
    "multiplications": "multiplications",
    "additions": "additions",
    "divisions": "divisions",
    "negations": "negations",
    "trigonometric": "trigonometric functions",
    "other": "others",
}
_ORIGINS = {
    "compiled": "compiled now",
    "disk": "compiled before, from the cache on disk",
    "memory": "compiled before, in this process",
    "interpreted": "not compiled",
}


def print_kernel(console: Console, kernel: AnyKernel) -> None:
    """Print inputs and output, operations, and how the kernel was made."""
    table = make_table()
    table.add_column("kernel", no_wrap=True)
    table.add_column(safe_text(kernel.graph.made_from or kernel.graph.name))
    for name, value in _describe(summarize_kernel(kernel)):
        table.add_row(safe_text(name), safe_text(value))
    console.print(table)


def _describe(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in data["inputs"]:
        shape = f"({entry['size']},), the same for all samples" if entry["shared"] else f"(samples, {entry['size']})"
        yield f"input {entry['name']}", shape
    lengths, entries = ", ".join(map(str, ["samples", *data["shape"]])), math.prod(data["shape"])
    yield "output", f"({lengths}), {data['nonzeros']} structural nonzeros of {entries} entries"
    counts = [(data["operations"][key], words) for key, words in _OPERATIONS.items()]
    yield "operations", ", ".join(f"{count} {words}" for count, words in counts if count) or "none"
    processor = f" for {data['cpu']}, {data['lanes']} samples at a time" if data["cpu"] else ""
    yield "backend", f"{data['backend']}{processor}"
    yield "origin", f"{_ORIGINS[data['origin']]} ({data['seconds']:.2g} s)"
    yield "digest", data["digest"][:_DIGEST_LENGTH]


# A kernel as plain data.


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

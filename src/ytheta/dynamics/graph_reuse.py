"""Reuse of traced graphs: a graph is found again by a fingerprint of everything that determines it.

These are the robot with all its numbers, the function that traces the graph and its options, the versions of CasADi and
NumPy, and the sources of all packages that take part in tracing. So a kernel that is in the cache needs no tracing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np

from ytheta.files.fingerprint import fingerprint, fingerprint_sources
from ytheta.native.cache import make_key
from ytheta.native.graph import Graph
from ytheta.native.graph_cache import find_graph, store_graph

# All packages and modules that are loaded while a graph is traced, relative to ytheta.
TRACING_SOURCES = (
    "conventions.py",
    "display.py",
    "dynamics",
    "engine",
    "errors.py",
    "files",
    "findings.py",
    "native",
    "robot",
    "shapes.py",
)

Arguments = ParamSpec("Arguments")


def reuse_traced_graph(trace_graph: Callable[Arguments, Graph]) -> Callable[Arguments, Graph]:
    """Decorate a function from a robot and options to a graph, so that it is not called again for the same arguments.

    If the sources that this process runs are not known, graphs are kept in the memory of this process only.
    """
    signature = inspect.signature(trace_graph)

    @wraps(trace_graph)
    def find_or_trace(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Graph:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        sources = fingerprint_sources(*TRACING_SOURCES)
        key = make_key(trace_graph.__qualname__, fingerprint(bound.arguments), _describe_versions(), sources or "")
        graph = find_graph(key, on_disk=sources is not None)
        if graph is None:
            graph = trace_graph(*args, **kwargs)
            store_graph(key, graph, on_disk=sources is not None)
        return graph

    return find_or_trace


def _describe_versions() -> str:
    import casadi

    return f"CasADi {casadi.CasadiMeta.version()}, NumPy {np.__version__}"

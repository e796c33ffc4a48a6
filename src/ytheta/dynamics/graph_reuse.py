"""Reuse of traced graphs: a graph is found again by a fingerprint of everything that determines it.

These are the robot with all its numbers, the function that traces the graph and its options, the versions of CasADi and
NumPy, and the sources of all packages that take part in tracing. So a kernel that is in the cache needs no tracing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ParamSpec

import numpy as np

from ytheta.files.fingerprint import NoFingerprintError, fingerprint, fingerprint_sources
from ytheta.native.cache import find_graph, make_key, store_graph
from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot, check_is_robot

# All packages and modules that are loaded while a graph is traced, relative to ytheta.
TRACING_SOURCES = (
    "arguments.py",
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

    If the sources that this process runs are not known, or if an argument has no fingerprint, nothing is reused.
    """
    signature = inspect.signature(trace_graph)

    @wraps(trace_graph)
    def find_or_call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Graph:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _find_or_call(trace_graph.__name__, bound.arguments, lambda: trace_graph(*args, **kwargs))

    return find_or_call


def find_or_trace(name: str, robot: Robot, **options: Any) -> Graph:
    """Return the graph that the function ``name`` of ``dynamics.graphs`` traces; all its options must be given.

    The formulations and everything else that traces graphs are imported only if the graph is not in the cache.
    """
    check_is_robot(robot)

    def trace_graph() -> Graph:
        graph: Graph = getattr(import_module("ytheta.dynamics.graphs"), name).__wrapped__(robot, **options)
        return graph

    return _find_or_call(name, {"robot": robot, **options}, trace_graph)


def _find_or_call(name: str, arguments: Mapping[str, Any], trace_graph: Callable[[], Graph]) -> Graph:
    sources = fingerprint_sources(*TRACING_SOURCES)
    if sources is None:
        return trace_graph()
    try:
        values = fingerprint(sorted(arguments.items()))
    except NoFingerprintError:
        return trace_graph()
    key = make_key(name, values, describe_versions(), sources)
    graph = find_graph(key)
    if graph is None:
        graph = trace_graph()
        if fingerprint_sources(*TRACING_SOURCES) == sources:  # nothing was changed while the graph was traced
            store_graph(key, graph)
    return graph


@cache
def describe_versions() -> str:
    """Return the versions of the libraries whose results enter a graph."""
    try:
        casadi_version = version("casadi")  # CasADi itself is not loaded, since kernels from the cache do not need it
    except PackageNotFoundError:  # some distributions install it without this metadata
        import casadi

        casadi_version = casadi.CasadiMeta.version()
    python = ".".join(map(str, sys.version_info[:2]))
    return f"Python {python}, CasADi {casadi_version}, NumPy {np.__version__}"

"""Small graphs for tests of native code, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np

from ytheta.native.graph import Graph, Input, trace

EPS = float(np.finfo(float).eps)


def elementwise(function: Callable[..., Any], count: int = 1, size: int = 6) -> Graph:
    """The graph that applies a function to the elements of its inputs."""
    symbols = [casadi.SX.sym(f"x{k}", size) for k in range(count)]
    output = np.array([function(*(s[i] for s in symbols)) for i in range(size)], dtype=object)
    return trace("elementwise", [(Input(f"x{k}", size), s) for k, s in enumerate(symbols)], output)


def planar_chain(links: int) -> Graph:
    """Inverse dynamics of a planar arm of unit links with unit masses at their ends; gravity is a shared input.

    With absolute angles a_i = q_1 + … + q_i the force along a_i is
    sum_j c_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) + c_ii g cos(a_i), with c_ij = links - max(i, j).
    """
    q, qd, qdd = (casadi.SX.sym(name, links) for name in ("q", "qd", "qdd"))
    g = casadi.SX.sym("g", 1)
    angle, rate, gain = (casadi.cumsum(symbols) for symbols in (q, qd, qdd))
    forces = []
    for i in range(links):
        force = (links - i) * g * casadi.cos(angle[i])
        for j in range(links):
            turn = angle[i] - angle[j]
            force += (links - max(i, j)) * (casadi.cos(turn) * gain[j] + casadi.sin(turn) * rate[j] ** 2)
        forces.append(force)
    inputs = [(Input(name, links), x) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))]
    torques = np.array([sum(forces[k:]) for k in range(links)], dtype=object)
    return trace("chain", [*inputs, (Input("g", 1, shared=True), g)], torques)


def sparse_graph() -> Graph:
    """A 3 x 5 array with eight entries: computed ones, a constant, an input, one value twice."""
    x, y, p = casadi.SX.sym("x", 3), casadi.SX.sym("y", 2), casadi.SX.sym("p", 2)
    out = np.zeros((3, 5), dtype=object)
    out[0, 1], out[0, 4] = x[0] * y[1] + p[0], casadi.sin(x[1])
    out[1, 0], out[1, 2], out[1, 3] = x[2], 2.5, casadi.sin(x[1])
    out[2, 0], out[2, 2], out[2, 4] = p[1], x[0] - y[0], casadi.cos(x[1]) / (2 + x[2] ** 2)
    return trace("sparse", [(Input("x", 3), x), (Input("y", 2), y), (Input("p", 2, shared=True), p)], out)


def draw_inputs(graph: Graph, samples: int, seed: int = 0, scale: float = 3.0) -> list[np.ndarray]:
    """Uniform random inputs."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-scale, scale, (i.size,) if i.shared else (samples, i.size)) for i in graph.inputs]


def chain_tolerance(links: int) -> float:
    """A torque is a sum of links^2 terms of size links * 3 * (3 links)^2 at most, each rounded a few times."""
    return 10 * EPS * links**2 * links * 3 * (3 * links) ** 2


def linear_graph(rows: int, *, every: int = 1, size: int = 2) -> Graph:
    """A vector whose entry k is x_0 + k x_1 if k is a multiple of ``every``, else a structural zero."""
    x = casadi.SX.sym("x", size)
    out = np.zeros(rows, dtype=object)
    for k in range(0, rows, every):
        out[k] = x[0] + k * x[size - 1]
    return trace("linear", [(Input("x", size), x)], out)


def linear_result(x: np.ndarray, rows: int, every: int = 1) -> np.ndarray:
    """The result of ``linear_graph`` by NumPy."""
    result = x[:, :1] + np.arange(rows) * x[:, -1:]
    result[:, np.arange(rows) % every != 0] = 0.0
    return result


def integer_inputs(samples: int, size: int = 2) -> np.ndarray:
    """Random integers: their sums and products are exact in any order, fused or not."""
    return np.random.default_rng(samples).integers(-99, 99, (samples, size)).astype(float)

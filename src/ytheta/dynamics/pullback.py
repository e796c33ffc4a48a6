"""Derivatives of regressors and torques by reverse-mode differentiation: the gradient of a weighted sum of entries.

Identity      pullback(q, qd, qdd, w) = (∂s/∂q, ∂s/∂qd, ∂s/∂qdd) of s = sum_k w_k y_k(q, qd, qdd)
Notation      y_k   the structural nonzeros of a kernel's array, in the order of ``kernel.places``
Accepts       every robot; with loops, q are the actuated coordinates, and ∂/∂q = Eᵀ ∂/∂x at closed coordinates x

The gradient takes about as many operations as three evaluations of the array, whatever the number of joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ytheta.dynamics.graph_reuse import find_or_trace
from ytheta.dynamics.kernels import AnyKernel, ClosedKernel, ParameterBasis
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot

DERIVATIVES = 3  # q, qd, qdd


def regressor_pullback(robot: Robot, base: ParameterBasis, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd, qdd, weights) → gradient of the weighted sum of the nonzeros of ``regressor(robot, base)``.

    The result has three rows per sample, the derivatives with respect to q, qd and qdd.
    """
    base.check_robot(robot)
    graph = base.find_graph("regressor_graph", robot, {"formulation": "", "reference": False})
    return _compile(robot, graph, backend)


def torque_pullback(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd, qdd, weights) → gradient of the weighted sum of the nonzeros of ``inverse_dynamics(robot)``."""
    graph = find_or_trace(
        "inverse_dynamics_graph", robot, wrench_at=(), wrench_axes="frame", theta_input=False, formulation=""
    )
    return _compile(robot, graph, backend)


def pull_back(robot: Robot, graph: Graph) -> Graph:
    """Return the graph of the gradient of a graph with the inputs q (or x), qd and qdd."""
    import casadi

    from ytheta.dynamics.loops.builder import build_constraint

    symbols = [casadi.SX.sym(entry.name, entry.size) for entry in graph.inputs]
    weights = casadi.SX.sym("weights", len(graph.places))
    total = casadi.dot(weights, graph.function(*symbols))
    gradients = [casadi.densify(casadi.gradient(total, vector)) for vector in symbols]
    if robot.loops:
        loops = build_constraint(robot)
        gradients[0] = loops.tangent(symbols[0]).T @ gradients[0]
    rows: Any = np.array([[gradient[k] for k in range(len(robot.actuated))] for gradient in gradients], dtype=object)
    inputs = [*zip(graph.inputs, symbols, strict=True), (Input("weights", len(graph.places)), weights)]
    return trace(f"pullback of {graph.name}", inputs, rows, made_from=graph.made_from)


def _compile(robot: Robot, graph: Graph, backend: str) -> AnyKernel:
    kernel = compile_graph(pull_back(robot, graph), backend=backend)
    if not robot.loops:
        return kernel
    from ytheta.dynamics.loops.builder import build_constraint  # imported here, since only robots with loops need it

    return ClosedKernel(build_constraint(robot), kernel)

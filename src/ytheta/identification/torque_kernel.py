"""The torque of a model whose parameters are those of a regrouped Lagrangian: inverse dynamics without geometry."""

from __future__ import annotations

from ytheta.dynamics.kernels import AnyKernel
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, trace
from ytheta.shapes import PerBase


def make_torque_kernel(base: ModelParameters, beta: PerBase) -> AnyKernel:
    """Return the kernel (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    return compile_graph(make_torque_graph(base, beta))


def make_torque_graph(base: ModelParameters, beta: PerBase) -> Graph:
    """Return the graph (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    import casadi

    known = KnownTorque(base)
    parts = [(base.find_graph("regressor_graph", base.robot, {}), beta)]
    if known:
        parts.append((known.find_regressor_graph(), known.values))
    inputs = parts[0][0].inputs
    symbols = [casadi.SX.sym(entry.name, entry.size) for entry in inputs]
    total = casadi.SX.zeros(len(base.robot.actuated))
    for graph, values in parts:
        Y = casadi.reshape(graph.apply(*symbols), len(values), -1).T  # the array is in C order
        total = total + casadi.mtimes(Y, casadi.DM(values.tolist()))
    pairs = list(zip(inputs, symbols, strict=True))
    return trace("inverse dynamics", pairs, array(scalars(total)), made_from=f"model of {base.robot.name}")

"""Compile time against the number of operations: it grows about linearly, from one joint to more than a humanoid.

The peer writes C source of the same graph, before any compiler has seen it; the name of a row holds the figure to look
at, the time per operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Row, best_of
from ytheta.native import compile_graph, count_operations
from ytheta.native.graph import Graph, Input, trace

JOINTS = (1, 3, 6, 12, 24, 36)


def rows() -> list[Row]:
    found = []
    for joints in JOINTS:
        graph = arm_regressor(joints)
        runs = 3 if joints < 12 else 1
        seconds = best_of(lambda graph=graph: compile_graph(graph, cache=False), runs=runs)  # type: ignore[misc]
        written = best_of(lambda graph=graph: _c_source(graph), runs=runs)  # type: ignore[misc]
        count = count_operations(graph).total
        name = f"compile {count} operations ({1e6 * seconds / count:.0f} µs each)"
        found.append(Row(name, seconds, written, "CasADi writes C"))
    return found


def arm_regressor(joints: int) -> Graph:
    """The regressor of a serial arm whose axes turn by a quarter from joint to joint, by Newton–Euler."""
    import casadi

    names = ("q", "qd", "qdd")
    q, qd, qdd = (casadi.SX.sym(name, joints) for name in names)
    axis, shift = casadi.SX([0, 0, 1]), casadi.SX([0.3, 0.1, 0.2])
    quarter = casadi.SX(casadi.DM([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))
    w = wd = casadi.SX(3, 1)
    a = casadi.SX([0, 0, 9.81])
    turns: list[casadi.SX] = []
    regressor = np.zeros((joints, 10 * joints), dtype=object)
    for i in range(joints):
        c, s = casadi.cos(q[i]), casadi.sin(q[i])
        turns.append(quarter @ casadi.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
        a = turns[i].T @ (a + casadi.cross(wd, shift) + casadi.cross(w, casadi.cross(w, shift)))
        carried = turns[i].T @ w
        w, wd = carried + axis * qd[i], turns[i].T @ wd + axis * qdd[i] + casadi.cross(carried, axis * qd[i])
        spin = casadi.skew(w)
        force = casadi.horzcat(a, casadi.skew(wd) + spin @ spin, casadi.SX(3, 6))
        moment = casadi.horzcat(casadi.SX(3, 1), -casadi.skew(a), _spread(wd) + spin @ _spread(w))
        for j in range(i, -1, -1):
            for column in range(10):
                regressor[j, 10 * i + column] = moment[2, column]
            force = turns[j] @ force
            moment = turns[j] @ moment + casadi.skew(shift) @ force
    inputs = [(Input(name, joints), symbols) for name, symbols in zip(names, (q, qd, qdd), strict=True)]
    return trace(f"regressor of {joints} joints", inputs, regressor)


def _spread(w: Any) -> Any:
    """The matrix L with L (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w."""
    import casadi

    x, y, z = w[0], w[1], w[2]
    return casadi.blockcat([[x, y, 0, z, 0, 0], [0, x, y, 0, z, 0], [0, 0, 0, x, y, z]])


def _c_source(graph: Graph) -> str:
    import casadi

    generator = casadi.CodeGenerator("arm")
    generator.add(graph.function)
    text: str = generator.dump()
    return text

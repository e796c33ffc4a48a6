"""Compile time as a function of the number of operations; it grows about linearly.

The graphs are regressors of arms, from one joint to more joints than a humanoid has.

The peer only writes C source of the same graph and does not compile the source. The time per operation is the relevant
number; it is in the name of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Row, measure_best
from ytheta.native import compile_graph, count_operations
from ytheta.native.graph import Graph, Input, trace

JOINTS = (1, 3, 6, 12, 24, 36)


def measure_rows() -> list[Row]:
    result = []
    for joints in JOINTS:
        graph = make_arm_regressor(joints)
        runs = 3 if joints < 12 else 1
        seconds = measure_best(lambda graph=graph: compile_graph(graph, cache=False), runs=runs)  # type: ignore[misc]
        c_seconds = measure_best(lambda graph=graph: _write_c_source(graph), runs=runs)  # type: ignore[misc]
        count = count_operations(graph).total
        name = f"compile {count} operations ({1e6 * seconds / count:.0f} µs each)"
        result.append(Row(name, seconds, c_seconds, "CasADi writes C"))
    return result


def make_arm_regressor(joints: int) -> Graph:
    """Return the Newton–Euler regressor of a serial arm with a quarter turn between successive axes."""
    import casadi

    names = ("q", "qd", "qdd")
    q, qd, qdd = (casadi.SX.sym(name, joints) for name in names)
    axis, shift = casadi.SX([0, 0, 1]), casadi.SX([0.3, 0.1, 0.2])
    quarter = casadi.SX(casadi.DM([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))
    w = wd = casadi.SX(3, 1)
    a = casadi.SX([0, 0, 9.81])
    rotations: list[casadi.SX] = []
    regressor = np.zeros((joints, 10 * joints), dtype=object)
    for i in range(joints):
        c, s = casadi.cos(q[i]), casadi.sin(q[i])
        rotations.append(quarter @ casadi.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
        a = rotations[i].T @ (a + casadi.cross(wd, shift) + casadi.cross(w, casadi.cross(w, shift)))
        w_parent = rotations[i].T @ w
        wd = rotations[i].T @ wd + axis * qdd[i] + casadi.cross(w_parent, axis * qd[i])
        w = w_parent + axis * qd[i]
        W = casadi.skew(w)
        force = casadi.horzcat(a, casadi.skew(wd) + W @ W, casadi.SX(3, 6))
        moment = casadi.horzcat(
            casadi.SX(3, 1), -casadi.skew(a), _make_inertia_matrix(wd) + W @ _make_inertia_matrix(w)
        )
        for j in range(i, -1, -1):
            for column in range(10):
                regressor[j, 10 * i + column] = moment[2, column]
            force = rotations[j] @ force
            moment = rotations[j] @ moment + casadi.skew(shift) @ force
    inputs = [(Input(name, joints), symbols) for name, symbols in zip(names, (q, qd, qdd), strict=True)]
    return trace(f"regressor of {joints} joints", inputs, regressor)


def _make_inertia_matrix(w: Any) -> Any:
    """Return the matrix L with L (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w."""
    import casadi

    x, y, z = w[0], w[1], w[2]
    return casadi.blockcat([[x, y, 0, z, 0, 0], [0, x, y, 0, z, 0], [0, 0, 0, x, y, z]])


def _write_c_source(graph: Graph) -> str:
    import casadi

    generator = casadi.CodeGenerator("arm")
    generator.add(graph.function)
    text: str = generator.dump()
    return text

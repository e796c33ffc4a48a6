"""Constraints, motions and graph values of robots with loops."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.support.loop_robots import make_looped_robot
from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.graphs import regressor_graph
from ytheta.dynamics.loop_solver import solve
from ytheta.native.graph import Graph

DIFFERENCE_TOLERANCE = 1e-6  # relative error of central differences: steps of 1e-5 to 1e-4, positions of order one
ROUNDING_TOLERANCE = 1e-9  # relative difference of the same values from two computations

# Lower and upper bounds of the offsets of actuated coordinates from home, between which the loops close without
# singular poses.
OFFSETS = {
    "walker": ((-0.12, -0.12, -0.5), (0.12, 0.12, 0.5)),
    "five-bar": ((-0.5, -0.5), (0.5, 0.5)),
    "palletiser": ((-1.0, -0.6, -0.5, -1.0), (1.0, 0.5, 0.5, 1.0)),
    "ring": ((-0.15,), (-0.05,)),
    "ball": ((-0.1,), (0.1,)),
    "slide": ((-1.0, -0.4), (1.0, 0.4)),
}


@cache
def get_constraint(name: str) -> LoopConstraint:
    return build_constraint(make_looped_robot(name))


@cache
def get_regressor(name: str) -> Graph:
    return regressor_graph(make_looped_robot(name))


def evaluate(graph: Graph, *vectors: np.ndarray) -> np.ndarray:
    """The value of a graph for one sample, evaluated by CasADi."""
    flat = np.zeros(graph.size)
    flat[list(graph.places)] = np.array(graph.function(*vectors)).ravel()
    return flat.reshape(graph.shape)


def is_close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= tolerance * (1.0 + np.abs(b).max(initial=0.0)))


def draw_motion(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random Q, Qd and Qdd at which the loops of a robot close."""
    rng = np.random.default_rng(seed)
    loops = get_constraint(name)
    Q = loops.home[list(loops.actuated)] + rng.uniform(*OFFSETS[name])
    Qd, Qdd = rng.uniform(-1.0, 1.0, (2, len(Q)))
    return Q, Qd, Qdd


def close_pose(loops: LoopConstraint, Q: np.ndarray) -> np.ndarray:
    """The closed coordinates x of one pose Q."""
    return solve(loops, Q[None]).or_raise().x[0]


def differentiate_motion(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, xd and xdd of a random motion, from central differences of sixth order between closed poses."""
    loops, (Q, Qd, Qdd) = get_constraint(name), draw_motion(name, seed)
    h = 1e-3
    times = h * np.arange(-3, 4)
    x = solve(loops, Q + times[:, None] * Qd + times[:, None] ** 2 / 2 * Qdd).or_raise().x
    xd = (45 * (x[4] - x[2]) - 9 * (x[5] - x[1]) + x[6] - x[0]) / (60 * h)
    xdd = (270 * (x[4] + x[2]) - 27 * (x[5] + x[1]) + 2 * (x[6] + x[0]) - 490 * x[3]) / (180 * h**2)
    return x[3], xd, xdd

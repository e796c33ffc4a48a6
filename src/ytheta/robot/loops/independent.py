"""The choice of independent coordinates of a robot with loops, from the rank of the closure equations.

With c coordinates and closure equations of rank r, c - r coordinates are independent. Velocities that keep the loops
closed are N v with a basis N of the null space. Coordinates are independent if their rows of N are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.robot.loops.closure import MAX_ITERATIONS_TO_SMALLEST_GAP
from ytheta.robot.loops.equations import RANK_TOLERANCE, close_near, compute_closure_jacobian
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate

MAX_ITERATIONS_FROM_AFAR = 1000  # of Newton's method, from an open configuration that may be far from a closed one


@dataclass(frozen=True)
class CoordinateChoice:
    """Independent coordinates: the preferred ones as far as they are independent, then others.

    Attributes
    ----------
    independent  names of the independent coordinates
    added        those among them that were not preferred
    dropped      preferred coordinates that depend on others
    immobile     coordinates that the loops keep in place
    pose         the coordinates x at which the loops were closed
    closed       whether the loops are closed at this pose
    """

    independent: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    immobile: tuple[str, ...]
    pose: PerCoordinate
    closed: bool


def choose_independent(robot: Robot, preferred: Sequence[str], held: Sequence[str] = ()) -> CoordinateChoice:
    """Choose independent coordinates near the home configuration. ``held``: coordinates that do not move."""
    robot = replace(robot.numeric, actuated=())
    names = robot.coordinates
    fixed = [k for k, name in enumerate(names) if name in held]
    x, closed = _close(robot, [names.index(name) for name in preferred if name not in held], fixed)
    jacobian = compute_closure_jacobian(robot, x)
    basis = _find_null_space(np.delete(jacobian, fixed, axis=1))
    rows = np.zeros((len(names), basis.shape[1]))
    rows[[k for k in range(len(names)) if k not in fixed]] = basis
    chosen = _select_rows(rows, [names.index(name) for name in preferred])
    moving = set(robot.moving)  # the coordinates of a floating base are independent in any case and not listed
    independent = tuple(names[k] for k in chosen if names[k] in moving)
    return CoordinateChoice(
        independent,
        added=tuple(name for name in independent if name not in preferred),
        dropped=tuple(name for name in preferred if name not in independent),
        immobile=tuple(name for k, name in enumerate(names) if np.linalg.norm(rows[k]) <= RANK_TOLERANCE),
        pose=x,
        closed=closed,
    )


def _close(robot: Robot, preferred: Sequence[int], held: Sequence[int]) -> tuple[PerCoordinate, bool]:
    """Close the loops at home, if possible without moving the preferred coordinates."""
    home = robot.home_coordinates
    movable = [k for k in range(len(home)) if k not in held]
    attempts = (
        ([k for k in movable if k not in preferred], MAX_ITERATIONS_TO_SMALLEST_GAP),
        (movable, MAX_ITERATIONS_FROM_AFAR),
    )
    for free, max_iterations in attempts:
        x, closed = close_near(robot, home[None], free, max_iterations=max_iterations)
        if closed.all():
            break
    return x[0], bool(closed.all())


def _find_null_space(matrix: Float[np.ndarray, "equations columns"]) -> Float[np.ndarray, "columns free"]:
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, values, vt = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(values > RANK_TOLERANCE * max(1.0, values[0])))
    return vt[rank:].T


def _select_rows(rows: Float[np.ndarray, "coordinates free"], preferred: Sequence[int]) -> list[int]:
    """Return indices of independent rows: preferred ones in their order, then those farthest from the rows before."""
    remainder = rows.copy()
    chosen: list[int] = []

    def take(k: int) -> None:
        direction = remainder[k] / np.linalg.norm(remainder[k])
        remainder[...] -= np.outer(remainder @ direction, direction)
        chosen.append(k)

    for k in preferred:
        if np.linalg.norm(remainder[k]) > RANK_TOLERANCE:
            take(k)
    while len(chosen) < rows.shape[1]:
        take(int(np.argmax(np.linalg.norm(remainder, axis=1))))
    return chosen

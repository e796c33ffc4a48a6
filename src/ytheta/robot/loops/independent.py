"""The choice of independent and of actuated coordinates of a robot with loops, from the rank of the closure equations.

With c coordinates and closure equations of rank r, c - r coordinates are independent. Velocities that keep the loops
closed are N v with a basis N of the null space. Coordinates are independent if their rows of N are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.robot.loops.closure import MAX_ITERATIONS_TO_SMALLEST_GAP
from ytheta.robot.loops.equations import RANK_TOLERANCE, close_near, compute_closure_jacobian
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate

# Largest number of Newton's iterations from an open configuration, which may be far from a closed one. Chosen on:
# rule of thumb.
MAX_ITERATIONS_FROM_AFAR = 1000


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


# The choice of actuated coordinates of robots with loops, and of a home configuration at which the loops close.


ACTUATED = "actuated"  # code of the findings


def choose_actuated(robot: Robot, driven: Iterable[str], *, names_actuators: bool = True) -> Robot:
    """Return a robot with loops with its actuated coordinates: those with actuators, and others that stay free.

    Coordinates that neither an actuator nor a loop determines count as actuated. Those with actuators that depend on
    others do not. If the loops are open at home, the home configuration becomes the one at which they close. ``driven``
    are names of joints; names of other things are ignored. ``names_actuators``: whether the format of the file names
    actuators, so that a coordinate without one is worth a note.
    """
    if not robot.loops:
        return robot
    joints = {joint.name: joint for joint in robot.movable}
    preferred = dict.fromkeys(
        name for joint in driven if joint in joints for name in robot.coordinates_of([joints[joint]])
    )
    in_loops = set(robot.coordinates_of(joint for loop in robot.loops for joint in robot.joints_of(loop)))
    outside = tuple(name for name in robot.coordinates if name in joints and name not in in_loops)
    choice = choose_independent(robot, tuple(dict.fromkeys((*robot.base_coordinates, *preferred, *outside))))
    if not choice.closed and not preferred:
        statement = "the loops cannot be closed near the home configuration, and no actuator drives them"
        remedy = "no coordinates are actuated; choose 'actuated' and a 'home' in a TOML file that extends this one"
        finding = Finding(ACTUATED, Severity.WARNING, statement, remedy)
        return replace(robot, findings=(*robot.findings, finding))
    dropped = tuple(name for name in choice.dropped if name in preferred)
    findings: list[Finding] = []
    if choice.closed and not choice.independent:
        statement = "the loops leave no coordinate free, so that the robot cannot move"
        remedy = "check whether a constraint fixes directions that its joints leave free, as a weld instead of a hinge"
        findings.append(Finding(ACTUATED, Severity.WARNING, statement, remedy))
    if choice.added and names_actuators:
        names = ", ".join(choice.added)
        statement = f"the loops leave coordinates free that no actuator drives; these count as actuated: {names}"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement, names=choice.added))
    if dropped:
        statement = f"coordinates with actuators depend on others by the loops: {', '.join(dropped)}"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement, names=dropped))
    home = robot.home
    passive = [k for k, name in enumerate(robot.coordinates) if name not in choice.independent]
    _, closed = close_near(robot.numeric, robot.home_coordinates[None], passive)
    if choice.closed and not closed.all():
        home = tuple((name, float(x)) for name, x in zip(robot.coordinates, choice.pose, strict=True) if x)
        statement = "the loops are open at the home configuration of the file; home was changed to close them"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement))
    return replace(robot, actuated=choice.independent, home=home, findings=(*robot.findings, *findings))

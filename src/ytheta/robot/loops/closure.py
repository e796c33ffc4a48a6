"""Closing of loops: from actuated coordinates to a pose in which all cut joints meet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import ClosureError, InputError, UnknownNameError, suggest_names
from ytheta.robot.loops.cut_joint import LoopState, closure_residuals, joint_positions, loop_states
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

CLOSED = 1e-9  # metres and radians: far below any mechanism, far above rounding
STRIDE = 0.1  # longest step (radians, metres) in which actuated coordinates are led to a pose, to stay on the branch
MOST_STRIDES = 1000  # sixteen turns, more than any mechanism is asked for
LARGEST = 1e6  # radians, metres: beyond, positions and gaps are mistakes and nothing can be solved
HALVINGS = 7  # of the stride in which a loop opens: the edge is told to a thousandth
# Of the largest singular value. At a singular pose the gap grows with the square of the way, so a solve that stops at
# CLOSED may stop this far (its square root) from the pose.
RANK = math.sqrt(CLOSED)


@dataclass(frozen=True)
class Closure:
    """The outcome of closing a robot's loops, with advice where it failed.

    ``freedom`` is the number of coordinates the loops leave free at this pose; ``determined`` says whether the actuated
    coordinates fix all others and are not more than that. Where a loop opens on the way from home, the pose is the last
    one that closes and ``reached`` is False.
    """

    coordinates: dict[str, float]
    q: Float[np.ndarray, "joints"]
    loops: tuple[LoopState, ...]
    freedom: int
    determined: bool
    reached: bool
    advice: str

    @property
    def closed(self) -> bool:
        return self.reached and all(loop.gap <= CLOSED for loop in self.loops)

    def or_raise(self) -> Closure:
        """This outcome, or ClosureError with its advice."""
        if not self.closed or not self.determined:
            raise ClosureError(self.advice)
        return self


def close_loops(robot: Robot, actuated: Mapping[str, float] | None = None) -> Closure:
    """Close all loops from the home pose, then lead the actuated coordinates to the given values."""
    robot = robot.numeric
    start = robot.home_coordinates
    goal = _goal(robot, dict(actuated or {}))
    _check_apart(robot, start)
    held = [k for k, name in enumerate(robot.coordinates) if name in robot.actuated]
    free = [k for k in range(len(start)) if k not in held]
    x = _solved(robot, start, free)
    if not _is_closed(robot, x):
        return _outcome(robot, x, free, _cannot_close_at_home(robot, x))
    led = [k for k in held if robot.coordinates[k] in _in_loops(robot)]
    strides = max(1, math.ceil(np.abs(goal - start)[led].max(initial=0.0) / STRIDE))
    for k in range(1, strides + 1):
        if k > MOST_STRIDES:
            raise InputError(
                "loops are closed step by step from [home], and this pose is too far from it for that; "
                f"stay within {MOST_STRIDES * STRIDE:g} (metres or radians)"
            )
        before, x = x, _led(robot, x, (1 - k / strides) * start + k / strides * goal, held, free)
        if not _is_closed(robot, x):
            edge = _edge(robot, before, x, held, free)
            beyond = _led(robot, edge, goal, held, free)
            return _outcome(robot, edge, free, _open_on_the_way(robot, edge, beyond, goal))
    return _outcome(robot, x, free)


def _goal(robot: Robot, wanted: dict[str, float]) -> Float[np.ndarray, "coordinates"]:
    """Home with the values wanted."""
    goal = robot.home_coordinates.copy()
    for name, value in wanted.items():
        if name not in robot.actuated:
            raise UnknownNameError(f"{name!r} is not an actuated coordinate{suggest_names(name, robot.actuated)}")
        goal[robot.coordinates.index(name)] = value
    for name, position in zip(robot.coordinates, goal, strict=True):
        if not abs(position) <= LARGEST:
            raise InputError(f"{name} = {position:g} is no position of a joint; give one within {LARGEST:g}")
    return goal


def _check_apart(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> None:
    """What starts this far from closing cannot be solved in floating point."""
    with np.errstate(all="ignore"):
        apart = np.abs(closure_residuals(robot, x)).max(initial=0.0)
    if not apart <= LARGEST:
        raise ClosureError(
            f"the loops of robot {robot.name!r} are {apart:g} (metres or radians) apart at [home]; check its lengths"
        )


def _in_loops(robot: Robot) -> set[str]:
    return {name for loop in robot.loops for name in robot.coordinates_of(robot.joints_of(loop))}


def _led(
    robot: Robot,
    x: Float[np.ndarray, "coordinates"],
    to: Float[np.ndarray, "coordinates"],
    held: list[int],
    free: list[int],
) -> Float[np.ndarray, "coordinates"]:
    """The held coordinates put to their places in ``to`` at once, the free ones solved from where they are."""
    x = x.copy()
    x[held] = to[held]
    return _solved(robot, x, free)


def _edge(
    robot: Robot,
    closed: Float[np.ndarray, "coordinates"],
    opened: Float[np.ndarray, "coordinates"],
    held: list[int],
    free: list[int],
) -> Float[np.ndarray, "coordinates"]:
    """The last pose that closes between one that does and the next one, which does not."""
    beyond = opened
    for _ in range(HALVINGS):
        middle = _led(robot, closed, (closed + beyond) / 2, held, free)
        if _is_closed(robot, middle):
            closed = middle
        else:
            beyond = middle
    return closed


def _is_closed(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> bool:
    return bool(np.abs(closure_residuals(robot, x)).max(initial=0.0) <= CLOSED)


def _outcome(robot: Robot, x: Float[np.ndarray, "coordinates"], free: list[int], trouble: str = "") -> Closure:
    q = joint_positions(robot, x)
    jacobian = _jacobian(robot, x)
    freedom = len(x) - _rank(jacobian)
    determined = _rank(jacobian[:, free]) == len(free) and freedom == len(robot.actuated)
    return Closure(
        coordinates=dict(zip(robot.coordinates, (float(value) for value in x), strict=True)),
        q=q,
        loops=loop_states(robot, q),
        freedom=freedom,
        determined=determined,
        reached=not trouble,
        advice=trouble or ("closed" if determined else _choice(robot, freedom)),
    )


def _cannot_close_at_home(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> str:
    """Where too much is held, that is the trouble and not the pose."""
    let_go = _solved(robot, robot.home_coordinates, list(range(len(x))))
    freedom = len(x) - _rank(_jacobian(robot, let_go))
    if _is_closed(robot, let_go) and freedom < len(robot.actuated):
        return _choice(robot, freedom)
    return _cannot_close(robot, x)


def _cannot_close(robot: Robot, x: Float[np.ndarray, "coordinates"], led: str = "") -> str:
    worst = max(loop_states(robot, joint_positions(robot, x)), key=lambda state: state.gap)
    return (
        f"loop {worst.name!r} of robot {robot.name!r} cannot close at this pose: its joint stays {worst.gap:.3g} "
        f"(metres or radians) apart{led}; change the pose, the [home] it starts from, or the lengths"
    )


def _open_on_the_way(
    robot: Robot,
    edge: Float[np.ndarray, "coordinates"],
    beyond: Float[np.ndarray, "coordinates"],
    goal: Float[np.ndarray, "coordinates"],
) -> str:
    moved = [k for k in range(len(goal)) if goal[k] != robot.home_coordinates[k]]
    places = ", ".join(f"{robot.coordinates[k]} = {edge[k]:.4g}" for k in moved)
    if _is_closed(robot, beyond):
        return (
            f"the loops of robot {robot.name!r} close at this pose only in another assembly: from [home] they cannot "
            f"be led beyond {places}; change the pose, or the [home] it starts from"
        )
    return _cannot_close(robot, beyond, f", and from [home] it cannot be led beyond {places}")


def _choice(robot: Robot, freedom: int) -> str:
    """What is wrong with the choice of actuated coordinates."""
    count, chosen = len(robot.actuated), ", ".join(robot.actuated) or "none"
    leave = f"the loops of robot {robot.name!r} leave {freedom} coordinate{'s' if freedom != 1 else ''} free, but"
    if count > freedom:
        return f"{leave} {count} are actuated; leave {count - freedom} of {chosen} to the loops"
    return (
        f"{leave} the actuated ones ({chosen}) do not determine the rest; choose {freedom} of "
        f"{', '.join(robot.coordinates)} as 'actuated', or leave this singular pose"
    )


def _solved(robot: Robot, x: Float[np.ndarray, "coordinates"], free: list[int]) -> Float[np.ndarray, "coordinates"]:
    """Coordinates near x whose loops are as closed as they get; only the free ones are changed."""
    from scipy.optimize import least_squares  # costs a quarter of a second to load; most robots have no loops

    if not free or not robot.loops:
        return x.copy()

    def residual(values: Float[np.ndarray, "free"]) -> Float[np.ndarray, "equations"]:
        trial = x.copy()
        trial[free] = values
        return closure_residuals(robot, trial)

    found = least_squares(residual, x[free], jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
    result = x.copy()
    result[free] = found.x
    return result


def _jacobian(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "equations coordinates"]:
    step = 1e-5
    columns = [
        (closure_residuals(robot, x + step * unit) - closure_residuals(robot, x - step * unit)) / (2 * step)
        for unit in np.eye(len(x))
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _rank(matrix: Float[np.ndarray, "rows columns"]) -> int:
    if matrix.size == 0:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.count_nonzero(values > RANK * max(1.0, values[0])))

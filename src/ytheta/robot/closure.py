"""Closing of loops: from actuated coordinates to a pose in which all cut joints meet.

Residual of one loop: with D the child's side of the cut joint seen from the parent's side,
D = (T_parent placement)^-1 T_child seat^-1, a revolute joint wants D to be a turn about its axis, a prismatic one a
shift along it, a fixed one nothing, a point no shift. Positions are compared in metres, directions in radians; planar
mechanisms leave some of the equations empty, which least squares does not mind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import ClosureError, UnknownNameError, nearest
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

CLOSED = 1e-9  # metres and radians: far below any mechanism, far above rounding
STRIDE = 0.1  # longest step (radians, metres) in which actuated coordinates are led to a pose, to stay on the branch
# Of the largest singular value. At a singular pose the gap grows with the square of the way, so a solve that stops at
# CLOSED may stop this far (its square root) from the pose.
RANK = math.sqrt(CLOSED)


@dataclass(frozen=True)
class LoopState:
    """One loop at a pose: how far its cut joint is from meeting, and the position of that joint."""

    name: str
    gap: float
    position: float


@dataclass(frozen=True)
class Closure:
    """The outcome of closing a robot's loops, with advice where it failed.

    ``freedom`` is the number of coordinates the loops leave free at this pose; ``determined`` says whether the actuated
    coordinates fix all others.
    """

    coordinates: dict[str, float]
    q: Float[np.ndarray, "joints"]
    loops: tuple[LoopState, ...]
    freedom: int
    determined: bool
    advice: str

    @property
    def closed(self) -> bool:
        return all(loop.gap <= CLOSED for loop in self.loops)

    def or_raise(self) -> Closure:
        """This outcome, or ClosureError with its advice."""
        if not self.closed or not self.determined:
            raise ClosureError(self.advice)
        return self


def close_loops(robot: Robot, actuated: Mapping[str, float] | None = None) -> Closure:
    """Close all loops from the home pose, then lead the actuated coordinates to the given values."""
    robot = robot.numeric
    wanted = dict(actuated or {})
    for name in wanted:
        if name not in robot.actuated:
            raise UnknownNameError(f"{name!r} is not an actuated coordinate{nearest(name, robot.actuated)}")
    names = list(robot.coordinates)
    held = [names.index(name) for name in robot.actuated]
    free = [k for k in range(len(names)) if k not in held]
    start = robot.home_coordinates
    goal = start.copy()
    for name, value in wanted.items():
        goal[names.index(name)] = value
    strides = max(1, math.ceil(np.abs(goal - start).max(initial=0.0) / STRIDE))
    x = _solved(robot, start, free)
    for k in range(1, strides + 1):
        x[held] = start[held] + k / strides * (goal[held] - start[held])
        x = _solved(robot, x, free)
    return _outcome(robot, x, free)


def loop_states(robot: Robot, q: Float[np.ndarray, "joints"]) -> tuple[LoopState, ...]:
    """How far each loop is from closing at given joint positions."""
    robot = robot.numeric
    poses = link_poses(robot, q)
    states = []
    for loop in robot.loops:
        across = _across(loop, poses)
        gap = float(np.abs(_residual(loop.joint, across)).max())
        states.append(LoopState(loop.name, gap, _position(loop.joint, across)))
    return tuple(states)


def _outcome(robot: Robot, x: Float[np.ndarray, "coordinates"], free: list[int]) -> Closure:
    q = _positions(robot, x)
    states = loop_states(robot, q)
    jacobian = _jacobian(robot, x)
    freedom = len(x) - _rank(jacobian)
    determined = _rank(jacobian[:, free]) == len(free)
    return Closure(
        coordinates=dict(zip(robot.coordinates, (float(value) for value in x), strict=True)),
        q=q,
        loops=states,
        freedom=freedom,
        determined=determined,
        advice=_advice(robot, states, freedom, determined),
    )


def _advice(robot: Robot, states: tuple[LoopState, ...], freedom: int, determined: bool) -> str:
    worst = max(states, key=lambda state: state.gap, default=None)
    if worst is not None and worst.gap > CLOSED:
        return (
            f"loop {worst.name!r} of robot {robot.name!r} cannot close at this pose: its joint stays {worst.gap:.3g} "
            "(metres or radians) apart; change the pose, the [home] it starts from, or the lengths"
        )
    if not determined:
        chosen = ", ".join(robot.actuated) or "none"
        return (
            f"the loops of robot {robot.name!r} leave {freedom} coordinates free, but the actuated ones ({chosen}) do "
            f"not determine the rest; choose {freedom} of {', '.join(robot.coordinates)} as 'actuated', "
            "or leave this singular pose"
        )
    return "closed"


def _solved(robot: Robot, x: Float[np.ndarray, "coordinates"], free: list[int]) -> Float[np.ndarray, "coordinates"]:
    """Coordinates near x whose loops are as closed as they get; only the free ones are changed."""
    from scipy.optimize import least_squares  # costs a quarter of a second to load; most robots have no loops

    if not free or not robot.loops:
        return x.copy()

    def residual(values: Float[np.ndarray, "free"]) -> Float[np.ndarray, "equations"]:
        trial = x.copy()
        trial[free] = values
        return _residuals(robot, trial)

    found = least_squares(residual, x[free], jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
    result = x.copy()
    result[free] = found.x
    return result


def _positions(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "joints"]:
    factors, offset = robot.coupling_map
    q: Float[np.ndarray, "joints"] = factors @ x + offset
    return q


def _residuals(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "equations"]:
    poses = link_poses(robot, _positions(robot, x))
    return np.concatenate([_residual(loop.joint, _across(loop, poses)) for loop in robot.loops] or [np.zeros(0)])


def _jacobian(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "equations coordinates"]:
    step = 1e-5
    columns = [
        (_residuals(robot, x + step * unit) - _residuals(robot, x - step * unit)) / (2 * step)
        for unit in np.eye(len(x))
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _rank(matrix: Float[np.ndarray, "rows columns"]) -> int:
    if matrix.size == 0:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.count_nonzero(values > RANK * max(1.0, values[0])))


def _across(loop: Loop, poses: Mapping[str, Float[np.ndarray, "4 4"]]) -> Float[np.ndarray, "4 4"]:
    """The child's side of the cut joint seen from the parent's side."""
    joint = loop.joint
    one = poses[joint.parent] @ joint.placement.matrix
    other = poses[joint.child] @ joint.seat.inverse().matrix
    across: Float[np.ndarray, "4 4"] = np.linalg.solve(one, other)
    return across


def _residual(joint: Joint, across: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "equations"]:
    turn, shift, axis = across[:3, :3], across[:3, 3], np.array(joint.axis)
    if joint.kind is JointKind.POINT:
        return shift.copy()
    if joint.kind is JointKind.REVOLUTE:
        # The axes must agree in direction; their cross product alone would also accept the opposite one.
        return np.concatenate([shift, turn @ axis - axis])
    if joint.kind is JointKind.PRISMATIC:
        return np.concatenate([shift - (shift @ axis) * axis, _turned(turn)])
    return np.concatenate([shift, _turned(turn)])


def _turned(turn: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "9"]:
    """What is left of a rotation that should be none; smooth, and zero only there."""
    return (turn - np.eye(3)).ravel()


def _position(joint: Joint, across: Float[np.ndarray, "4 4"]) -> float:
    """The position of a cut joint."""
    axis = np.array(joint.axis)
    if joint.kind is JointKind.PRISMATIC:
        return float(across[:3, 3] @ axis)
    if joint.kind is not JointKind.REVOLUTE:
        return 0.0
    turn = across[:3, :3]
    twice_sine = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) @ axis
    return math.atan2(float(twice_sine), float(np.trace(turn)) - 1.0)

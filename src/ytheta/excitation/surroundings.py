"""What a motion must not touch: the robot itself, a floor, obstacles; and boxes that frames must not leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ytheta.arguments import check_kind, check_number, check_words, is_not_negative
from ytheta.dynamics.jacobians import find_frame
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.excitation.clearance.margins import Clearance, Margin, Push, make_clearance, pose_bodies
from ytheta.excitation.clearance.obstacle import Obstacle, make_floor
from ytheta.excitation.clearance.obstacle_clearance import make_obstacle_clearance
from ytheta.excitation.clearance.reach import bound_levers, check_strokes
from ytheta.excitation.clearance.self_collision import make_self_collision
from ytheta.excitation.result import SELF_COLLISION_UNCHECKED
from ytheta.findings import Finding, Severity
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint

BoxInput = Mapping[str, Any] | None  # lower and upper corner of a box in the world, m, by frame


def find_clearances(
    robot: Robot,
    *,
    self_collision: bool,
    clearance: float,
    floor: float | None,
    obstacles: Sequence[Obstacle],
    box: BoxInput,
) -> tuple[tuple[Clearance, ...], tuple[Finding, ...]]:
    """Return the constraints, and findings about what is not checked.

    If self-collision cannot be checked, for example because the robot has no collision shapes, a finding says so; it is
    an error if a clearance was asked for.
    """
    clearance = check_number("clearance", clearance, "a distance in metres, such as 0.02", allow=is_not_negative)
    paths: list[Clearance] = []
    findings: list[Finding] = []
    if self_collision:
        try:
            paths.append(make_self_collision(robot, clearance=clearance))
        except InputError as error:
            if clearance > 0.0 and not (obstacles or floor is not None):
                raise
            findings.append(
                Finding(
                    SELF_COLLISION_UNCHECKED,
                    Severity.WARNING,
                    f"self-collision is not checked: {error}",
                    "simulate the motion before you run it",
                )
            )
    bodies = list(obstacles)
    if floor is not None:
        bodies.append(make_floor(check_number("floor", floor, "the height of the floor in metres")))
    if bodies:
        paths.append(make_obstacle_clearance(robot, bodies, clearance=clearance))
    if box is not None:
        check_kind("box", box, Mapping, "boxes by frame, such as {'tool': ((-1, -1, 0), (1, 1, 2))}")
        for frame, corners in box.items():
            paths.append(_make_box(robot, frame, corners))
    return tuple(paths), (*findings, *(finding for path in paths for finding in path.findings))


def _make_box(robot: Robot, frame: str, corners: Any) -> Clearance:
    try:
        lower, upper = corners
    except (TypeError, ValueError):
        raise InputError(
            f"the box of {frame!r} is {corners!r}; give its lower and upper corner, such as ((-1, -1, 0), (1, 1, 2))"
        ) from None
    return make_workspace(robot, [frame], lower=lower, upper=upper)


# Workspace: bounds on the positions of frames in the world.


UNBOUNDED = (-np.inf, -np.inf, -np.inf), (np.inf, np.inf, np.inf)
AXES = ("x", "y", "z")


def make_workspace(
    robot: Robot,
    frames: Sequence[str],
    *,
    lower: Sequence[float] = UNBOUNDED[0],
    upper: Sequence[float] = UNBOUNDED[1],
) -> Clearance:
    """Return the margins of the origins of frames to the faces of a box in the world, in metres.

    ``frames`` are names of links and markers. ``lower`` and ``upper`` are corners of the box; infinite entries are no
    bounds, so ``lower=(-inf, -inf, 0.1)`` is a floor at a height of 0.1 m.
    """
    import casadi

    check_is_robot(robot)
    refuse_floating_base(robot, "the check for collisions")
    frames = check_words("frames", frames, "names of links or markers", ("tool", "elbow"))
    corners = _check_corner("lower", lower), _check_corner("upper", upper)
    if not (corners[0] < corners[1]).all():
        raise InputError(f"the box from {tuple(lower)} to {tuple(upper)} is empty; give the smaller numbers as lower")
    bounded = [(k, sign) for k in range(3) for sign in (1, -1) if np.isfinite(corners[sign < 0][k])]
    if not frames or not bounded:
        raise InputError(
            "the workspace has no bound: give at least one frame, and a finite entry of lower or upper, such as "
            "lower=(-inf, -inf, 0.1)"
        )
    mechanism = build_mechanism(robot)
    check_strokes(mechanism)
    poses = pose_bodies(mechanism)
    mounting = mechanism.robot.mounting.matrix
    names: list[str] = []
    margins: list[Margin] = []
    slopes: list[PerJoint] = []
    for name in frames:
        frame = find_frame(mechanism, name)
        if frame.body is None:
            raise InputError(f"frame {name!r} belongs to the base and does not move; name a frame of a moving link")
        place = frame.p.astype(float)
        point = poses.locate(frame.body, place)
        levers = bound_levers(mechanism, frame.body, place[None])
        for axis, sign in bounded:
            bound = float(corners[sign < 0][axis])
            direction = casadi.SX((sign * mounting[axis, :3]).tolist())
            names.append(f"{name} {'above' if sign > 0 else 'below'} {AXES[axis]} = {bound:g} m")
            value = casadi.dot(direction, point) + sign * (mounting[axis, 3] - bound)
            margins.append(Margin(value, (Push(frame.body, point, direction),)))
            slopes.append(levers)
    return make_clearance(poses, margins, names, np.array(slopes))


def _check_corner(name: str, corner: Sequence[float]) -> np.ndarray:
    try:
        values = np.asarray(corner, dtype=float)
    except (TypeError, ValueError):
        values = np.full(0, np.nan)
    if values.shape != (3,) or np.isnan(values).any():
        raise InputError(f"{name} is {corner!r}; give three numbers in metres, which may be infinite")
    return values

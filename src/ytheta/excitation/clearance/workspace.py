"""Workspace: bounds on the positions of frames in the world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.arguments import check_words
from ytheta.dynamics.jacobians import find_frame
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.excitation.clearance.constraint import Clearance, make_clearance
from ytheta.excitation.clearance.margin_graphs import Margin, Push, pose_bodies
from ytheta.excitation.clearance.reach import bound_levers, check_strokes
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint

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

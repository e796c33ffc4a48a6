"""What a motion must not touch: the robot itself, a floor, obstacles; and boxes that frames must not leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ytheta.arguments import check_kind, check_number, check_words, is_not_negative
from ytheta.dynamics.jacobians import find_frame
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.excitation.clearance.estimated_capsules import complete_capsules, measure_reach
from ytheta.excitation.clearance.link_capsules import UNCHECKED, LinkCapsules, find_link_capsules
from ytheta.excitation.clearance.margins import Clearance, Margin, Push, make_clearance, pose_bodies
from ytheta.excitation.clearance.obstacle import Obstacle, make_wall
from ytheta.excitation.clearance.obstacle_clearance import make_obstacle_clearance
from ytheta.excitation.clearance.reach import bound_levers, check_strokes
from ytheta.excitation.clearance.self_collision import SAMPLED_POSES, make_self_collision, spread_poses
from ytheta.findings import Finding, Severity
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.frame import to_vector
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint, Vector3

BoxInput = Mapping[str, Any] | None  # lower and upper corner of a box in the world, m, by frame
FloorInput = float | str | None  # height in m, "base" for that of the base, or None
BASE = "base"
FLOOR = "floor"  # code of the finding about where the floor is assumed
# m; distance that links keep by default from each other, from the floor and from obstacles. Chosen on: rule of thumb,
# some times the error with which cells are measured and arms are calibrated.
DEFAULT_CLEARANCE = 0.01
# Share of the poses within the position limits that keep above the floor; below it, a warning asks whether the floor is
# really at the height of the base. Chosen on: rule of thumb; it is 0.38 for a UR10 and 0.91
# for a Panda.
MIN_SHARE_ABOVE_FLOOR = 0.02
# Mean height of the links over all poses, relative to the reach; an arm below it hangs. Chosen on: reasoning, since the
# shoulder of an arm that stands is not below its base; the tolerance is for ranges that are not quite symmetric.
MAX_HANGING_HEIGHT = -0.02


def find_clearances(
    robot: Robot,
    *,
    self_collision: bool,
    clearance: float,
    floor: FloorInput,
    obstacles: Sequence[Obstacle],
    box: BoxInput,
) -> tuple[tuple[Clearance, ...], tuple[Finding, ...]]:
    """Return the constraints, and findings about what is assumed and what is not checked."""
    clearance = check_number("clearance", clearance, "a distance in metres, such as 0.02", allow=is_not_negative)
    paths: list[Clearance] = []
    findings: list[Finding] = []
    capsules = LinkCapsules(())
    if self_collision or floor is not None or obstacles:
        capsules = complete_capsules(robot, find_link_capsules(robot))
        findings += capsules.findings
    if self_collision:
        try:
            paths.append(make_self_collision(robot, clearance=clearance, capsules=capsules))
        except InputError as error:
            findings.append(_leave_out("self-collision", f"self-collision is not checked: {error}"))
    else:
        findings.append(_leave_out("self-collision", "self-collision is not checked, as you asked for"))
    if obstacles:
        paths.append(make_obstacle_clearance(robot, list(obstacles), clearance=clearance, capsules=capsules))
    if floor is None:
        findings.append(_leave_out("a floor", "no floor is checked, as you asked for"))
    else:
        floors, floor_findings = _make_floor(robot, floor, clearance, capsules)
        paths, findings = [*paths, *floors], [*findings, *floor_findings]
    if box is not None:
        check_kind("box", box, Mapping, "boxes by frame, such as {'tool': ((-1, -1, 0), (1, 1, 2))}")
        for frame, corners in box.items():
            paths.append(_make_box(robot, frame, corners))
    return tuple(paths), (*findings, *(finding for path in paths for finding in path.findings))


def _leave_out(what: str, statement: str) -> Finding:
    remedy = "simulate the motion before you run it"
    return Finding(UNCHECKED, Severity.WARNING, statement, remedy, fields={"what": what})


# The floor: a plane across gravity, at the height of the base unless another one is given.


def _make_floor(
    robot: Robot, floor: float | str, clearance: float, capsules: LinkCapsules
) -> tuple[list[Clearance], list[Finding]]:
    """Return the constraint of the floor, or of the ceiling from which an arm hangs, and what was assumed."""
    numeric = robot.numeric.merged
    gravity = np.array(numeric.gravity)
    size = float(np.linalg.norm(gravity))
    if floor != BASE:
        up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        height = check_number("floor", floor, 'the height of the floor in metres, "base", or None')
        plane = make_wall(to_vector(height * up), to_vector(up), name="floor")
        statement = f"the floor is at {height:.4g} m; links keep {clearance:g} m from it"
        note = Finding(FLOOR, Severity.NOTE, statement, fields={"height": height})
        return [make_obstacle_clearance(robot, [plane], clearance=clearance, capsules=capsules)], [note]
    remedy = "give the height of the floor, or say that there is none, with the option floor"
    if size == 0.0:
        statement = "the floor is not checked, because without gravity nothing says where it is"
        return [], [Finding(UNCHECKED, Severity.WARNING, statement, remedy, fields={"what": "a floor"})]
    up = -gravity / size
    base = numeric.mounting.matrix[:3, 3]
    hangs = _measure_mean_height(robot, up) < MAX_HANGING_HEIGHT * measure_reach(numeric)
    name = "ceiling" if hangs else "floor"
    plane = make_wall(to_vector(base), to_vector(-up if hangs else up), name=name)
    try:
        path = make_obstacle_clearance(robot, [plane], clearance=clearance, capsules=capsules)
    except InputError as error:
        return [], [
            Finding(
                UNCHECKED, Severity.WARNING, f"the {name} is not checked: {error}", remedy, fields={"what": f"a {name}"}
            )
        ]
    share = float((path.compute_margins(spread_poses(robot, SAMPLED_POSES)) >= 0.0).all(axis=1).mean())
    height = float(up @ base)
    place, fields = f"the height of the base, {height:.4g} m", {"share": share, "height": height}
    if share == 0.0:
        statement = f"the {name} is not checked: at {place}, it would leave no pose within the position limits"
        return [], [Finding(UNCHECKED, Severity.WARNING, statement, remedy, fields=fields | {"what": f"a {name}"})]
    statement = (
        f"the {name} is assumed at {place}; links keep {clearance:g} m from it, as they do in {100 * share:.3g} % of "
        "the poses within the position limits"
    )
    rare = share < MIN_SHARE_ABOVE_FLOOR
    findings = [Finding(FLOOR, Severity.WARNING if rare else Severity.NOTE, statement, remedy, fields=fields)]
    if hangs:
        statement = "the arm hangs from its base, so that a ceiling is checked there, but no floor"
        findings.append(Finding(UNCHECKED, Severity.WARNING, statement, remedy, fields={"what": "a floor"}))
    return [path], findings


def _measure_mean_height(robot: Robot, up: Vector3) -> float:
    """Return the mean height above the base of the centres of mass of all moving links, over all poses, in metres.

    If no link has mass, the origins of the links count.
    """
    import casadi

    mechanism = build_mechanism(robot)
    poses, merged = pose_bodies(mechanism), mechanism.robot
    weights = np.array([merged.link(body.name).inertia.mass for body in mechanism.bodies])
    weights = weights if weights.any() else np.ones(len(weights))
    places = [
        poses.locate(k, np.array(merged.link(body.name).inertia.center)) for k, body in enumerate(mechanism.bodies)
    ]
    height = up @ merged.mounting.matrix[:3, :3]
    mean = sum(weight * casadi.dot(height.tolist(), place) for weight, place in zip(weights, places, strict=True))
    q = spread_poses(robot, SAMPLED_POSES)
    heights = np.array(casadi.Function("height", [poses.q], [mean / weights.sum()]).map(len(q))(q.T))
    return float(heights.mean())


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

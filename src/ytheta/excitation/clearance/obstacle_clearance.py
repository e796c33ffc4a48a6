"""Clearance between the links of a robot and obstacles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.arguments import check_kind, check_number, is_not_negative
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.excitation.clearance.distance import Segment, measure_box, measure_segments
from ytheta.excitation.clearance.link_capsules import UNCHECKED, LinkCapsules, find_link_capsules
from ytheta.excitation.clearance.margins import BodyPoses, Clearance, Margin, Push, make_clearance, pose_bodies
from ytheta.excitation.clearance.obstacle import Obstacle, ObstacleKind
from ytheta.excitation.clearance.reach import bound_distance_slopes, bound_levers, check_strokes
from ytheta.excitation.clearance.self_collision import BodyCapsule, evaluate_margins, name_capsules
from ytheta.findings import Finding, Severity
from ytheta.robot.checks import check_unique
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.frame import Frame
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint

CONSTANT = "obstacle"  # code of findings about distances that motion hardly changes
# m; how far the origin of the base may be inside an obstacle, such as the floor it stands on. Chosen on: rule of
# thumb.
MAX_BASE_DEPTH = 1e-3
# m; distances that change less over all poses count as constant. Chosen on: reasoning, far above rounding errors, and
# far below what matters.
MIN_CHANGE = 1e-9


def make_obstacle_clearance(
    robot: Robot, obstacles: Sequence[Obstacle], *, clearance: float = 0.0, capsules: LinkCapsules | None = None
) -> Clearance:
    """Return the margins between the capsules of moving links and obstacles: distance minus ``clearance``, in metres.

    The base does not move and is not checked. Distances that do not depend on the motion, such as that of the first
    link from the floor, are not checked either. Neither are pairs that are too close in every pose; ``findings`` name
    them. An obstacle that contains the base is an error.
    """
    check_is_robot(robot)
    refuse_floating_base(robot, "the check for collisions")
    clearance = check_number("clearance", clearance, "a distance in metres, such as 0.02", allow=is_not_negative)
    check_kind("obstacles", obstacles, Sequence, "a list of obstacles, such as [make_floor()]")
    for obstacle in obstacles:
        check_kind("an entry of obstacles", obstacle, Obstacle, "an Obstacle, such as make_floor()")
    if not obstacles:
        raise InputError("the list of obstacles is empty; give at least one, such as make_floor()")
    check_unique((obstacle.name for obstacle in obstacles), "obstacle")
    mechanism = build_mechanism(robot)
    check_strokes(mechanism)
    mounting = mechanism.robot.mounting
    for obstacle in obstacles:
        _check_base_is_outside(obstacle, robot.name, mounting)
    link_capsules = find_link_capsules(robot) if capsules is None else capsules
    items = [item for item in name_capsules(mechanism, link_capsules.capsules) if item.body is not None]
    if not items:
        raise InputError(
            f"no moving link of robot {robot.name!r} has a collision shape, so obstacles cannot be avoided; add "
            "[[collision]] tables to its description"
        )
    poses = pose_bodies(mechanism)
    to_base = mounting.inverse()
    entries = [
        (f"{item.name}–{obstacle.name}", margin, slopes, item.item.link)
        for obstacle in obstacles
        for item in items
        for margin, slopes in _make_margins(poses, item, obstacle, to_base @ obstacle.frame, clearance)
    ]
    names = [name for name, _, _, _ in entries]
    margins, slopes = [margin for _, margin, _, _ in entries], np.array([slope for _, _, slope, _ in entries])
    sampled = evaluate_margins(robot, poses, margins).margins
    blocked = (sampled < 0.0).all(axis=0)
    change = np.ptp(sampled, axis=0)  # zero for a link that turns about the normal of the floor
    kept = np.flatnonzero(~blocked & (change > MIN_CHANGE))
    if not len(kept):
        raise InputError(
            f"robot {robot.name!r}: every link is too close to the obstacles in every pose; move the obstacles away, "
            "or ask for a smaller clearance"
        )
    findings = []
    for k in dict.fromkeys(names.index(names[k]) for k in np.flatnonzero(blocked)):
        statement = f"{names[k]} are not checked for collision, because they are too close in every pose"
        link, fields = (entries[k][3],), {"what": f"collision of {names[k]}"}
        if change[k] <= max(clearance, MIN_CHANGE):
            statement = f"{statement}, and their distance hardly depends on the motion"
            findings.append(Finding(CONSTANT, Severity.NOTE, statement, names=link))
        else:
            remedy = "check that the obstacle does not stand in the way of the link"
            findings.append(Finding(UNCHECKED, Severity.WARNING, statement, remedy, names=link, fields=fields))
    return make_clearance(
        poses,
        [margins[k] for k in kept],
        [names[k] for k in kept],
        slopes[kept],
        findings=findings,
    )


def _check_base_is_outside(obstacle: Obstacle, robot: str, mounting: Frame) -> None:
    depth = obstacle.measure_depth(mounting.matrix[:3, 3])
    if depth > MAX_BASE_DEPTH:
        raise InputError(
            f"obstacle {obstacle.name!r} contains the base of robot {robot!r}: the origin of the base is "
            f"{1e3 * depth:.3g} mm inside; move the obstacle, or set the mounting of the robot"
        )


def _make_margins(
    poses: BodyPoses, item: BodyCapsule, obstacle: Obstacle, frame: Frame, clearance: float
) -> list[tuple[Margin, PerJoint]]:
    """Return the margins of one capsule and one obstacle whose frame is seen from the base, with bounds on slopes.

    A half-space has one margin for each end of the capsule: each is smooth, while the smaller one is not.
    """
    import casadi

    mechanism, capsule, segment = poses.mechanism, item.item.capsule, item.place(poses)
    levers = bound_levers(mechanism, item.body, capsule.ends)
    matrix = frame.matrix
    R, p = matrix[:3, :3], matrix[:3, 3]
    keep = capsule.radius + clearance
    if obstacle.kind is ObstacleKind.HALF_SPACE:
        normal = casadi.SX(R[:, 2].tolist())
        ends = [segment.start] if segment.along is None else [segment.start, segment.start + segment.along]
        return [(Margin(casadi.dot(normal, end - p) - keep, (Push(item.body, end, normal),)), levers) for end in ends]
    if obstacle.kind is ObstacleKind.BOX:
        rotation = casadi.SX(R.tolist())
        local = Segment(rotation.T @ (segment.start - p), None if segment.along is None else rotation.T @ segment.along)
        contact = measure_box(local, np.array(obstacle.size) / 2.0)
        push = Push(item.body, rotation @ contact.on_a + p, rotation @ contact.direction)
        return [(Margin(contact.distance - keep, (push,)), levers)]
    half = obstacle.size[1] / 2.0 if obstacle.kind is ObstacleKind.CAPSULE else 0.0
    ends_of_obstacle = np.array([p - half * R[:, 2], p + half * R[:, 2]])
    along = casadi.SX((ends_of_obstacle[1] - ends_of_obstacle[0]).tolist()) if half else None
    contact = measure_segments(segment, Segment(casadi.SX(ends_of_obstacle[0].tolist()), along))
    slopes = bound_distance_slopes(mechanism, item.body, capsule.ends, None, ends_of_obstacle)
    push = Push(item.body, contact.on_a, contact.direction)
    return [(Margin(contact.distance - keep - obstacle.size[0], (push,)), slopes)]

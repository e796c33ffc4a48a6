"""Clearance between the links of a robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ytheta.arguments import check_number, is_not_negative
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import Mechanism, build_mechanism
from ytheta.errors import InputError
from ytheta.excitation.clearance.distance import Segment, measure_segments
from ytheta.excitation.clearance.link_capsules import (
    UNCHECKED,
    LinkCapsule,
    LinkCapsules,
    find_link_capsules,
)
from ytheta.excitation.clearance.margins import (
    BodyPoses,
    Clearance,
    Margin,
    Push,
    make_clearance,
    pose_bodies,
    trace_margins,
)
from ytheta.excitation.clearance.reach import bound_distance_slopes, check_strokes
from ytheta.findings import Finding, Severity
from ytheta.native import compile_graph
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, SamplesByJoint

BY_DESIGN = "self-collision"  # code of findings about pairs that are close by design
# Pairs whose capsules overlap in a larger share of the poses are not checked: that is due to the design of the
# robot, or the capsules are larger than the links. Pairs that are closer than the clearance in a larger share are
# checked for contact only. Chosen on: rule of thumb.
MAX_SHARE_TOO_CLOSE = 0.95
# The same share for links that two joints connect: if most poses are closer than the clearance, the design of the robot
# does not have it. Chosen on: rule of thumb; UR5 and Panda with clearances of 10 and 50 mm.
MAX_SHARE_TOO_CLOSE_BY_DESIGN = 0.5
# Number of joints between two links, for which the sampled poses are dense enough to say that the links never touch.
# Chosen on: reasoning, 1000 poses are 1/30 of the range apart in the plane of two joints.
MAX_JOINTS_BY_DESIGN = 2
# Number of poses, spread over the position limits, at which these shares are measured. Chosen on: reasoning, the
# share of 0.95 is then known to within about 0.007.
SAMPLED_POSES = 1000


@dataclass(frozen=True, eq=False)
class SampledMargins:
    """Margins at poses that are spread over the position limits."""

    q: SamplesByJoint
    margins: Float[np.ndarray, "samples margins"]


@dataclass(frozen=True, eq=False)
class BodyCapsule:
    """A capsule of a body (None for the base) of a mechanism, and a name for it."""

    name: str
    body: int | None
    item: LinkCapsule

    def place(self, poses: BodyPoses) -> Segment:
        """Return the axis of the capsule at symbolic joint positions."""
        capsule = self.item.capsule
        start = poses.locate(self.body, np.array(capsule.start))
        along = None if capsule.is_sphere else poses.locate(self.body, np.array(capsule.end)) - start
        return Segment(start, along)


def make_self_collision(robot: Robot, *, clearance: float = 0.0, capsules: LinkCapsules | None = None) -> Clearance:
    """Return the margins between the capsules of links: distance minus ``clearance``, in metres.

    Pairs of the same link and of links that a joint connects are not checked. Pairs whose capsules overlap in almost
    all poses of the range are not checked either, nor are links two joints apart that do not touch in any pose. Pairs
    that are closer than the clearance in almost all poses are checked for contact only; ``findings`` name them. Pairs
    that provably cannot come closer than the clearance are left out without a finding. ``capsules`` replaces those of
    ``find_link_capsules``.
    """
    check_is_robot(robot)
    refuse_floating_base(robot, "the check for collisions")
    clearance = check_number("clearance", clearance, "a distance in metres, such as 0.02", allow=is_not_negative)
    mechanism = build_mechanism(robot)
    check_strokes(mechanism)
    link_capsules = find_link_capsules(robot) if capsules is None else capsules
    items = name_capsules(mechanism, link_capsules.capsules)
    pairs = [(a, b) for a, b in combinations(items, 2) if not _are_neighbours(mechanism, a.item.link, b.item.link)]
    if not pairs:
        raise InputError(
            f"robot {robot.name!r} has no two links with collision shapes that could collide, so self-collision cannot "
            "be checked; add [[collision]] tables to its description, or do not ask for it"
        )
    poses = pose_bodies(mechanism)
    segments = {item.name: item.place(poses) for item in items}
    contacts = [_make_margin(a, segments[a.name], b, segments[b.name], 0.0) for a, b in pairs]
    slopes = np.array(
        [bound_distance_slopes(mechanism, a.body, a.item.capsule.ends, b.body, b.item.capsule.ends) for a, b in pairs]
    )
    names = [f"{a.name}–{b.name}" for a, b in pairs]
    sampled = evaluate_margins(robot, poses, contacts)
    kept, clearances, findings = _choose_pairs(robot, sampled, names, slopes, pairs, clearance)
    if not kept:
        raise InputError(
            f"robot {robot.name!r}: no pair of links can collide and is apart in some pose, so self-collision cannot "
            "be checked; do not ask for it, or give smaller collision shapes"
        )
    margins = {
        k: _make_margin(a, segments[a.name], b, segments[b.name], clearances[k]) for k, (a, b) in enumerate(pairs)
    }
    return make_clearance(
        poses,
        [margins[k] for k in kept],
        [names[k] for k in kept],
        slopes[kept],
        findings=findings,
    )


def name_capsules(mechanism: Mechanism, capsules: Sequence[LinkCapsule]) -> list[BodyCapsule]:
    """Return the capsules with names: that of the link, and a number if the link has several capsules."""
    bodies = {mechanism.robot.base.name: None} | {body.name: k for k, body in enumerate(mechanism.bodies)}
    links = [item.link for item in capsules]
    named: list[BodyCapsule] = []
    for k, item in enumerate(capsules):
        number = f"[{links[: k + 1].count(item.link)}]" if links.count(item.link) > 1 else ""
        named.append(BodyCapsule(f"{item.link}{number}", bodies[item.link], item))
    return named


def _are_neighbours(mechanism: Mechanism, a: str, b: str) -> bool:
    """Whether two links are the same or connected by a joint, also by a cut joint of a loop."""
    robot = mechanism.robot
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    return a == b or any({joint.parent, joint.child} == {a, b} for joint in joints)


def _make_margin(a: BodyCapsule, on_a: Segment, b: BodyCapsule, on_b: Segment, clearance: float) -> Margin:
    contact = measure_segments(on_a, on_b)
    value = contact.distance - (a.item.capsule.radius + b.item.capsule.radius + clearance)
    return Margin(
        value, (Push(a.body, contact.on_a, contact.direction), Push(b.body, contact.on_b, -contact.direction))
    )


def evaluate_margins(robot: Robot, poses: BodyPoses, margins: Sequence[Margin]) -> SampledMargins:
    """Return the margins at poses that are spread over the position limits. Nothing is compiled for one evaluation."""
    q = spread_poses(robot, SAMPLED_POSES)
    return SampledMargins(q, compile_graph(trace_margins(poses, margins), backend="interpreter")(q))


def _choose_pairs(
    robot: Robot,
    sampled: SampledMargins,
    names: Sequence[str],
    slopes: Float[np.ndarray, "margins joints"],
    pairs: Sequence[tuple[BodyCapsule, BodyCapsule]],
    clearance: float,
) -> tuple[list[int], list[float], list[Finding]]:
    """Return the pairs to check, the clearance of every pair, and findings about pairs that are too close.

    The sampled margins are distances of the surfaces.
    """
    overlapping, too_close = ((sampled.margins < limit).mean(axis=0) for limit in (0.0, clearance))
    is_near = np.count_nonzero(slopes, axis=1) <= MAX_JOINTS_BY_DESIGN
    limits = np.where(is_near, MAX_SHARE_TOO_CLOSE_BY_DESIGN, MAX_SHARE_TOO_CLOSE)
    clearances = np.where(too_close > limits, 0.0, clearance)
    always_apart = _prove_apart(robot, replace(sampled, margins=sampled.margins - clearances), slopes)
    # Links that two joints connect are often close in all poses. If no pose lets them touch, no motion can.
    by_design = (overlapping == 0.0) & (too_close > 0.0) & is_near
    checkable = (overlapping <= MAX_SHARE_TOO_CLOSE) & ~by_design
    kept = [k for k in range(len(pairs)) if checkable[k] and not always_apart[k]]
    findings = []
    for k, (a, b) in enumerate(pairs):
        links = (a.item.link, b.item.link)
        if overlapping[k] == 1.0 or by_design[k]:
            state = "they overlap in all poses" if overlapping[k] else "they are close, but do not touch in any pose"
            statement = f"{names[k]} are not checked for collision, because {state}"
            fields: dict[str, float | str] = {"share": float(overlapping[k])}
            findings.append(Finding(BY_DESIGN, Severity.NOTE, statement, names=links, fields=fields))
        elif overlapping[k] > MAX_SHARE_TOO_CLOSE:
            statement = (
                f"{names[k]} are not checked for collision, because they overlap in {100 * overlapping[k]:.1f} % of "
                "the poses within the position limits"
            )
            fields = {"share": float(overlapping[k]), "what": f"collision of {names[k]}"}
            findings.append(Finding(UNCHECKED, Severity.WARNING, statement, names=links, fields=fields))
        elif clearances[k] < clearance and not always_apart[k]:
            statement = (
                f"{names[k]} are checked for contact only, because they are closer than {clearance:g} m in "
                f"{100 * too_close[k]:.0f} % of the poses within the position limits"
            )
            fields = {"share": float(too_close[k]), "what": f"the clearance of {names[k]} (contact is)"}
            findings.append(Finding(UNCHECKED, Severity.WARNING, statement, names=links, fields=fields))
    return kept, clearances.tolist(), findings


def _prove_apart(robot: Robot, sampled: SampledMargins, slopes: Float[np.ndarray, "margins joints"]) -> list[bool]:
    """Return whether each margin is positive at all poses within the limits; False if that is not proved.

    From the pose in which a pair is farthest apart, it comes no closer than the bounds on the slopes allow.
    """
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.movable])
    best = sampled.margins.argmax(axis=0)
    start = sampled.q[best]
    farthest = np.maximum(start - limits[:, 0], limits[:, 1] - start)
    # A joint without limits proves nothing, but it does not matter for pairs that it does not move.
    change = (slopes * np.where(slopes > 0.0, farthest, 0.0)).sum(axis=1)
    return [bool(value) for value in sampled.margins[best, np.arange(len(best))] - change > 0.0]


# Poses spread evenly over the position limits of a robot, the same ones in every run.


def spread_poses(robot: Robot, count: int) -> SamplesByJoint:
    """Return joint positions of about ``count`` poses within the limits; joints without limits make one turn.

    Poses at which a loop cannot close, or at which a joint that is not actuated leaves its limits, are left out.
    """
    robot = robot.numeric
    lower, upper = np.array([_bound(limits.lower, limits.upper) for limits in robot.actuated_limits]).reshape(-1, 2).T
    Q = lower + (upper - lower) * _fill_unit_cube(count, len(lower))
    if robot.loops:
        outcome = solve(build_constraint(robot), Q)
        q = outcome.q[outcome.determined]
    else:
        order = [robot.actuated.index(name) for name in robot.coordinates]
        factors, offset = robot.coupling_map
        q = Q[:, order] @ factors.T + offset
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.movable]).reshape(-1, 2)
    slack = 1e-9
    within: SamplesByJoint = q[((q >= limits[:, 0] - slack) & (q <= limits[:, 1] + slack)).all(axis=1)]
    return within if len(within) else q


def _bound(lower: float, upper: float) -> tuple[float, float]:
    if math.isfinite(lower) and math.isfinite(upper):
        return lower, upper
    if math.isfinite(lower):
        return lower, lower + 2.0 * math.pi
    return (upper - 2.0 * math.pi, upper) if math.isfinite(upper) else (-math.pi, math.pi)


def _fill_unit_cube(count: int, dimensions: int) -> np.ndarray:
    """Return the additive recurrence of the generalized golden ratio, which fills the cube evenly (Roberts, 2018)."""
    ratio = 2.0
    for _ in range(60):  # the root of x^(d + 1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0

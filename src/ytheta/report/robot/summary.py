"""A robot as plain data. Unlimited, undefined and unknown values are None."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ytheta.conventions import LINK_PARAMETERS, OPTIONAL_JOINT_PARAMETERS
from ytheta.report.numbers import replace_nonfinite
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parameters import find_absent_parameters
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot


def summarize_robot(robot: Robot) -> dict[str, Any]:
    """Return the description of a robot."""
    return {
        "name": robot.name,
        "about": robot.about,
        "source": robot.source,
        "floating": robot.floating,
        "joints": len(robot.movable),
        "actuated": list(robot.actuated),
        "passive": list(robot.passive) if robot.loops else [],
        "loops": len(robot.loops),
        "standard_parameters": len(robot.parameter_names),
        "absent_parameters": _list_absent_parameters(robot),
        "gravity_in_base": list(robot.gravity_in_base),
        "lengths": dict(robot.lengths),
        "unset_lengths": list(robot.unset_lengths),
        "angles": dict(robot.angles),
        "unset_angles": list(robot.unset_angles),
        "inertias_unknown": robot.inertias_unknown,
        "total_mass": None if robot.inertias_unknown else sum(link.inertia.mass for link in robot.links),
        "consistent": None if robot.inertias_unknown else all(robot.consistency.values()),
        "inconsistent": {
            name: consistency.reason for name, consistency in robot.consistency.items() if not consistency
        },
        "joint_table": [_summarize_joint(joint) for joint in robot.joints],
        "link_table": _summarize_links(robot),
        "couplings": [
            {"joint": coupling.joint, "terms": dict(coupling.terms), "offset": coupling.offset}
            for coupling in robot.couplings
        ],
        "forces": [
            {"name": force.name, "acts_on": [name for name, _ in force.torque], "value": force.value}
            for force in robot.forces
        ],
        "loop_table": [_summarize_loop(robot, loop) for loop in robot.loops],
        "findings": [replace_nonfinite(finding.data) for finding in robot.findings],
    }


def _list_absent_parameters(robot: Robot) -> list[str]:
    """Return the standard parameters that the robot does not have, in the order of theta."""
    absent = find_absent_parameters(robot)
    return [name for name in robot.parameter_names if name in absent]


def _summarize_links(robot: Robot) -> list[dict[str, Any]]:
    """Return each moving link with the links fixed to it merged into it; parameters are None if a symbol is unset."""
    # Any value can replace a length or an angle that is not set: parameters that depend on it are not shown.
    lengths, angles = ({name: 0.0 for name, value in each if value is None} for each in (robot.lengths, robot.angles))
    complete = replace(robot, inertias_unknown=False)
    bodies = complete.with_lengths(**lengths).with_angles(**angles).merged.links[1:]
    unset = set(robot.unset_symbols)
    members = _merged_links(robot)
    rows = []
    for body in bodies:
        links = members[body.name]
        known = not robot.inertias_unknown and not any(
            unset & (frame.symbols | frame.angles) for link, frame in links if not link.inertia.massless
        )
        inconsistent = [
            f"{link.name}: {robot.consistency[link.name].reason}"
            for link, _ in links
            if not robot.consistency[link.name]
        ]
        parameters = dict(zip(LINK_PARAMETERS, body.inertia.parameters, strict=True))
        rows.append(
            {
                "name": body.name,
                "mass": None if robot.inertias_unknown else body.inertia.mass,
                "center": [_finite_or_none(entry) for entry in body.inertia.center] if known else None,
                "parameters": parameters if known else None,
                "consistent": None if robot.inertias_unknown else not inconsistent,
                "consistency": "; ".join(inconsistent) or robot.consistency[body.name].reason,
            }
        )
    return rows


def _merged_links(robot: Robot) -> dict[str, list[tuple[Link, Frame]]]:
    """Return the links that are merged into each remaining link, with their frames, when fixed joints are merged."""
    body_of = {robot.base.name: (robot.base.name, IDENTITY)}
    members: dict[str, list[tuple[Link, Frame]]] = {robot.base.name: [(robot.base, IDENTITY)]}
    for joint, link in zip(robot.joints, robot.links[1:], strict=True):
        carrier, frame = body_of[joint.parent]
        if joint.kind is JointKind.FIXED and not link.load:
            body_of[link.name] = carrier, frame @ joint.placement @ joint.seat
        else:
            body_of[link.name] = link.name, IDENTITY
        carrier, frame = body_of[link.name]
        members.setdefault(carrier, []).append((link, frame))
    return members


def _summarize_joint(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    drive = joint.drive
    return {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "axis": list(joint.axis) if joint.moves else None,
        "position": [_finite_or_none(limits.lower), _finite_or_none(limits.upper)],
        "velocity": _finite_or_none(limits.velocity),
        "acceleration": _finite_or_none(limits.acceleration),
        "effort": _finite_or_none(limits.effort),
        **dict.fromkeys(OPTIONAL_JOINT_PARAMETERS),
        **dict(zip(drive.parameter_symbols, drive.parameters, strict=True)),
        "friction_speed": drive.friction_speed,
    }


def _summarize_loop(robot: Robot, loop: Loop) -> dict[str, Any]:
    through = robot.coordinates_of(robot.joints_of(loop))
    return {
        "name": loop.name,
        "type": loop.joint.kind.value,
        "links": [loop.joint.parent, loop.joint.child],
        "actuated": [name for name in through if name in robot.actuated],
        "passive": [name for name in through if name in robot.passive],
    }


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None

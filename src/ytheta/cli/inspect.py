"""``ytheta inspect ROBOT``: what a description says, with verdicts, as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from ytheta.cli.costs import costs, inverse_dynamics_costs
from ytheta.cli.inspect_tables import print_summary
from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    Strict,
    assignments,
    console,
    print_json,
    read_robot,
    remark,
)
from ytheta.conventions import LINK_PARAMETERS, SNAP
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.loops.closure import CLOSED, Closure, close_loops
from ytheta.robot.parts import Joint, JointKind, Limits, Link
from ytheta.robot.robot import Robot

Pose = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="NAME=VALUE", help="Close the loops at this position of an actuated coordinate."),
]


def inspect(
    robot: RobotArgument,
    as_json: AsJson = False,
    snap: Snap = SNAP,
    strict: Strict = False,
    fix_base: FixBase = False,
    length: Lengths = None,
    at: Pose = None,
) -> None:
    """Show a robot: its tree, joints, parameters, consistency and loops.

    Example: `ytheta inspect walker --at q5=0.8 --at q7=1.3`
    """
    model = read_robot(robot, snap=snap, strict=strict, fix_base=fix_base, lengths=length)
    closure = _closure(model, at)
    for text in _beyond_limits(model, closure):
        remark(text)
    data = summary(model, closure)
    if as_json:
        print_json(data)
    else:
        print_summary(console(), model, data)


def _closure(robot: Robot, at: Sequence[str] | None) -> Closure | None:
    """The closed pose; None where there is no loop, or a length that is not set keeps it from being computed."""
    pose = assignments(at, "--at")
    if not robot.loops:
        if pose:
            raise InputError(f"--at closes loops, but robot {robot.name!r} has none; leave --at away")
        return None
    if robot.unset_lengths and not pose:
        return None
    closure = close_loops(robot, pose)
    return closure.or_raise() if robot.actuated else closure


def _beyond_limits(robot: Robot, closure: Closure | None) -> Iterator[str]:
    """A sentence for every joint, cut joint and motor that a closed pose puts outside of its limits."""
    if closure is None or not closure.closed:
        return
    positions = dict(zip((joint.name for joint in robot.movable), closure.q.tolist(), strict=True))
    positions |= {loop.name: loop.position for loop in closure.loops} | closure.coordinates
    factors, offset = robot.motor_map
    turned = factors @ [closure.coordinates[name] for name in robot.coordinates] + offset
    positions |= {motor.name: position for motor, position in zip(robot.motors, turned, strict=True)}
    limits: dict[str, Limits] = {joint.name: joint.limits for joint in robot.movable}
    limits |= {loop.name: loop.joint.limits for loop in robot.loops if loop.joint.moves}
    limits |= {motor.name: motor.limits for motor in robot.motors}
    for name, bounds in limits.items():
        if not bounds.lower - CLOSED <= positions[name] <= bounds.upper + CLOSED:
            yield f"{name} = {positions[name]:.5g} is outside its limits {bounds.lower:.5g} … {bounds.upper:.5g}"


def summary(robot: Robot, closure: Closure | None) -> dict[str, Any]:
    """Everything ``inspect`` knows, as plain data. Unlimited, undefined and not known yet are None."""
    known = bool(robot.actuated) and not robot.unset_lengths
    formulations = costs(robot) if robot.movable and not robot.unset_lengths else {}
    return {
        "name": robot.name,
        "about": robot.about,
        "source": robot.source,
        "joints": len(robot.movable),
        "actuated": list(robot.actuated),
        "passive": list(robot.passive) if robot.loops else [],
        "loops": len(robot.loops),
        "standard_parameters": len(robot.parameter_names),
        "operations": {name: cost for name, cost in formulations.items() if "reason" not in cost},
        "not_counted": {name: cost["reason"] for name, cost in formulations.items() if "reason" in cost},
        "inverse_dynamics": inverse_dynamics_costs(robot) if known else {},
        "base_parameters": len(base_parameters(robot)) if known else None,
        "gravity_in_base": list(robot.gravity_in_base),
        "lengths": dict(robot.lengths),
        "unset_lengths": list(robot.unset_lengths),
        "total_mass": sum(link.inertia.mass for link in robot.links),
        "consistent": all(robot.consistency.values()),
        "inconsistent": {name: verdict.reason for name, verdict in robot.consistency.items() if not verdict},
        "joint_table": [_joint_row(joint) for joint in robot.joints],
        "link_table": _link_rows(robot),
        "couplings": [
            {"joint": coupling.joint, "terms": dict(coupling.terms), "offset": coupling.offset}
            for coupling in robot.couplings
        ],
        "forces": [
            {"name": force.name, "acts_on": [name for name, _ in force.torque], "value": force.value}
            for force in robot.forces
        ],
        "loop_table": _loop_rows(robot, closure),
        "findings": [finding.data for finding in robot.findings],
    }


def _link_rows(robot: Robot) -> list[dict[str, Any]]:
    """The links that have parameters, each with what is fixed to it; no parameters where a length has no value yet."""
    # Any value serves for a length that is not set: what depends on it is not shown.
    bodies = robot.with_lengths(**{name: 0.0 for name, value in robot.lengths if value is None}).merged.links[1:]
    carried = _carried(robot)
    rows = []
    for body in bodies:
        links = carried[body.name]
        known = not any(set(robot.unset_lengths) & frame.symbols for link, frame in links if not link.inertia.massless)
        bad = [f"{link.name}: {robot.consistency[link.name].reason}" for link, _ in links if not robot.consistency[link.name]]
        parameters = dict(zip(LINK_PARAMETERS, body.inertia.parameters, strict=True))
        rows.append(
            {
                "name": body.name,
                "mass": body.inertia.mass,
                "center": [_finite(entry) for entry in body.inertia.center] if known else None,
                "parameters": parameters if known else None,
                "consistent": not bad,
                "verdict": "; ".join(bad) or robot.consistency[body.name].reason,
            }
        )
    return rows


def _carried(robot: Robot) -> dict[str, list[tuple[Link, Frame]]]:
    """For every link that stays when fixed joints are merged: itself and what is merged into it, with their frames."""
    place = {robot.base.name: (robot.base.name, IDENTITY)}
    carried: dict[str, list[tuple[Link, Frame]]] = {robot.base.name: [(robot.base, IDENTITY)]}
    for joint, link in zip(robot.joints, robot.links[1:], strict=True):
        carrier, frame = place[joint.parent]
        if joint.kind is JointKind.FIXED and not link.load:
            place[link.name] = carrier, frame @ joint.placement @ joint.seat
        else:
            place[link.name] = link.name, IDENTITY
        carrier, frame = place[link.name]
        carried.setdefault(carrier, []).append((link, frame))
    return carried


def _joint_row(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    inertia, viscous, coulomb, offset = joint.drive.parameters
    return {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "axis": list(joint.axis) if joint.moves else None,
        "position": [_finite(limits.lower), _finite(limits.upper)],
        "velocity": _finite(limits.velocity),
        "acceleration": _finite(limits.acceleration),
        "effort": _finite(limits.effort),
        "Ia": inertia,
        "fv": viscous,
        "fc": coulomb,
        "fo": offset,
    }


def _loop_rows(robot: Robot, closure: Closure | None) -> list[dict[str, Any]]:
    states = {state.name: state for state in closure.loops} if closure else {}
    rows = []
    for loop in robot.loops:
        through = robot.coordinates_of(robot.joints_of(loop))
        state = states.get(loop.name)
        rows.append(
            {
                "name": loop.name,
                "type": loop.joint.kind.value,
                "links": [loop.joint.parent, loop.joint.child],
                "actuated": [name for name in through if name in robot.actuated],
                "passive": [name for name in through if name in robot.passive],
                "gap": state.gap if state else None,
                "position": state.position if state else None,
                "coordinates": {name: closure.coordinates[name] for name in through} if closure else {},
                "freedom": closure.freedom if closure else None,
            }
        )
    return rows


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

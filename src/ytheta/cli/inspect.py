"""``ytheta inspect ROBOT``: the tree, joints, parameters, consistency and loops of a description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    Strict,
    make_console,
    parse_assignments,
    print_json,
    print_note,
    read_robot,
)
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.report.robot.summary import summarize_robot
from ytheta.report.robot.text import print_robot
from ytheta.robot.loops.closure import CLOSURE_TOLERANCE, Closure, close_loops
from ytheta.robot.parts import Limits
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
    closure = _close_loops(model, at)
    for text in _list_exceeded_limits(model, closure):
        print_note(text)
    data = summarize_robot(model, closure)
    if as_json:
        print_json(data)
    else:
        print_robot(make_console(), model, data)


def _close_loops(robot: Robot, at: Sequence[str] | None) -> Closure | None:
    """Return the configuration with loops closed; None if there is no loop, or if a length is not set."""
    pose = parse_assignments(at, "--at")
    if not robot.loops:
        if pose:
            raise InputError(f"--at closes loops, but robot {robot.name!r} has none; remove --at")
        return None
    if robot.unset_lengths and not pose:
        return None
    closure = close_loops(robot, pose)
    return closure.or_raise() if robot.actuated else closure


def _list_exceeded_limits(robot: Robot, closure: Closure | None) -> Iterator[str]:
    """Yield a sentence for each joint, cut joint and motor that a closed configuration puts outside its limits."""
    if closure is None or not closure.closed:
        return
    positions = dict(zip((joint.name for joint in robot.movable), closure.q.tolist(), strict=True))
    positions |= {loop.name: loop.position for loop in closure.loops} | closure.coordinates
    factors, offset = robot.motor_map
    motor_positions = factors @ [closure.coordinates[name] for name in robot.coordinates] + offset
    positions |= {motor.name: position for motor, position in zip(robot.motors, motor_positions, strict=True)}
    limits: dict[str, Limits] = {joint.name: joint.limits for joint in robot.movable}
    limits |= {loop.name: loop.joint.limits for loop in robot.loops if loop.joint.moves}
    limits |= {motor.name: motor.limits for motor in robot.motors}
    for name, bounds in limits.items():
        if not bounds.lower - CLOSURE_TOLERANCE <= positions[name] <= bounds.upper + CLOSURE_TOLERANCE:
            yield f"{name} = {positions[name]:.5g} is outside its limits {bounds.lower:.5g} … {bounds.upper:.5g}"

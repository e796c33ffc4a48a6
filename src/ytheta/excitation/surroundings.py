"""What a motion must not touch: the robot itself, a floor, obstacles; and boxes that frames must not leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ytheta.arguments import check_kind, check_number, is_not_negative
from ytheta.errors import InputError
from ytheta.excitation.clearance.constraint import Clearance
from ytheta.excitation.clearance.obstacle import Obstacle, make_floor
from ytheta.excitation.clearance.obstacle_clearance import make_obstacle_clearance
from ytheta.excitation.clearance.self_collision import make_self_collision
from ytheta.excitation.clearance.workspace import make_workspace
from ytheta.excitation.result import SELF_COLLISION_UNCHECKED
from ytheta.findings import Finding, Severity
from ytheta.robot.robot import Robot

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

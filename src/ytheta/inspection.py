"""Inspection of a robot: closed loops, limits, accepted formulations, operation counts, number of base parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType

from ytheta.arguments import check_kind
from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.display import Displayed
from ytheta.dynamics.formulations.registry import formulations
from ytheta.dynamics.operation_counts import (
    MAX_COUNTED_JOINTS,
    count_inverse_dynamics_operations,
    count_operations_as_in_lin1995,
    count_regressor_operations,
)
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.loops.closure import Closure, close_loops
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot, check_is_robot


class InspectionFindingCode(StrEnum):
    """The kind of a finding about an inspected robot."""

    LARGE = "large"  # the robot has too many joints to count its base parameters in passing
    OUTSIDE_LIMITS = "outside limits"  # the closed configuration puts a joint, cut joint or motor outside its limits


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Displayed):
    """A robot description, and what follows from it.

    Attributes
    ----------
    robot             the robot
    closure           the configuration with closed loops; None without loops, or if a symbol has no value
    formulations      by formulation of the regressor: None if it accepts the robot, else the reason why not
    operations        by formulation: ``multiplications`` and ``additions`` of the regressor, for one sample
    not_counted       by formulation that is missing in ``operations``: the reason
    inverse_dynamics  likewise ``multiplications`` and ``additions`` of inverse dynamics, fewest operations first
    lin1995_operations
                      those of composite_newton_euler, counted as in Tables II and III of Lin 1995; None if it refuses
    base_count        number of base parameters of links and forces; None if actuated coordinates or symbols are not
                      set, or if the robot has more than 100 joints
    pose_findings     joints, cut joints and motors that the closed configuration puts outside their limits
    base_findings     a warning if the number of base parameters is not certain
    findings          findings of the reader of the description, ``pose_findings`` and ``base_findings``
    """

    robot: Robot
    closure: Closure | None
    formulations: Mapping[str, str | None]
    operations: Mapping[str, Mapping[str, int]]
    not_counted: Mapping[str, str]
    inverse_dynamics: Mapping[str, Mapping[str, int]]
    lin1995_operations: Mapping[str, int] | None
    base_count: int | None
    pose_findings: tuple[Finding, ...]
    base_findings: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the reader of the description, ``pose_findings`` and ``base_findings``."""
        return (*self.robot.findings, *self.pose_findings, *self.base_findings)

    def __repr__(self) -> str:
        base = "" if self.base_count is None else f", {self.base_count} base parameters"
        return f"Inspection({self.robot!r}{base})"


def inspect(robot: Robot, *, at: Mapping[str, float] | None = None) -> Inspection:
    """Inspect a robot. Its loops are closed at home, or at the positions ``at`` of actuated coordinates.

    Raise ClosureError if the loops cannot close there.
    """
    check_is_robot(robot)
    form = 'a dictionary of positions by actuated coordinate, such as {"q1": 0.5}'
    check_kind("at", at, (Mapping, NoneType), form)
    closure = _close_loops(robot, dict(at or {}))
    has_numbers = not robot.unset_symbols
    counts = count_regressor_operations(robot) if robot.movable and has_numbers else {}
    is_determined = has_numbers and bool(robot.actuated)
    is_large = len(robot.movable) > MAX_COUNTED_JOINTS
    base = base_parameters(robot) if is_determined and not is_large else None
    base_findings = () if base is None else base.findings
    if is_determined and is_large:
        base_findings = (_report_large_robot(robot),)
    return Inspection(
        robot=robot,
        closure=closure,
        formulations=formulations(robot),
        operations={name: count for name, count in counts.items() if "reason" not in count},
        not_counted={name: count["reason"] for name, count in counts.items() if "reason" in count},
        inverse_dynamics=count_inverse_dynamics_operations(robot) if is_determined else {},
        lin1995_operations=count_operations_as_in_lin1995(robot) if is_determined else None,
        base_count=None if base is None else len(base),
        pose_findings=tuple(_find_exceeded_limits(robot, closure)),
        base_findings=base_findings,
    )


def _report_large_robot(robot: Robot) -> Finding:
    statement = f"base parameters and regressors of {len(robot.movable)} joints take long, and are not counted here"
    return Finding(
        InspectionFindingCode.LARGE,
        Severity.NOTE,
        statement,
        remedy="count them with ytheta base or base_parameters(robot)",
        fields={"joints": len(robot.movable), "max_joints": MAX_COUNTED_JOINTS},
    )


def _close_loops(robot: Robot, at: Mapping[str, float]) -> Closure | None:
    """Return the configuration with loops closed; None if there is no loop, or if a symbol is not set."""
    if not robot.loops:
        if at:
            raise InputError(f"'at' closes loops, but robot {robot.name!r} has none; leave it out")
        return None
    if robot.unset_symbols and not at:
        return None
    closure = close_loops(robot, at)
    return closure.or_raise() if robot.actuated else closure


def _find_exceeded_limits(robot: Robot, closure: Closure | None) -> Iterator[Finding]:
    """Yield a note for each joint, cut joint and motor that a closed configuration puts outside its limits."""
    if closure is None or not closure.closed:
        return
    positions = dict(zip(robot.position_names, closure.q.tolist(), strict=True))
    positions |= {loop.name: loop.position for loop in closure.loops} | closure.coordinates
    factors, offset = robot.motor_map
    motor_positions = factors @ [closure.coordinates[name] for name in robot.coordinates] + offset
    positions |= {motor.name: float(x) for motor, x in zip(robot.motors, motor_positions, strict=True)}
    limits: dict[str, Limits] = {joint.name: joint.limits for joint in robot.movable}
    limits |= {loop.name: loop.joint.limits for loop in robot.loops if loop.joint.moves}
    limits |= {motor.name: motor.limits for motor in robot.motors}
    for name, bounds in limits.items():
        position = positions[name]
        if not bounds.lower - CLOSURE_TOLERANCE <= position <= bounds.upper + CLOSURE_TOLERANCE:
            yield Finding(
                InspectionFindingCode.OUTSIDE_LIMITS,
                Severity.NOTE,
                f"{name} = {position:.5g} is outside its limits {bounds.lower:.5g} … {bounds.upper:.5g}",
                names=(name,),
                fields={"position": position, "lower": bounds.lower, "upper": bounds.upper},
            )

"""The choice of actuated coordinates of robots with loops, and of a home configuration at which the loops close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ytheta.findings import Finding, Severity
from ytheta.robot.loops.equations import close_near
from ytheta.robot.loops.independent import choose_independent
from ytheta.robot.robot import Robot

ACTUATED = "actuated"  # code of the findings


def choose_actuated(robot: Robot, driven: Iterable[str], *, names_actuators: bool = True) -> Robot:
    """Return a robot with loops with its actuated coordinates: those with actuators, and others that stay free.

    Coordinates that neither an actuator nor a loop determines count as actuated. Those with actuators that depend on
    others do not. If the loops are open at home, the home configuration becomes the one at which they close. ``driven``
    are names of joints; names of other things are ignored. ``names_actuators``: whether the format of the file names
    actuators, so that a coordinate without one is worth a note.
    """
    if not robot.loops:
        return robot
    joints = {joint.name: joint for joint in robot.movable}
    preferred = dict.fromkeys(
        name for joint in driven if joint in joints for name in robot.coordinates_of([joints[joint]])
    )
    in_loops = set(robot.coordinates_of(joint for loop in robot.loops for joint in robot.joints_of(loop)))
    outside = tuple(name for name in robot.coordinates if name in joints and name not in in_loops)
    choice = choose_independent(robot, tuple(dict.fromkeys((*robot.base_coordinates, *preferred, *outside))))
    if not choice.closed and not preferred:
        statement = "the loops cannot be closed near the home configuration, and no actuator drives them"
        remedy = "no coordinates are actuated; choose 'actuated' and a 'home' in a TOML file that extends this one"
        finding = Finding(ACTUATED, Severity.WARNING, statement, remedy)
        return replace(robot, findings=(*robot.findings, finding))
    dropped = tuple(name for name in choice.dropped if name in preferred)
    findings: list[Finding] = []
    if choice.closed and not choice.independent:
        statement = "the loops leave no coordinate free, so that the robot cannot move"
        remedy = "check whether a constraint fixes directions that its joints leave free, as a weld instead of a hinge"
        findings.append(Finding(ACTUATED, Severity.WARNING, statement, remedy))
    if choice.added and names_actuators:
        names = ", ".join(choice.added)
        statement = f"the loops leave coordinates free that no actuator drives; these count as actuated: {names}"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement, names=choice.added))
    if dropped:
        statement = f"coordinates with actuators depend on others by the loops: {', '.join(dropped)}"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement, names=dropped))
    home = robot.home
    passive = [k for k, name in enumerate(robot.coordinates) if name not in choice.independent]
    _, closed = close_near(robot.numeric, robot.home_coordinates[None], passive)
    if choice.closed and not closed.all():
        home = tuple((name, float(x)) for name, x in zip(robot.coordinates, choice.pose, strict=True) if x)
        statement = "the loops are open at the home configuration of the file; home was changed to close them"
        findings.append(Finding(ACTUATED, Severity.NOTE, statement))
    return replace(robot, actuated=choice.independent, home=home, findings=(*robot.findings, *findings))

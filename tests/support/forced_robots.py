"""Robots with declared forces."""

from __future__ import annotations

from dataclasses import replace

from ytheta.robot.parts import Force
from ytheta.robot.robot import Robot

SPRING = Force("spring", (("joint2", "joint2 - 0.3"),), value=25.0)


CABLE = Force(
    "cable",
    (("joint2", "0.7*bend"), ("joint3", "-bend*cos(joint5)"), ("joint5", "1")),
    (("x", "joint2 + 0.67*joint3"), ("bend", "x**3 - 0.2*tanh(x)")),
    value=-3.0,
)


def with_forces(robot: Robot, *forces: Force) -> Robot:
    return replace(robot, forces=(*robot.forces, *forces))

"""Robots whose motors turn with several joints."""

from __future__ import annotations

from dataclasses import replace

from tests.support.driven_robots import coupled_robot, driven_robot
from ytheta.robot.parts import Drive, Motor
from ytheta.robot.robot import Robot

DRIVE = Drive(3e-5, 32.0, 0.6, 1.9, 0.05, 0.1)


def wrist(robot: Robot, *terms: tuple[str, float]) -> Robot:
    return replace(robot, motors=(*robot.motors, Motor("m", drive=DRIVE, turns_with=terms)))


PUMA = wrist(driven_robot("puma560"), ("joint5", 1.0), ("joint6", 0.8))


COUPLED = wrist(coupled_robot(), ("joint5", -0.5), ("joint6", 2.0))  # joint6 = m6 - joint5 + 0.3

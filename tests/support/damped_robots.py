"""Robots with strong friction, and their simulation on the default reference."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support import example_robots
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.tuning import suggest_gains
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.simulation.references import default_reference
from ytheta.simulation.result import Simulation

SECONDS = 1.0
POSE = np.zeros((3, 1))  # three samples of one joint
MASS = 0.02  # kg m² about the axis, or kg, at every pose


def one_joint(kind: JointKind = JointKind.REVOLUTE, **drive: Any) -> Robot:
    parameters = (MASS, *([0.0] * 3), MASS, 0.0, MASS, 0.0, 0.0, MASS)
    joint = Joint("q1", kind, "base", "arm", drive=Drive(**drive))
    return Robot("one", (Link("base"), Link("arm", Inertia(parameters))), (joint,))


@cache
def vendor_robot(name: str) -> Robot:
    if not any(path.name == name for path in example_robots.urdf_files()):
        pytest.skip(f"example-robot-data has no {name}")
    return yt.load(example_robots.urdf(name))


def damped_five_bar(viscous: float) -> Robot:
    """A five-bar with friction in all joints, including the cut joint."""
    robot = yt.load("five-bar")
    drive = Drive(viscous=viscous)
    return replace(
        robot,
        joints=tuple(replace(joint, drive=drive) for joint in robot.joints),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=drive)) for loop in robot.loops),
    )


def track(robot: Robot, **settings: Any) -> Simulation:
    """Simulate computed torque with suggested gains on the default reference."""
    reference = default_reference(robot, SECONDS)
    motion = reference(np.linspace(0.0, SECONDS, 100))
    law = ComputedTorque(
        robot, **suggest_gains("computed-torque", robot, motion=motion, rate=settings.get("rate", 1000.0))
    )
    return yt.simulate(robot, law, seconds=SECONDS, reference=reference, **settings)

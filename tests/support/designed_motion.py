"""Designs of small arms, with little work, for tests of files, tables and pages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import ytheta as yt
from ytheta.robot.parts import Drive, Joint

FRICTION = ("viscous", "coulomb")
COULOMB_SPEED = 0.05  # rad/s, over which the plant's friction changes its sign
OPTIONS = {"velocity": 2.0, "effort": 60.0}
NOISE, RATE = 0.1, 500.0  # Nm and Hz of the log that a design expects
# What ``design_motion`` asks for, and what must be asked again of its saved motion.
ASKED: dict[str, Any] = {
    "friction": FRICTION,
    "noise": NOISE,
    "rate": RATE,
    **OPTIONS,
    "floor": None,  # the base of this arm is in its shoulder
    "self_collision": False,
    "position_margin": 0.0,
    "velocity_margin": 0.0,
}


def make_arm(drive: Drive | None = None) -> yt.Robot:
    """Return an arm with four joints and position limits; its drives have smooth Coulomb friction."""
    arm = yt.load("lu-puma4")

    def limit(joint: Joint) -> Joint:
        if joint.name not in arm.actuated:
            return joint
        return replace(
            joint,
            limits=replace(joint.limits, lower=-1.5, upper=1.5),
            drive=Drive(coulomb_speed=COULOMB_SPEED) if drive is None else drive,
        )

    return replace(arm, joints=tuple(limit(joint) for joint in arm.joints))


@cache
def design_motion(criterion: str = "d") -> yt.Excitation:
    """Return a design for the arm."""
    return yt.excite(make_arm(), criterion=criterion, starts=2, polished=1, **ASKED)


@cache
def design_two_link(parametrisation: str = "fourier") -> yt.Excitation:
    """Return a design for a planar arm with two joints."""
    robot = yt.load("lu-two-link")
    return yt.excite(
        robot,
        criterion="d",
        parametrisation=parametrisation,
        position=dict.fromkeys(robot.actuated, (-1.5, 1.5)),
        velocity=2.0,
        effort=100.0,
        starts=1,
        polished=1,
        floor=None,
        self_collision=False,
    )

"""Robots of revolute joints, given by names."""

from __future__ import annotations

from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

R = JointKind.REVOLUTE


def revolute_chain(*joints: tuple[str, str, str], **fields: object) -> Robot:
    """A robot of revolute joints given as (name, parent, child), links in the order they are named."""
    names = dict.fromkeys(name for joint in joints for name in joint[1:])
    return Robot(
        "revolute_chain",
        links=tuple(Link(name) for name in names),
        joints=tuple(Joint(name, R, parent, child) for name, parent, child in joints),
        **fields,  # type: ignore[arg-type]
    )

"""The same robot with other link frames: nothing moves, only what positions and inertias are counted from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, Loop
from ytheta.robot.robot import Robot


def reframed(robot: Robot, frames: Mapping[str, Frame]) -> Robot:
    """``robot`` with new link frames, each given as the new frame seen from the old one; links not named keep theirs.

    Joint frames and axes stay where they are, so placements and seats take up the change. A new frame for the base
    also goes into the mounting. The frames of links with mass must be numeric.
    """

    def frame(link: str) -> Frame:
        return frames.get(link, IDENTITY)

    def seen_from_new(joint: Joint) -> Joint:
        placement = frame(joint.parent).inverse() @ joint.placement
        return replace(joint, placement=placement, seat=joint.seat @ frame(joint.child))

    for name in frames:
        robot.link(name)
    return replace(
        robot,
        links=tuple(
            link if link.inertia.massless else replace(link, inertia=link.inertia.seen_from(frame(link.name).inverse()))
            for link in robot.links
        ),
        joints=tuple(seen_from_new(joint) for joint in robot.joints),
        loops=tuple(Loop(seen_from_new(loop.joint)) for loop in robot.loops),
        markers=tuple(replace(marker, frame=frame(marker.link).inverse() @ marker.frame) for marker in robot.markers),
        mounting=robot.mounting @ frame(robot.base.name),
    )

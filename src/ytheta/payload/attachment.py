"""Where a payload is attached: the link that carries it, and the frame in which its values are stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot

PAYLOAD = "payload"  # the name of the link that is the payload


@dataclass(frozen=True)
class Attachment:
    """The place of a payload.

    Attributes
    ----------
    robot          the robot without the payload
    link           the link or marker to which the payload is fixed, and in whose frame its ten parameters are estimated
    frame          the link or marker in whose frame its values are stated
    holder         the link of the robot without fixed joints that carries it
    placement      the frame of ``link`` seen from ``holder``
    link_in_frame  the frame of ``link`` seen from ``frame``
    name           name of the new link that is the payload
    """

    robot: Robot
    link: str
    frame: str
    holder: str
    placement: Frame
    link_in_frame: Frame
    name: str

    def attach(self, inertia: Inertia) -> Robot:
        """Return the robot with a payload of this inertia, given in the frame of ``link``."""
        return self.robot.merged.with_load(inertia, name=self.name, on=self.holder, frame=self.placement)


def find_attachment(robot: Robot, *, link: str | None, frame: str | None, name: str) -> Attachment:
    """Return where a payload is attached; ``link``: None for the end of the arm, ``frame``: None for that of ``link``.

    Raise InputError if the arm has several ends, if the link never moves, or if the frame moves relative to it.
    """
    link = find_end(robot) if link is None else link
    frame = link if frame is None else frame
    (holder, placement), (other, frame_in_holder) = (_locate(robot, each) for each in (link, frame))
    if holder != other:
        raise InputError(f"frame {frame!r} moves relative to link {link!r}; give a frame that is fixed to this link")
    if not any(joint.moves or joint.kind is JointKind.FREE for joint in robot.merged.path(holder)):
        raise InputError(f"link {link!r} of {robot.name!r} never moves, so that a payload on it needs no torque")
    names = (*(each.name for each in robot.links), *(each.name for each in robot.markers))
    if name in names:
        raise InputError(
            f"robot {robot.name!r} already has a link or marker {name!r}; use the model without the payload, or choose "
            "another name: --name, or name=…"
        )
    return Attachment(robot, link, frame, holder, placement, frame_in_holder.inverse() @ placement, name)


def find_end(robot: Robot) -> str:
    """Return the last link of an arm: the only one that carries no other link, except loads, and closes no loop."""
    merged = robot.merged
    loads = {link.name for link in merged.links if link.load}
    inner = {joint.parent for joint in merged.joints if joint.child not in loads}
    inner |= {each for loop in merged.loops for each in (loop.joint.parent, loop.joint.child)}
    ends = [link.name for link in merged.links if link.name not in inner | loads]
    if len(ends) != 1:
        listed = f"{len(ends)} ends ({', '.join(ends[:6])}{', …' if len(ends) > 6 else ''})" if ends else "no end"
        raise InputError(
            f"robot {robot.name!r} has {listed}; name the link that carries the payload: --link, or link=…"
        )
    return ends[0]


def _locate(robot: Robot, name: str) -> tuple[str, Frame]:
    """Return the link that carries a link or marker, and the frame of the latter seen from the former."""
    merged = robot.merged.numeric
    frames = {marker.name: (marker.link, marker.frame) for marker in merged.markers}
    frames |= {link.name: (link.name, IDENTITY) for link in merged.links}
    if name not in frames:
        raise UnknownNameError(f"robot {robot.name!r} has no link or marker {name!r}{suggest_names(name, frames)}")
    holder, frame = frames[name]
    matrix = np.array(frame.matrix)
    while (path := merged.path(holder)) and path[-1].kind is JointKind.FIXED:
        joint = path[-1]
        matrix = joint.placement.matrix @ joint.seat.matrix @ matrix
        holder = joint.parent
    return holder, IDENTITY if np.array_equal(matrix, np.eye(4)) else Frame.from_matrix(matrix)

"""Links, joints, motors and forces of a robot after some of its joints have been locked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ytheta.files.expressions import replace_positions
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Drive, Force, Joint, JointKind, Limits, Link, Motor


def fix_joint(joint: Joint, position: float) -> Joint:
    """Return a joint that is fixed at a position."""
    if joint.kind is JointKind.REVOLUTE:
        motion = Frame.turn(joint.axis, position)
    else:
        motion = Frame.shift(*(position * entry for entry in joint.axis))
    return replace(joint, kind=JointKind.FIXED, placement=joint.placement @ motion, limits=Limits(), drive=Drive())


def reduce_links(links: Sequence[Link], joints: Sequence[Joint], locked: Collection[str]) -> tuple[Link, ...]:
    """Return the links, of which those that carry a link with inertia on a locked joint have one too.

    ``joints`` have parents before children. An unknown inertia has the value zero, and counts as well.
    """
    bodies = {link.name for link in links if link.has_inertia}
    for joint in reversed(joints):
        if joint.name in locked and joint.child in bodies:
            bodies.add(joint.parent)
    return tuple(replace(link, has_inertia=link.name in bodies) for link in links)


def reduce_motor(motor: Motor, still: set[str]) -> Motor | None:
    """Return a motor that turns with the joints that still move; None if there are none."""
    if motor.is_coordinate:
        return motor
    turns_with = tuple((name, factor) for name, factor in motor.turns_with if name in still)
    return replace(motor, turns_with=turns_with) if turns_with else None


def reduce_force(force: Force, gone: set[str], positions: Mapping[str, float]) -> Force | None:
    """Return a force with numbers in place of locked positions; None if it acts on locked joints only."""
    torque = tuple((name, text) for name, text in force.torque if name not in gone)
    if not torque:
        return None
    where = tuple((name, replace_positions(text, positions)) for name, text in force.where)
    return replace(
        force, torque=tuple((name, replace_positions(text, positions)) for name, text in torque), where=where
    )

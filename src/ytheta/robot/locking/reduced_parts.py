"""Joints, motors and forces of a robot after some of its joints have been locked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ytheta.files.expressions import replace_positions
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Drive, Force, Joint, JointKind, Limits, Motor


def fix_joint(joint: Joint, position: float) -> Joint:
    """Return a joint that is fixed at a position."""
    if joint.kind is JointKind.REVOLUTE:
        motion = Frame.turn(joint.axis, position)
    else:
        motion = Frame.shift(*(position * entry for entry in joint.axis))
    return replace(joint, kind=JointKind.FIXED, placement=joint.placement @ motion, limits=Limits(), drive=Drive())


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

"""Writes a robot as MJCF: bodies, joints, inertias and drives. Cut joints and couplings become equality constraints.

The functions ``describe_…`` are the rules for single parts: the elements of MJCF and their attributes. The export of
complete files, ``exporting.new_mjcf``, follows the same rules and adds what a simulated plant does not need.

MuJoCo models dry friction as a constraint that stops a joint with a time constant, not as the sign of the velocity.
With the default time constant of 20 ms, dry friction behaves like viscous friction up to 0.08 rad/s in the wrist of a
UR10; with the 2 ms written here, only up to 0.006 rad/s. Damping is exactly viscous friction, and armature is exactly
rotor inertia.

A coupling becomes a tendon of fixed length that connects its joints. Motors, offsets, drives of cut joints and declared
forces are not written here, nor are laws of friction that MuJoCo does not have: ``root``, ``load``, ``friction_speed``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import joint_pose
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot

Attributes: TypeAlias = Mapping[str, str | Sequence[float] | np.ndarray]  # of an element, before numbers become text

COMPILER = {"angle": "radian", "inertiafromgeom": "false", "balanceinertia": "false"}
# Dry friction stops a joint within 2 ms instead of MuJoCo's default of 20 ms, with which it resembles damping.
# Chosen on: the wrist of a UR10, see above.
FRICTION_SOLVER = {"solreffriction": "0.002 1", "solimpfriction": "0.99 0.99 0.001"}
# Distance (m) between the two points on its axis that replace a cut revolute joint. Chosen on: rule of thumb.
HINGE_POINT_DISTANCE = 0.3


def to_mjcf(robot: Robot, *, drives: bool = False) -> str:
    """Return a robot as MJCF text; ``drives`` adds rotor inertia, damping and dry friction to its joints."""
    root = Element("mujoco")
    SubElement(root, "compiler", COMPILER)
    SubElement(root, "option", gravity=_format_numbers(robot.gravity_in_base), jacobian="dense")
    bodies = {robot.base.name: SubElement(root, "worldbody")}
    tendons, equality = SubElement(root, "tendon"), SubElement(root, "equality")
    for joint in robot.joints:
        bodies[joint.child] = _add_body(bodies[joint.parent], joint, robot.link(joint.child), drives=drives)
    for loop in robot.loops:
        for k, sides in enumerate(locate_cut_points(loop.joint)):
            names = [f"{loop.name}{k}{side.link}" for side in sides]
            for name, side in zip(names, sides, strict=True):
                position = _format_numbers(side.frame.matrix[:3, 3])
                SubElement(bodies[side.link], "site", name=name, pos=position)
            SubElement(equality, "connect", site1=names[0], site2=names[1])
    for coupling in robot.couplings:
        tendon = SubElement(tendons, "fixed", name=coupling.joint)
        for name, factor in list_tendon_terms(coupling):
            SubElement(tendon, "joint", joint=name, coef=_format_numbers((factor,)))
        SubElement(equality, "tendon", tendon1=coupling.joint, polycoef=_format_numbers((coupling.offset, 0, 0, 0, 0)))
    return tostring(root, encoding="unicode")


@dataclass(frozen=True)
class CutSide:
    """A link of a cut joint, and the frame of a point of the joint on it."""

    link: str
    frame: Frame


def locate_cut_points(joint: Joint) -> list[tuple[CutSide, CutSide]]:
    """Return the points of a cut joint that coincide, each on both links: two on the axis of a revolute joint."""
    points = (
        Frame.shift(*(HINGE_POINT_DISTANCE * k * a for a in joint.axis))
        for k in range(2 if joint.kind is JointKind.REVOLUTE else 1)
    )
    return [
        (CutSide(joint.parent, joint.placement @ point), CutSide(joint.child, joint.seat.inverse() @ point))
        for point in points
    ]


def list_tendon_terms(coupling: Coupling) -> tuple[tuple[str, float], ...]:
    """Return joints and their factors in the length of a tendon, which is constant if the coupling holds."""
    return (coupling.joint, 1.0), *((name, -factor) for name, factor in coupling.terms)


def describe_pose(frame: Frame) -> Attributes:
    """Return the attributes of an element at this frame."""
    matrix = frame.matrix
    is_parallel = np.array_equal(matrix[:3, :3], np.eye(3))
    return {"pos": matrix[:3, 3]} | ({} if is_parallel else {"xyaxes": matrix[:3, :2].T.ravel()})


def describe_joint(joint: Joint) -> Attributes:
    """Return name, type, axis and anchor of a revolute or prismatic joint, seen from its child."""
    seat = joint.seat.inverse()
    return {
        "name": joint.name,
        "type": "hinge" if joint.kind is JointKind.REVOLUTE else "slide",
        "axis": np.array(seat.rotation) @ joint.axis,
        "pos": seat.matrix[:3, 3],
    }


def describe_drive(drive: Drive) -> Attributes:
    """Return rotor inertia, damping and dry friction of a joint, as far as they are not zero."""
    values = zip(("armature", "damping", "frictionloss"), drive.parameters[:3], strict=True)
    attributes: dict[str, str | Sequence[float]] = {key: (value,) for key, value in values if value}
    return attributes | (FRICTION_SOLVER if "frictionloss" in attributes else {})


def list_full_inertia(inertia: Inertia) -> tuple[float, ...]:
    """Return the tensor about the centre of mass in the order of ``fullinertia``."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor_about_center
    return xx, yy, zz, xy, xz, yz


def _add_body(parent: Element, joint: Joint, link: Link, *, drives: bool) -> Element:
    """Add the child of a joint. A body without a joint element is fixed to its parent."""
    pose = describe_pose(Frame.from_matrix(joint_pose(joint, 0.0)))
    body = SubElement(parent, "body", {"name": link.name, **_format_attributes(pose)})
    if joint.moves:
        attributes = {**describe_joint(joint), **(describe_drive(joint.drive) if drives else {})}
        SubElement(body, "joint", _format_attributes(attributes))
    inertia = link.inertia
    if inertia.massless:  # such as a load before it is grasped
        return body
    if not inertia.mass > 0.0:
        raise InputError(
            f"link {link.name!r} has an inertia or a first moment, but its mass is {inertia.mass:g} kg, which MuJoCo "
            "does not accept; give it a mass"
        )
    values = {"mass": (inertia.mass,), "pos": inertia.center, "fullinertia": list_full_inertia(inertia)}
    SubElement(body, "inertial", _format_attributes(values))
    return body


def _format_attributes(attributes: Attributes) -> dict[str, str]:
    return {key: value if isinstance(value, str) else _format_numbers(value) for key, value in attributes.items()}


def _format_numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)

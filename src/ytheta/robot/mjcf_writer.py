"""Writes a robot as MJCF: bodies, joints, inertias and drives. Cut joints and couplings become equality constraints.

MuJoCo models dry friction as a constraint that stops a joint with a time constant, not as the sign of the velocity.
With the default time constant of 20 ms, dry friction behaves like viscous friction up to 0.08 rad/s in the wrist of a
UR10; with the 2 ms written here, only up to 0.006 rad/s. Damping is exactly viscous friction, and armature is exactly
rotor inertia.

A coupling becomes a tendon of fixed length that connects its joints. Motors, offsets, drives of cut joints and declared
forces are not written. MuJoCo has neither friction that grows with the root of the speed nor load-dependent friction: a
comment at the start of the file names the joints whose drives have these laws.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import joint_pose
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

FRICTION_SOLVER_ATTRIBUTES = 'solreffriction="0.002 1" solimpfriction="0.99 0.99 0.001"'
HINGE_POINT_DISTANCE = 0.3  # metres between the two points of a cut revolute joint


def to_mjcf(robot: Robot, *, drives: bool = False) -> str:
    """Return a robot as MJCF text; ``drives`` adds rotor inertia, damping and dry friction to its joints.

    Laws of friction that MuJoCo does not have (``root``, ``load``, ``friction_speed``) are not written; a comment says
    so.
    """
    sites: dict[str, list[str]] = {link.name: [] for link in robot.links}
    connects = []
    for loop in robot.loops:
        joint = loop.joint
        # A cut revolute joint is written as two coinciding points on its axis, a cut point joint as one.
        for k in range(2 if joint.kind is JointKind.REVOLUTE else 1):
            point = (*(HINGE_POINT_DISTANCE * k * a for a in joint.axis), 1.0)
            sides = ((joint.parent, joint.placement), (joint.child, joint.seat.inverse()))
            for link, frame in sides:
                position = (frame.matrix @ point)[:3]
                sites[link].append(f'<site name="{joint.name}{k}{link}" pos="{_format_numbers(position)}"/>')
            connects.append(f'<connect site1="{joint.name}{k}{joint.parent}" site2="{joint.name}{k}{joint.child}"/>')
    children = {link.name: [joint for joint in robot.joints if joint.parent == link.name] for link in robot.links}

    def format_body(joint: Joint) -> str:
        link = robot.link(joint.child)
        inside = "".join([*sites[link.name], *(format_body(child) for child in children[link.name])])
        return (
            f'<body name="{link.name}" {_format_pose(joint_pose(joint, 0.0))}>'
            f"{_format_joint(joint, drives=drives)}{_format_inertial(link)}{inside}</body>"
        )

    tendons = []
    for coupling in robot.couplings:
        joints = [(coupling.joint, 1.0), *((name, -factor) for name, factor in coupling.terms)]
        inside = "".join(f'<joint joint="{name}" coef="{factor!r}"/>' for name, factor in joints)
        tendons.append(f'<fixed name="{coupling.joint}">{inside}</fixed>')
        connects.append(f'<tendon tendon1="{coupling.joint}" polycoef="{coupling.offset!r} 0 0 0 0"/>')
    base = "".join([*sites[robot.base.name], *(format_body(joint) for joint in children[robot.base.name])])
    return (
        f"{_describe_missing_laws(robot) if drives else ''}"
        '<mujoco><compiler angle="radian" balanceinertia="false" inertiafromgeom="false"/>'
        f'<option gravity="{_format_numbers(robot.gravity_in_base)}" jacobian="dense"/>'
        f"<worldbody>{base}</worldbody><tendon>{''.join(tendons)}</tendon><equality>{''.join(connects)}</equality></mujoco>"
    )


def _format_joint(joint: Joint, *, drives: bool) -> str:
    """Return the joint element; empty for a fixed joint, since a body without joints is fixed to its parent."""
    if not joint.moves:
        return ""
    seat = joint.seat.inverse()
    kind = "hinge" if joint.kind is JointKind.REVOLUTE else "slide"
    axis = np.array(seat.rotation) @ joint.axis
    geometry = f'axis="{_format_numbers(axis)}" pos="{_format_numbers(seat.matrix[:3, 3])}"'
    return f'<joint name="{joint.name}" type="{kind}" {geometry}{_format_drive(joint.drive) if drives else ""}/>'


def _describe_missing_laws(robot: Robot) -> str:
    """Return a comment about the laws of friction that are not written; empty if there are none."""
    texts = [
        f"{law} friction of {', '.join(names)}"
        for law, names in (
            ("root", [joint.name for joint in robot.movable if joint.drive.root is not None]),
            ("load-dependent", [joint.name for joint in robot.movable if joint.drive.load is not None]),
        )
        if names
    ]
    if not texts:
        return ""
    words = f"not written: {'; '.join(texts)}".replace("--", "- -")  # a comment must not contain two hyphens in a row
    return f"<!-- {words} -->"


def _format_drive(drive: Drive) -> str:
    armature, damping, frictionloss, *_ = drive.parameters
    return (
        f' armature="{armature!r}" damping="{damping!r}" frictionloss="{frictionloss!r}" {FRICTION_SOLVER_ATTRIBUTES}'
    )


def _format_inertial(link: Link) -> str:
    """Return the inertial element; empty for a link without mass, such as a load before it is grasped."""
    if link.inertia.massless:
        return ""
    body = link.inertia
    if not body.mass > 0.0:
        raise InputError(
            f"link {link.name!r} has an inertia or a first moment, but its mass is {body.mass:g} kg, which MuJoCo does "
            "not accept; give it a mass"
        )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.tensor_about_center
    full = (xx, yy, zz, xy, xz, yz)
    return (
        f'<inertial mass="{body.mass!r}" pos="{_format_numbers(body.center)}" fullinertia="{_format_numbers(full)}"/>'
    )


def _format_pose(matrix: Float[np.ndarray, "4 4"]) -> str:
    frame = Frame.from_matrix(matrix)
    columns = np.array(frame.rotation)[:, :2].T.ravel()
    return f'pos="{_format_numbers(matrix[:3, 3])}" xyaxes="{_format_numbers(columns)}"'


def _format_numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)

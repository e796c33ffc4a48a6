"""A robot as MJCF text: bodies, joints, inertias, drives, and cut joints and couplings as equality constraints.

Dry friction is MuJoCo's own: a constraint that stops a joint with a time constant, not the sign of the rate. With its
default of 20 ms friction is below its limit, as if it were viscous, up to 0.08 rad/s in the wrist of a UR10; with the
2 ms written here, up to 0.006 rad/s. Damping and armature are viscous friction and rotor inertia exactly.

A coupling is a tendon of fixed length over the joints it couples. Motors that are no joint's own, offsets, drives of
cut joints and declared forces are not written.
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

DRY = 'solreffriction="0.002 1" solimpfriction="0.99 0.99 0.001"'
APART = 0.3  # metres between the two points that hold a hinge


def to_mjcf(robot: Robot, *, drives: bool = False) -> str:
    """The robot for MuJoCo; ``drives``: with rotor inertia, damping and dry friction in its joints."""
    sites: dict[str, list[str]] = {link.name: [] for link in robot.links}
    connects = []
    for loop in robot.loops:
        joint = loop.joint
        # Two points of the axis hold a hinge, one holds a ball.
        for k in range(2 if joint.kind is JointKind.REVOLUTE else 1):
            point = (*(APART * k * a for a in joint.axis), 1.0)
            sides = ((joint.parent, joint.placement), (joint.child, joint.seat.inverse()))
            for link, frame in sides:
                place = (frame.matrix @ point)[:3]
                sites[link].append(f'<site name="{joint.name}{k}{link}" pos="{_numbers(place)}"/>')
            connects.append(f'<connect site1="{joint.name}{k}{joint.parent}" site2="{joint.name}{k}{joint.child}"/>')
    children = {link.name: [joint for joint in robot.joints if joint.parent == link.name] for link in robot.links}

    def element(joint: Joint) -> str:
        link = robot.link(joint.child)
        inside = "".join([*sites[link.name], *(element(child) for child in children[link.name])])
        return (
            f'<body name="{link.name}" {_pose(joint_pose(joint, 0.0))}>'
            f"{_joint(joint, drives=drives)}{_inertial(link)}{inside}</body>"
        )

    tendons = []
    for coupling in robot.couplings:
        joints = [(coupling.joint, 1.0), *((name, -factor) for name, factor in coupling.terms)]
        inside = "".join(f'<joint joint="{name}" coef="{factor!r}"/>' for name, factor in joints)
        tendons.append(f'<fixed name="{coupling.joint}">{inside}</fixed>')
        connects.append(f'<tendon tendon1="{coupling.joint}" polycoef="{coupling.offset!r} 0 0 0 0"/>')
    base = "".join([*sites[robot.base.name], *(element(joint) for joint in children[robot.base.name])])
    return (
        '<mujoco><compiler angle="radian" balanceinertia="false" inertiafromgeom="false"/>'
        f'<option gravity="{_numbers(robot.gravity_in_base)}" jacobian="dense"/>'
        f"<worldbody>{base}</worldbody><tendon>{''.join(tendons)}</tendon><equality>{''.join(connects)}</equality></mujoco>"
    )


def _joint(joint: Joint, *, drives: bool) -> str:
    """Nothing for a fixed joint: its body is welded to the parent's."""
    if not joint.moves:
        return ""
    seat = joint.seat.inverse()
    kind = "hinge" if joint.kind is JointKind.REVOLUTE else "slide"
    axis = np.array(seat.rotation) @ joint.axis
    place = f'axis="{_numbers(axis)}" pos="{_numbers(seat.matrix[:3, 3])}"'
    return f'<joint name="{joint.name}" type="{kind}" {place}{_drive(joint.drive) if drives else ""}/>'


def _drive(drive: Drive) -> str:
    armature, damping, frictionloss, _ = drive.parameters
    return f' armature="{armature!r}" damping="{damping!r}" frictionloss="{frictionloss!r}" {DRY}'


def _inertial(link: Link) -> str:
    """Nothing for a load without mass, such as one that is yet to be grasped."""
    if not any(link.inertia.parameters):
        return ""
    body = link.inertia
    if not body.mass > 0.0:
        raise InputError(
            f"link {link.name!r} has inertia or a first moment but a mass of {body.mass:g} kg, which no body of MuJoCo "
            "can have; give it a mass, or use plant 'own'"
        )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.tensor_about_center
    full = (xx, yy, zz, xy, xz, yz)
    return f'<inertial mass="{body.mass!r}" pos="{_numbers(body.center)}" fullinertia="{_numbers(full)}"/>'


def _pose(matrix: Float[np.ndarray, "4 4"]) -> str:
    frame = Frame.from_matrix(matrix)
    columns = np.array(frame.rotation)[:, :2].T.ravel()
    return f'pos="{_numbers(matrix[:3, 3])}" xyaxes="{_numbers(columns)}"'


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)

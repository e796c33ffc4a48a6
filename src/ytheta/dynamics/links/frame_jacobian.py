"""The Jacobian of a named frame, and the joint torques of a wrench on this frame.

Identity      (v; w) = J qd, and by virtual work J^T (f; n) are the joint torques that replace the wrench (f; n)
Reference     [lin1995] (21)-(23): f and n are the paper's f_E and t_E, and the frame origin is its gripping point
Accepts       trees of revolute and prismatic joints with any axis; frames of links, merged links, loads and markers
Notation      code   meaning                                                                 shape    axes
              v, w   velocity of the frame origin, angular velocity of the frame             3        frame or base
              f, n   force at the frame origin, moment about it; exerted *on* the robot      3        frame or base
              R, p   rotation and position of the frame in its body                          3 x 3, 3 body
Differs from  the paper in: any frame instead of the last link; trees; base axes too; the wrench is transformed inward
              alone, so that it can be added to the torques of every formulation.

In frame axes, the wrench is transformed from body to body towards the base, which needs no pose in the base. In base
axes, J consists of the columns of Lagrange's equation. Each recursion needs fewer operations in its own axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ytheta.arguments import check_kind
from ytheta.dynamics.formulations.lagrange.jacobians import compute_body_poses, compute_jacobian_columns
from ytheta.dynamics.formulations.newton_euler import joint_axis, joint_origin, pose, to_joint_frame
from ytheta.dynamics.mechanism import Mechanism, exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import cross, dot, inner, zeros
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.shapes import AnyMatrix3, AnyPerJoint, AnySpatialVector, AnyVector3, Shaped

WRENCH_SIZE = 6  # force and moment


class Axes(StrEnum):
    """The axes of wrenches and velocities: those of the frame itself, or those of the base.

    If the base floats, BASE stands for the world, from which such a robot is seen.
    """

    FRAME = "frame"
    BASE = "base"


@dataclass(frozen=True, eq=False)
class NamedFrame:
    """A frame that is fixed to a body: index of the body (None for the base), rotation and position in the body."""

    body: int | None
    R: AnyMatrix3
    p: AnyVector3


def find_frame(mechanism: Mechanism, name: str) -> NamedFrame:
    """Return the frame of a link or marker. Merging makes the frames of links on fixed joints markers."""
    check_kind("frame", name, str, "the name of a link or marker")
    robot = mechanism.robot
    bodies = {robot.base.name: None} | {body.name: k for k, body in enumerate(mechanism.bodies)}
    if name in bodies:
        return NamedFrame(bodies[name], exact_array(np.eye(3).tolist()), zeros(3))
    for marker in robot.markers:
        if marker.name == name:
            frame = marker.frame
            return NamedFrame(bodies[marker.link], exact_array(frame.rotation), exact_array(frame.translation))
    known = (*bodies, *(marker.name for marker in robot.markers))
    raise UnknownNameError(f"robot {robot.name!r} has no link or marker {name!r}{suggest_names(name, known)}")


def compute_frame_jacobian(
    mechanism: Mechanism, motion: Motion, frame: NamedFrame, axes: Axes
) -> Shaped[np.ndarray, "6 joints"]:
    """The velocity of the frame origin and the angular velocity of the frame per unit velocity of each joint."""
    J = zeros(WRENCH_SIZE, mechanism.joints)
    if axes is Axes.FRAME:
        for k, unit in enumerate(exact_array(np.eye(WRENCH_SIZE).tolist())):
            J[k] = compute_wrench_torque(mechanism, motion, frame, unit, axes)
    elif frame.body is not None:
        poses = compute_body_poses(mechanism, motion)
        point = dot(poses[frame.body].R, frame.p)
        for joint, column in compute_jacobian_columns(mechanism, poses, frame.body, point):
            J[:3, joint], J[3:, joint] = column.v, column.w
    return J


def compute_wrench_torque(
    mechanism: Mechanism, motion: Motion, frame: NamedFrame, wrench: AnySpatialVector, axes: Axes
) -> AnyPerJoint:
    """J^T wrench: the joint torques that have the same effect on the links as the wrench."""
    if axes is Axes.BASE:
        return dot(compute_frame_jacobian(mechanism, motion, frame, axes).T, wrench)
    tau = zeros(mechanism.joints)
    current, R, p = frame.body, frame.R, frame.p
    f, n = wrench[:3], wrench[3:]
    while current is not None:
        f = dot(R, f)  # (21)
        n = dot(R, n) + cross(p, f)  # (22)
        body = mechanism.bodies[current]
        if body.wrench is not None:
            tau[body.wrench : body.wrench + 6] = np.concatenate(to_joint_frame(body, f, n))
        elif body.joint is not None:
            moment_or_force = n - cross(joint_origin(body), f) if body.revolute else f
            tau[body.joint] = inner(joint_axis(body), moment_or_force)  # (23)
        current, (R, p) = body.parent, pose(body, motion)
    return tau

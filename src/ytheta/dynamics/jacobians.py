"""Link Jacobians in base axes and their time derivatives, for formulations by Lagrange's equation; Jacobians of frames.

The vectors of one body, from its parent's origin to its own::

    parent ──reach──▶ joint ──arm──▶ body

The joint is a point of a revolute axis; this point is fixed in the parent. A body with a prismatic joint or without a
joint has no such point: its reach ends at its own origin, and its arm is zero.

All derivatives are cross products: for a joint velocity x, an axis changes at the rate zd = w × z, where w is the
angular velocity of the body that carries the axis. R changes at w × R, where w is the angular velocity of the body
itself. No automatic differentiation is needed, so any scalar type works.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ytheta.arguments import check_kind
from ytheta.dynamics.formulations.newton_euler import joint_axis, joint_origin, pose, to_joint_frame
from ytheta.dynamics.mechanism import Mechanism, Motion, exact_array
from ytheta.dynamics.vectors import cross, dot, inner, scale, zeros
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.shapes import AnyMatrix3, AnyPerJoint, AnySpatialVector, AnyVector3, Shaped


@dataclass(frozen=True, eq=False)
class BodyPose:
    """Axes R of a body, axis z of its joint (zero without a joint), reach and arm; all in base axes."""

    R: AnyMatrix3
    z: AnyVector3
    reach: AnyVector3
    arm: AnyVector3


@dataclass(frozen=True, eq=False)
class BodyVelocities:
    """The velocities of all bodies for a joint velocity x.

    w is the angular velocity in base axes and d the same in link axes, v the velocity of the frame origin, u the
    velocity of the joint, and zd the rate of change of the joint axis.
    """

    x: AnyPerJoint
    w: list[np.ndarray]
    d: list[np.ndarray]
    v: list[np.ndarray]
    u: list[np.ndarray]
    zd: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class JacobianColumn:
    """A column of a body's Jacobian: v and w per unit velocity of the joint of body ``at``.

    ``lever`` is the vector from the joint of body ``at`` to the origin, or to another point, of the body.
    """

    at: int
    revolute: bool
    v: AnyVector3
    w: AnyVector3
    lever: AnyVector3


def compute_body_poses(mechanism: Mechanism, motion: Motion) -> list[BodyPose]:
    """Compute the poses of all bodies."""
    poses: list[BodyPose] = []
    for body in mechanism.bodies:
        R, p = pose(body, motion)
        reach = body.p if body.revolute else p
        if body.parent is not None:
            parent = poses[body.parent].R
            R, reach = dot(parent, R), dot(parent, reach)
        z = zeros(3) if body.joint is None else dot(R, joint_axis(body))
        arm = dot(R, -joint_origin(body)) if body.revolute else zeros(3)
        poses.append(BodyPose(R, z, reach, arm))
    return poses


def compute_jacobian_columns(
    mechanism: Mechanism, poses: list[BodyPose], i: int, point: AnyVector3 | None = None
) -> Iterator[tuple[int, JacobianColumn]]:
    """Yield the non-zero columns of body i's Jacobian, each with its joint, from the body to the base.

    The Jacobian is that of the body's origin, or of ``point``: the vector from the origin to another point of the body.
    """
    lever = zeros(3) if point is None else point
    at: int | None = i
    while at is not None:
        body, place = mechanism.bodies[at], poses[at]
        lever = lever + place.arm
        if body.wrench is not None:
            from_joint = lever - dot(place.R, joint_origin(body))
            for k, axis in enumerate(dot(place.R, body.S.T).T, start=body.wrench):
                yield k, JacobianColumn(at, False, axis, zeros(3), from_joint)
                yield k + 3, JacobianColumn(at, True, cross(axis, from_joint), axis, from_joint)
        elif body.joint is not None:
            v, w = (cross(place.z, lever), place.z) if body.revolute else (place.z, zeros(3))
            yield body.joint, JacobianColumn(at, body.revolute, v, w, lever)
        lever = lever + place.reach
        at = body.parent


def compute_body_velocities(mechanism: Mechanism, poses: list[BodyPose], x: AnyPerJoint) -> BodyVelocities:
    """Compute the velocities of all bodies for the joint velocity x."""
    result = BodyVelocities(x, [], [], [], [], [])
    for body, place in zip(mechanism.bodies, poses, strict=True):
        w, v = (zeros(3), zeros(3)) if body.parent is None else (result.w[body.parent], result.v[body.parent])
        u = v + cross(w, place.reach)
        result.u.append(u)
        result.zd.append(cross(w, place.z))
        if body.joint is not None:
            joint_velocity = scale(place.z, x[body.joint : body.joint + 1])
            w, u = (w + joint_velocity, u) if body.revolute else (w, u + joint_velocity)
        result.w.append(w)
        result.d.append(dot(place.R.T, w))
        result.v.append(u + cross(w, place.arm))
    return result


def compute_body_accelerations(
    mechanism: Mechanism,
    poses: list[BodyPose],
    carrier: BodyVelocities,
    bodies: BodyVelocities,
    rate: AnyPerJoint,
) -> list[tuple[AnyVector3, AnyVector3]]:
    """Time derivatives of ``bodies.v`` and ``bodies.w`` if qd is ``carrier.x`` and ``bodies.x`` changes at ``rate``."""
    result: list[tuple[np.ndarray, np.ndarray]] = []
    for k, (body, place) in enumerate(zip(mechanism.bodies, poses, strict=True)):
        if body.parent is None:
            a, alpha = zeros(3), zeros(3)
        else:
            a, alpha = result[body.parent]
            swing = cross(carrier.w[body.parent], place.reach)
            a = a + cross(alpha, place.reach) + cross(bodies.w[body.parent], swing)
        if body.joint is not None:
            joint = slice(body.joint, body.joint + 1)
            change = scale(place.z, rate[joint]) + scale(carrier.zd[k], bodies.x[joint])
            if body.revolute:
                alpha = alpha + change
            else:
                a = a + change + scale(bodies.zd[k], carrier.x[joint])
        a = a + cross(alpha, place.arm) + cross(bodies.w[k], cross(carrier.w[k], place.arm))
        result.append((a, alpha))
    return result


def compute_column_rate(carrier: BodyVelocities, i: int, J: JacobianColumn) -> tuple[AnyVector3, AnyVector3]:
    """The time derivative of a column of body i's Jacobian if qd is ``carrier.x``."""
    zd = carrier.zd[J.at]
    if not J.revolute:
        return zd, zeros(3)
    return cross(zd, J.lever) + cross(J.w, carrier.v[i] - carrier.u[J.at]), zd


# The Jacobian of a named frame, and the joint torques of a wrench on this frame.
#
# Identity      (v; w) = J qd, and by virtual work J^T (f; n) are the joint torques that replace the wrench (f; n)
# Reference     [lin1995] (21)-(23): f and n are the paper's f_E and t_E, and the frame origin is its gripping point
# Accepts       trees of revolute and prismatic joints with any axis; frames of links, merged links, loads and markers
# Notation      code   meaning                                                                 shape    axes
#               v, w   velocity of the frame origin, angular velocity of the frame             3        frame or base
#               f, n   force at the frame origin, moment about it; exerted *on* the robot      3        frame or base
#               R, p   rotation and position of the frame in its body                          3 x 3, 3 body
# Differs from  the paper in: any frame instead of the last link; trees; base axes too; the wrench is transformed inward
#               alone, so that it can be added to the torques of every formulation.
#
# In frame axes, the wrench is transformed from body to body towards the base, which needs no pose in the base. In base
# axes, J consists of the columns of Lagrange's equation. Each recursion needs fewer operations in its own axes.


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

"""Newton–Euler regressor by virtual work, with the outward iterations of Lu and Meng; and inverse dynamics.

Identity      tau = Y(q, qd, qdd) @ theta   for every theta; with two velocities tau = M vd + C(q, qd) v + g
Reference     [lu1993] sec. IV-A, (66)-(70), appendix (100)-(104); the paper's inward iterations (71)-(85) are
              ``inward_newton_euler``
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own; floating bases and
              sensors, which add six rows each: the wrench on the base or through the sensor
Notation      code   paper     meaning                                        shape     frame
              w, u   omega_i   angular velocity for qd and for v              3         i
              wd     omegadot  angular acceleration for v, vd                 3         i
              a      vdot_i    acceleration of the frame origin, minus g      3         i
              H      H_i       force per unit first moment (68)               3 x 3     i
              R, p   i R i+1   rotation and position of a body in its parent  3 x 3, 3  parent
              z      z hat     axis of joint i or of a joint before it        3         i
              v                velocity of the frame origin per unit rate     3         i
                               of that joint
Differs from  the paper in: |w|^2 in (68), not |wd|^2 (a misprint); inertia about the frame *origin*, so that theta_4
              of (112) and theta_3 of (106) merge and ten parameters remain; trees instead of chains; any axis and any
              seat of the link frame; velocity products made symmetric in qd and v, which makes C the matrix of
              Christoffel symbols (Mdot - 2 C is skew); joint axes transformed outward to the body, by virtual work,
              instead of columns transformed inward to the joint (82)-(84): there are fewer axes than columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, Motion
from ytheta.dynamics.vectors import add, array, axis_rotation, centripetal_matrix, cross, dot, skew, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyVector3, AnyVector3Columns, Shaped

Screw: TypeAlias = tuple[AnyVector3, AnyVector3]  # z and v of the notation
# Entries of a floating base in q, qd and tau: position, velocity and force, then rotation, angular velocity and moment.
BASE_FORCE, BASE_MOMENT = slice(0, 3), slice(3, 6)


@dataclass(frozen=True, eq=False)
class BodyTwist:
    """The motion of one body, in the notation above. Without a separate reference velocity, u *is* w."""

    w: AnyVector3
    u: AnyVector3
    wd: AnyVector3
    a: AnyVector3

    @property
    def H(self) -> AnyMatrix3:
        return skew(self.wd) + centripetal_matrix(self.w, self.u)  # (68)

    def moment(self, inertia: AnyMatrix3) -> AnyVector3:
        """I wd + ½ (w × I u + u × I w). If u is w, this is Euler's equation I wd + w × I w."""
        if self.w is self.u:
            return add(dot(inertia, self.wd), cross(self.w, dot(inertia, self.w)))
        both = cross(self.w, dot(inertia, self.u)) + cross(self.u, dot(inertia, self.w))
        return dot(inertia, self.wd) + both * 0.5


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which this recursion does not support; use spatial_tree"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of all link parameters, ten columns per body."""
    poses, twists = propagate_outward(mechanism, motion)
    Y = zeros(mechanism.joints, PER_LINK * len(mechanism.bodies))
    screws: list[dict[int, Screw]] = []
    for i, (body, (R, p), twist) in enumerate(zip(mechanism.bodies, poses, twists, strict=True)):
        screws.append(_compute_screws(body, R, p, {} if body.parent is None else screws[body.parent]))
        moment_and_force = np.concatenate(_compute_columns(twist)[::-1])
        for joint, screw in screws[i].items():
            Y[joint, PER_LINK * i : PER_LINK * (i + 1)] = dot(np.concatenate(screw)[None], moment_and_force)[0]
    return Y


def inverse_dynamics(
    mechanism: Mechanism, motion: Motion, theta: Shaped[np.ndarray, " params"]
) -> Shaped[np.ndarray, " joints"]:
    """tau from the link parameters theta without forming Y: the same recursion, on forces instead of columns."""
    poses, twists = propagate_outward(mechanism, motion)
    forces = [wrench(theta[PER_LINK * i : PER_LINK * (i + 1)], twist) for i, twist in enumerate(twists)]
    tau = zeros(mechanism.joints)
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        f, n = forces[i]
        if body.wrench is not None:
            tau[body.wrench : body.wrench + 6] = np.concatenate(to_joint_frame(body, f, n))
        elif body.joint is not None:
            moment_or_force = n - cross(joint_origin(body), f) if body.revolute else f
            tau[body.joint] = dot(joint_axis(body)[None], moment_or_force)[0]
        if body.parent is not None:
            R, p = poses[i]
            f = dot(R, f)  # (81)
            parent_f, parent_n = forces[body.parent]
            forces[body.parent] = add(parent_f, f), add(parent_n, dot(R, n), cross(p, f))  # (83)
    return tau


def wrench(theta: Shaped[np.ndarray, "10"], twist: BodyTwist) -> tuple[AnyVector3, AnyVector3]:
    """The force and the moment about the frame origin that move one body."""
    h = array(list(theta[1:4]))
    force = add(twist.a * array([theta[0]]), dot(twist.H, h))  # (66)-(67)
    return force, add(twist.moment(inertia_matrix(theta)), cross(h, twist.a))  # (69)-(74)


def inertia_matrix(theta: Shaped[np.ndarray, "10"]) -> AnyMatrix3:
    """The inertia tensor about the frame origin from the ten parameters."""
    inertia = zeros(3, 3)
    for (row, column), value in zip(INERTIA_ENTRIES, theta[4:], strict=True):
        inertia[row, column] = inertia[column, row] = value
    return inertia


def inertia_columns(w: AnyVector3) -> Shaped[np.ndarray, "3 6"]:
    """I w per unit of each of the six entries of the inertia tensor I."""
    columns = zeros(3, len(INERTIA_ENTRIES))
    for k, (row, column) in enumerate(INERTIA_ENTRIES):
        columns[row, k] = w[column]
        columns[column, k] = w[row]
    return columns


def pose(body: Body, motion: Motion) -> tuple[AnyMatrix3, AnyVector3]:
    """Rotation and position of a body in its parent's frame."""
    if body.free:
        assert motion.base_rotation is not None
        return motion.base_rotation, motion.q[BASE_FORCE]
    R, s = body.P, body.s
    if body.joint is not None and body.revolute:
        R = dot(R, axis_rotation(body.axis, motion.cos[body.joint], motion.sin[body.joint]))
    elif body.joint is not None:
        s = s + body.axis * motion.q[body.joint : body.joint + 1]
    return dot(R, body.S), add(body.p, dot(R, s))


def joint_axis(body: Body) -> AnyVector3:
    """The joint axis in the frame of the body behind the joint."""
    return dot(body.S.T, body.axis)


def joint_origin(body: Body) -> AnyVector3:
    """The origin of the joint frame in the frame of the body behind a revolute joint."""
    return -dot(body.S.T, body.s)


def propagate_outward(
    mechanism: Mechanism, motion: Motion
) -> tuple[list[tuple[AnyMatrix3, AnyVector3]], list[BodyTwist]]:
    """Compute the pose of every body in its parent's frame, and the motion of every body (66)-(70)."""
    at_rest = zeros(3)
    base = BodyTwist(at_rest, at_rest, zeros(3), -mechanism.gravity)
    poses: list[tuple[AnyMatrix3, AnyVector3]] = []
    twists: list[BodyTwist] = []
    for body in mechanism.bodies:
        parent = base if body.parent is None else twists[body.parent]
        poses.append(pose(body, motion))
        twists.append(_compute_twist(body, motion, *poses[-1], parent))
    return poses, twists


def _compute_twist(body: Body, motion: Motion, R: AnyMatrix3, p: AnyVector3, parent: BodyTwist) -> BodyTwist:
    """Compute the motion of a body from the motion of its parent."""
    down = R.T
    if body.free:
        return _compute_base_twist(motion, dot(down, parent.a))
    # Acceleration of a point of the revolute axis, because this point is fixed in the parent; without a revolute joint,
    # acceleration of the frame origin.
    point = body.p if body.joint is not None and body.revolute else p
    a = dot(down, add(parent.a, dot(parent.H, point)))
    w = dot(down, parent.w)
    u = w if parent.u is parent.w else dot(down, parent.u)
    wd = dot(down, parent.wd)
    if body.joint is None:
        return BodyTwist(w, u, wd, a)
    joint = slice(body.joint, body.joint + 1)
    qd, v, vd = motion.qd[joint], motion.v[joint], motion.vd[joint]
    z = joint_axis(body)
    ordinary = u is w and motion.ordinary
    # Twice the velocity product, symmetric in w and u.
    twice = cross(w, z) * (qd * 2) if ordinary else cross(w, z) * v + cross(u, z) * qd
    if not body.revolute:
        return BodyTwist(w, w if ordinary else u, wd, a + z * vd + twice)
    wd = add(wd, z * vd, cross(w, z) * qd if ordinary else twice * 0.5)
    u = add(u, z * v)
    w = add(w, z * qd)
    twist = BodyTwist(w, w if ordinary else u, wd, a)
    if not body.s.any():
        return twist
    return BodyTwist(twist.w, twist.u, wd, a - dot(twist.H, joint_origin(body)))


def _compute_base_twist(motion: Motion, minus_gravity: AnyVector3) -> BodyTwist:
    """Compute the motion of a floating base, whose velocities are the components of its twist in its own axes."""
    w, velocity = motion.qd[BASE_MOMENT], motion.qd[BASE_FORCE]
    if motion.ordinary:
        return BodyTwist(w, w, motion.vd[BASE_MOMENT], motion.vd[BASE_FORCE] + cross(w, velocity) + minus_gravity)
    u, reference = motion.v[BASE_MOMENT], motion.v[BASE_FORCE]
    product = (cross(w, reference) + cross(u, velocity)) * 0.5
    return BodyTwist(w, u, motion.vd[BASE_MOMENT], motion.vd[BASE_FORCE] + product + minus_gravity)


def _compute_screws(body: Body, R: AnyMatrix3, p: AnyVector3, parent: dict[int, Screw]) -> dict[int, Screw]:
    """Compute the screws of all joints that move a body, in the body's frame, from the screws of the parent."""
    down = R.T
    screws = {joint: (dot(down, z), dot(down, add(v, cross(z, p)))) for joint, (z, v) in parent.items()}
    if body.joint is not None:
        z = joint_axis(body)
        screws[body.joint] = (z, cross(joint_origin(body), z)) if body.revolute else (zeros(3), z)
    if body.wrench is not None:
        for k, axis in enumerate(body.S, start=body.wrench):  # axes of the joint frame, in those of the body
            screws[k] = zeros(3), axis
            screws[k + 3] = axis, cross(joint_origin(body), axis)
    return screws


def to_joint_frame(body: Body, f: AnyVector3, n: AnyVector3) -> tuple[AnyVector3, AnyVector3]:
    """The force and the moment on a body, about the origin and in the axes of its joint frame."""
    f = dot(body.S, f)
    return f, dot(body.S, n) + cross(body.s, f)


def _compute_columns(twist: BodyTwist) -> tuple[AnyVector3Columns, AnyVector3Columns]:
    """Force and moment about the frame origin per unit of the ten parameters."""
    force, moment = zeros(3, PER_LINK), zeros(3, PER_LINK)
    force[:, 0] = twist.a  # (67)
    force[:, 1:4] = twist.H
    moment[:, 1:4] = -skew(twist.a)  # (73)
    for k, (row, column) in enumerate(INERTIA_ENTRIES, start=4):
        unit = zeros(3, 3)
        unit[row, column] = unit[column, row] = 1
        moment[:, k] = twist.moment(unit)  # (70), (73)
    return force, moment

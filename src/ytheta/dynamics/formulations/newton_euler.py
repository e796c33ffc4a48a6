"""Recursive Newton–Euler regressor of Lu and Meng.

Identity      tau = Y(q, qd, qdd) @ theta   for every theta; with two velocities tau = M vd + C(q, qd) v + g
Reference     [lu1993] sec. IV, (66)-(85), appendix (97)-(116)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code   paper     meaning                                        shape     frame
              w, u   omega_i   angular velocity for qd and for v              3         i
              wd     omegadot  angular acceleration for v, vd                 3         i
              a      vdot_i    acceleration of the frame origin, minus g      3         i
              H      H_i       force per unit first moment (68)               3 x 3     i
              R, p   i R i+1   rotation and place of a body in its parent     3 x 3, 3  parent
              z      z hat     joint axis, of joint i or one before it        3         i
              v                velocity of the frame origin per unit rate     3         i
                               of that joint
Differs from  the paper in: |w|^2 in (68), not |wd|^2 (a fault of the print); inertia about the frame *origin* by
              default, so that theta_4 of (112) and theta_3 of (106) merge and ten parameters are left
              (``regressor_sixteen`` keeps the paper's own); trees instead of chains; any axis and any seat of the link
              frame; velocity products made symmetric in qd and v, which makes C the matrix of Christoffel symbols
              (Mdot - 2 C is skew); joint axes carried out to the body, by virtual work, in the place of columns carried
              in to the joint (82)-(84): there are fewer axes than columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, SQUARES
from ytheta.dynamics.mechanism import Body, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, centripetal, cross, dot, skew, turn, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyVector3, AnyVector3Columns, Shaped

Screw: TypeAlias = tuple[AnyVector3, AnyVector3]  # z and v below
PER_LINK = len(LINK_PARAMETERS)
SIXTEEN = len(SIXTEEN_PARAMETERS)


@dataclass(frozen=True, eq=False)
class Twist:
    """How one body moves: see the notation above. Where the two velocities are one, u *is* w."""

    w: AnyVector3
    u: AnyVector3
    wd: AnyVector3
    a: AnyVector3

    @property
    def H(self) -> AnyMatrix3:
        return skew(self.wd) + centripetal(self.w, self.u)  # (68)

    def moment(self, inertia: AnyMatrix3) -> AnyVector3:
        """I wd + w × I w, the latter symmetric in the two velocities."""
        if self.w is self.u:
            return dot(inertia, self.wd) + cross(self.w, dot(inertia, self.w))
        both = cross(self.w, dot(inertia, self.u)) + cross(self.u, dot(inertia, self.w))
        return dot(inertia, self.wd) + both * 0.5


def accepts(robot: Robot) -> str | None:
    """None, or the reason why this formulation cannot take the robot alone."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which the recursion does not know; use spatial_tree"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of all link parameters, ten columns per body."""
    return _regressor(mechanism, motion, _ten_columns, PER_LINK)


def regressor_sixteen(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor in the paper's own parameters, (theta_2, theta_4, theta_3) of (101), (112) and (106) per body."""
    return _regressor(mechanism, motion, _sixteen_columns, SIXTEEN)


def inverse_dynamics(
    mechanism: Mechanism, motion: Motion, theta: Shaped[np.ndarray, "params"]
) -> Shaped[np.ndarray, "joints"]:
    """tau for given link parameters without forming Y: the same recursion on forces instead of columns."""
    places, twists = _outward(mechanism, motion)
    forces = [wrench(theta[PER_LINK * i : PER_LINK * (i + 1)], twist) for i, twist in enumerate(twists)]
    tau = zeros(mechanism.joints)
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        f, n = forces[i]
        if body.joint is not None:
            lever = n - cross(joint_point(body), f) if body.revolute else f
            tau[body.joint] = dot(along(body)[None], lever)[0]
        if body.parent is not None:
            R, p = places[i]
            f = dot(R, f)  # (81)
            above_f, above_n = forces[body.parent]
            forces[body.parent] = above_f + f, above_n + dot(R, n) + cross(p, f)  # (83)
    return tau


def wrench(theta: Shaped[np.ndarray, "10"], twist: Twist) -> tuple[AnyVector3, AnyVector3]:
    """Force and moment about the frame origin that move one body."""
    h = array(list(theta[1:4]))
    force = twist.a * array([theta[0]]) + dot(twist.H, h)  # (66)-(67)
    return force, twist.moment(inertia_matrix(theta)) + cross(h, twist.a)  # (69)-(74)


def inertia_matrix(theta: Shaped[np.ndarray, "10"]) -> AnyMatrix3:
    """The inertia about the frame origin of ten parameters."""
    inertia = zeros(3, 3)
    for (row, column), value in zip(INERTIA_ENTRIES, theta[4:], strict=True):
        inertia[row, column] = inertia[column, row] = value
    return inertia


def pose(body: Body, motion: Motion) -> tuple[AnyMatrix3, AnyVector3]:
    """Rotation and place of a body seen from its parent."""
    R, s = body.P, body.s
    if body.joint is not None and body.revolute:
        R = dot(R, turn(body.axis, motion.cos[body.joint], motion.sin[body.joint]))
    elif body.joint is not None:
        s = s + body.axis * motion.q[body.joint : body.joint + 1]
    return dot(R, body.S), body.p + dot(R, s)


def along(body: Body) -> AnyVector3:
    """The joint axis in the body's own frame."""
    return dot(body.S.T, body.axis)


def joint_point(body: Body) -> AnyVector3:
    """The origin of the joint frame seen from a body behind a revolute joint."""
    return -dot(body.S.T, body.s)


def _outward(mechanism: Mechanism, motion: Motion) -> tuple[list[tuple[AnyMatrix3, AnyVector3]], list[Twist]]:
    """Places of all bodies in their parents and how they move (66)-(70)."""
    still = zeros(3)
    base = Twist(still, still, zeros(3), -mechanism.gravity)
    places: list[tuple[AnyMatrix3, AnyVector3]] = []
    twists: list[Twist] = []
    for body in mechanism.bodies:
        above = base if body.parent is None else twists[body.parent]
        places.append(pose(body, motion))
        twists.append(_next(body, motion, *places[-1], above))
    return places, twists


def _next(body: Body, motion: Motion, R: AnyMatrix3, p: AnyVector3, above: Twist) -> Twist:
    """The motion of a body from that of its parent."""
    down = R.T
    # A revolute joint keeps one point of the body in one place of the parent; else the frame origin is followed.
    point = body.p if body.joint is not None and body.revolute else p
    a = dot(down, above.a + dot(above.H, point))
    w = dot(down, above.w)
    u = w if above.u is above.w else dot(down, above.u)
    wd = dot(down, above.wd)
    if body.joint is None:
        return Twist(w, u, wd, a)
    own = slice(body.joint, body.joint + 1)
    rate, reference, acceleration = motion.qd[own], motion.v[own], motion.vd[own]
    z = along(body)
    one = u is w and motion.ordinary
    # Twice the velocity product, symmetric in the two velocities.
    twice = cross(w, z) * (rate * 2) if one else cross(w, z) * reference + cross(u, z) * rate
    if not body.revolute:
        return Twist(w, w if one else u, wd, a + z * acceleration + twice)
    wd = wd + z * acceleration + (cross(w, z) * rate if one else twice * 0.5)
    u = u + z * reference
    w = w + z * rate
    moved = Twist(w, w if one else u, wd, a)
    if not body.s.any():
        return moved
    return Twist(moved.w, moved.u, wd, a - dot(moved.H, joint_point(body)))


def _regressor(
    mechanism: Mechanism,
    motion: Motion,
    columns: Callable[[Twist], tuple[AnyVector3Columns, AnyVector3Columns]],
    width: int,
) -> Shaped[np.ndarray, "joints params"]:
    places, twists = _outward(mechanism, motion)
    Y = zeros(mechanism.joints, width * len(mechanism.bodies))
    screws: list[dict[int, Screw]] = []
    for i, (body, place, twist) in enumerate(zip(mechanism.bodies, places, twists, strict=True)):
        screws.append(_screws(body, *place, {} if body.parent is None else screws[body.parent]))
        both = np.concatenate(columns(twist)[::-1])
        for joint, screw in screws[i].items():
            Y[joint, width * i : width * (i + 1)] = dot(np.concatenate(screw)[None], both)[0]  # (82)-(85)
    return Y


def _screws(body: Body, R: AnyMatrix3, p: AnyVector3, above: dict[int, Screw]) -> dict[int, Screw]:
    """For every joint that moves a body how it does, from what it does to the parent."""
    down = R.T
    moved = {joint: (dot(down, z), dot(down, v + cross(z, p))) for joint, (z, v) in above.items()}
    if body.joint is not None:
        z = along(body)
        moved[body.joint] = (z, cross(joint_point(body), z)) if body.revolute else (zeros(3), z)
    return moved


def _ten_columns(twist: Twist) -> tuple[AnyVector3Columns, AnyVector3Columns]:
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


def _sixteen_columns(twist: Twist) -> tuple[AnyVector3Columns, AnyVector3Columns]:
    """The same per unit of (theta_2, theta_4, theta_3)."""
    force, moment = zeros(3, SIXTEEN), zeros(3, SIXTEEN)
    H = twist.H
    force[:, 0] = twist.a  # (67)
    force[:, 1:4] = H
    moment[:, 1:4] = -skew(twist.a)  # (73)
    for k, (i, j) in enumerate(SQUARES, start=4):
        unit, other = zeros(3), zeros(3)
        unit[i] = other[j] = 1
        product = cross(unit, dot(H, other))  # (113): m p × H p, entry by entry
        moment[:, k] = product if i == j else product + cross(other, dot(H, unit))  # (114)
    for k, (i, j) in enumerate(SQUARES, start=10):
        tensor = zeros(3, 3)
        tensor[i, j] = tensor[j, i] = 1 if i == j else -1  # (105): the paper's products have the opposite sign
        moment[:, k] = twist.moment(tensor)  # (70)
    return force, moment

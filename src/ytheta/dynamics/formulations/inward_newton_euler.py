"""The inward recursion of Lu and Meng: force and moment per unit of each parameter, from the tips to the base.

Identity      tau = Y(q, qd, qdd) @ theta   for every theta; with two velocities tau = M vd + C(q, qd) v + g
Reference     [lu1993] sec. IV, steps 1 to 6, (66)-(85); appendix (105)-(116)
Accepts       trees of revolute and prismatic joints with any axis; loads, each as link n + 1; floating bases and
              sensors, which add six rows each: the wrench on the base or through the sensor
Notation      code       paper           meaning                                                   shape    frame
              A          A_i (67)        force per unit of theta_2 = (m, m p)                      3 x 4    i
              Phi        Phi_i (73)      moment p x F per unit of (theta_1, theta_4) = (m p, m pp) 3 x 9    i
              E          E_i (70)        moment of Euler's equation per unit of theta_3            3 x 6    i
              Psi, B     (114), (108)    Psi theta_4 = m p x H p;  B(d) theta_3 = I d              3 x 6    i
              force      A tilde_i (82)  force through joint i per unit of a link's parameters     3 x 16   i
              moment     Pi tilde_i (84) moment about the origin of frame i, likewise              3 x 16   i
              R, p       i R i+1, p_i+1  pose of a body in its parent's frame                               parent
Differs from  the paper in: trees; any axis and any seat of the link frame, so that Y has the moment about the joint
              instead of the frame origin; |w|^2 in (68), not |wd|^2 (a misprint); velocity products made symmetric in
              qd and v, as in ``newton_euler``; zero blocks of A tilde and Pi tilde are left out. ``regressor`` has the
              ten columns of theta_2 and theta_3 only, which are those of the inertia about the frame origin.

The outward iterations are those of ``newton_euler``. That formulation transforms joint axes outward instead of columns
inward, and needs fewer operations, since most links have fewer joints before them than columns.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.formulations.newton_euler import BodyTwist, joint_axis, joint_origin, propagate_outward
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, SYMMETRIC_ENTRIES
from ytheta.dynamics.mechanism import Body, Mechanism, Motion
from ytheta.dynamics.vectors import add, array, dot, halve, skew, zeros
from ytheta.shapes import AnyMatrix3, AnyVector3, AnyVector3Columns, Shaped

LinkColumns: TypeAlias = tuple[AnyVector3Columns, AnyVector3Columns]  # force and moment of the notation

ALL = list(range(len(SIXTEEN_PARAMETERS)))
# The ten standard parameters among the sixteen. The products of inertia of (105) have the opposite sign.
TEN = [*range(4), *(10 + SYMMETRIC_ENTRIES.index(entry) for entry in INERTIA_ENTRIES)]
PRODUCTS = [k for k, (i, j) in enumerate(INERTIA_ENTRIES, start=4) if i != j]

explain_refusal = newton_euler.explain_refusal


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor of all link parameters, ten columns per body."""
    Y = _form_regressor(mechanism, compute_columns(mechanism, motion, TEN), len(TEN))
    for k in PRODUCTS:
        Y[:, k :: len(TEN)] = -Y[:, k :: len(TEN)]
    return Y


def regressor_sixteen(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """The regressor in the paper's own parameters, (theta_2, theta_4, theta_3) per body (76)."""
    return _form_regressor(mechanism, compute_columns(mechanism, motion), len(ALL))


def compute_columns(mechanism: Mechanism, motion: Motion, kept: list[int] = ALL) -> list[dict[int, LinkColumns]]:
    """Steps 1 to 5: A tilde and Pi tilde of every body i, as their blocks for body i and all bodies behind it.

    ``kept`` are the columns of theta_16 to be computed.
    """
    poses, twists = propagate_outward(mechanism, motion)
    columns: list[dict[int, LinkColumns]] = [{} for _ in twists]
    for i in reversed(range(len(twists))):
        force, moment = _compute_own_columns(twists[i])
        columns[i][i] = force[:, kept], moment[:, kept]
        parent = mechanism.bodies[i].parent
        if parent is not None:
            R, p = poses[i]
            for link, (force, moment) in columns[i].items():
                force = dot(R, force)  # (82)
                columns[parent][link] = force, add(dot(R, moment), dot(skew(p), force))  # (84)
    return columns


def _compute_own_columns(twist: BodyTwist) -> LinkColumns:
    """[A 0 0] and [0 Phi E] (75) of one body."""
    H = twist.H
    A = np.concatenate([twist.a[:, None], H], axis=1)  # (67)
    Phi = np.concatenate([-skew(twist.a), compute_Psi(H)], axis=1)  # (73)
    E = add(compute_B(twist.wd), _compute_gyroscopic_columns(twist))  # (70)
    return np.concatenate([A, zeros(3, 12)], axis=1), np.concatenate([zeros(3, 1), Phi, E], axis=1)


def _compute_gyroscopic_columns(twist: BodyTwist) -> AnyVector3Columns:
    """Omega(w) B(w); for two velocities, the mean of Omega(w) B(u) and Omega(u) B(w)."""
    if twist.u is twist.w:
        return dot(skew(twist.w), compute_B(twist.w))
    return halve(add(dot(skew(twist.w), compute_B(twist.u)), dot(skew(twist.u), compute_B(twist.w))))


def compute_Psi(H: AnyMatrix3) -> AnyVector3Columns:
    """Psi theta_4 = m p x H p, for theta_4 of (112)."""
    h1, h2, h3 = H
    zero = zeros(3)
    wide = array([[*zero, *h3, *-h2], [*-h3, *zero, *h1], [*h2, *-h1, *zero]])  # (110)
    return np.concatenate([wide[:, [0, 4, 8]], add(wide[:, [1, 2, 5]], wide[:, [3, 6, 7]])], axis=1)  # (114)


def compute_B(d: AnyVector3) -> AnyVector3Columns:
    """B(d) theta_3 = I d (107), (108), for theta_3 of (106)."""
    x, y, z = d
    return array([[x, 0, 0, -y, -z, 0], [0, y, 0, -x, 0, -z], [0, 0, z, 0, -x, -y]])


def _form_regressor(
    mechanism: Mechanism, columns: list[dict[int, LinkColumns]], width: int
) -> Shaped[np.ndarray, "joints params"]:
    """Step 6 (85)."""
    Y = zeros(mechanism.joints, width * len(mechanism.bodies))
    for body, blocks in zip(mechanism.bodies, columns, strict=True):
        for link, (force, moment) in blocks.items():
            block = slice(width * link, width * (link + 1))
            if body.joint is not None:
                z = joint_axis(body)[None]
                Y[body.joint, block] = dot(z, _move_to_joint(body, force, moment) if body.revolute else force)[0]
            if body.wrench is not None:
                Y[body.wrench : body.wrench + 3, block] = dot(body.S, force)
                Y[body.wrench + 3 : body.wrench + 6, block] = dot(body.S, _move_to_joint(body, force, moment))
    return Y


def _move_to_joint(body: Body, force: AnyVector3Columns, moment: AnyVector3Columns) -> AnyVector3Columns:
    """The moment about the origin of the joint frame instead of that of the link frame."""
    return add(moment, dot(skew(-joint_origin(body)), force)) if body.s.any() else moment

"""Inertia constants: for the composite body behind a joint, the part of its inertia that is independent of the motion.

Identity      the first moment and the inertia of composite body i are k_i and U_i plus parts that need only constants
              of the bodies behind body i (8), (9)
Reference     [lin1995] sec. II, (10), (12), (14)
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code    paper     meaning                                       frame
              m, k    m hat, k  mass and constant first moment                joint i
              U       U         constant inertia about the frame's origin     joint i
              R, p    R, s      pose of a body's joint frame in its parent's joint frame, at q = 0
Differs from  the paper in: trees, in which the constants of all children add up; joint frames with z along the axis and
              any x (they are the paper's frames if the robot is given in modified Denavit-Hartenberg frames); loads,
              which pass all their constants to their parent.

The constants of a single link are its ten parameters, transformed from the link frame to the joint frame. Parameters
and lengths may be floats or symbols. The constants are linear in the parameters and polynomial in the lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.formulations.newton_euler import inertia_matrix
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, exact_array
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.shapes import AnyMatrix3, AnyVector3, Shaped


@dataclass(frozen=True, eq=False)
class Constants:
    """Mass (an array of one entry), first moment and inertia about the origin of a frame."""

    m: Shaped[np.ndarray, "1"]
    k: AnyVector3
    U: AnyMatrix3

    def __add__(self, other: Constants) -> Constants:
        return Constants(self.m + other.m, self.k + other.k, self.U + other.U)

    def seen_from(self, R: AnyMatrix3, p: AnyVector3) -> Constants:
        """The same constants in another frame. R and p are rotation and position of this frame in the other one."""
        k = dot(R, self.k)
        moment = k + scale(p, self.m)
        product = dot(p[:, None], moment[None]) + dot(k[:, None], p[None])
        U = dot(dot(R, self.U), R.T) - product  # Huygens and Steiner, (6)
        for i in range(3):
            U[i, i] = U[i, i] + product[0, 0] + product[1, 1] + product[2, 2]
        return Constants(self.m, moment, U)


def compute_joint_frames(mechanism: Mechanism) -> list[tuple[AnyMatrix3, AnyVector3]]:
    """The joint frame (z along the axis) of every body at q = 0, in the joint frame of its parent or in the base."""
    frames: list[tuple[AnyMatrix3, AnyVector3]] = []
    for body in mechanism.bodies:
        R, p = dot(body.P, rotation_to_axis(body)), body.p
        if body.parent is not None:
            parent_R, parent_p = link_in_joint(mechanism.bodies[body.parent])
            R, p = dot(parent_R, R), parent_p + dot(parent_R, p)
        frames.append((R, p))
    return frames


def compute_inertia_constants(mechanism: Mechanism, theta: Shaped[np.ndarray, "link_params"]) -> list[Constants]:
    """The constants of every composite body i, in joint frame i: (10), (12), (14)."""
    frames = compute_joint_frames(mechanism)
    constants: list[Constants] = []
    for i, body in enumerate(mechanism.bodies):
        ten = theta[PER_LINK * i : PER_LINK * (i + 1)]
        constants.append(Constants(ten[:1], ten[1:4], inertia_matrix(ten)).seen_from(*link_in_joint(body)))
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        if body.parent is not None:
            constants[body.parent] = constants[body.parent] + pass_to_parent(body, constants[i], *frames[i])
    return constants


def pass_to_parent(body: Body, constants: Constants, R: AnyMatrix3, p: AnyVector3) -> Constants:
    """The part of a body's constants that is constant in its parent's joint frame too, expressed in that frame."""
    if body.joint is None:
        return constants.seen_from(R, p)
    if body.prismatic:
        z = R[:, 2]
        across = p - scale(z, array([inner(z, p)]))  # b of the paper: p without its component along the axis
        return constants.seen_from(R, across)
    return keep_constant_part(constants).seen_from(R, p)


def keep_constant_part(constants: Constants) -> Constants:
    """The part of a composite body on a revolute joint that does not depend on q: kz, U22 twice, and U33."""
    U = zeros(3, 3)
    U[0, 0] = U[1, 1] = constants.U[1, 1]
    U[2, 2] = constants.U[2, 2]
    return Constants(constants.m, array([0, 0, constants.k[2]]), U)


def link_in_joint(body: Body) -> tuple[AnyMatrix3, AnyVector3]:
    """The pose of a body's link frame in its joint frame. Both frames move with the body."""
    R = rotation_to_axis(body).T
    return dot(R, body.S), dot(R, body.s)


def rotation_to_axis(body: Body) -> AnyMatrix3:
    """A constant rotation that maps z to the joint axis; the identity for a load and for a joint axis along z."""
    if body.joint is None or _equals(body.axis, (0, 0, 1)):
        return exact_array(np.eye(3).tolist())
    x, y, z = (float(entry) for entry in body.axis)
    smallest = min(range(3), key=lambda k: abs((x, y, z)[k]))
    axis = np.array([x, y, z])
    first = np.cross(np.eye(3)[smallest], axis)
    first = first / np.linalg.norm(first)
    return exact_array(np.column_stack([first, np.cross(axis, first), axis]).tolist())


def _equals(vector: AnyVector3, values: Sequence[int]) -> bool:
    return all(entry == value for entry, value in zip(vector, values, strict=True))

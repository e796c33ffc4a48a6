"""Inertia constants of the composite bodies of a robot in the form that Lin's recursion needs.

Identity      D_i = fixed_i + sum of d_k W_k   over the prismatic joints k between joint i and the next revolute ones
Reference     [lin1995] (38)-(43), (86), (87), (91)-(93)
Accepts       trees of revolute and prismatic joints; loads
Notation      code            paper       meaning                                                       frame
              m, k            m hat, k    mass and constant first moment of composite body i            i
              U               U           constant inertia of composite body i about the origin         i
              fixed           D_i         constant part of D_i (42)                                     i
              slides          W_k         (k, W_k in frame i) for the prismatic joints of (91)          i
              kappa           kappa_1,2   first moment of a prismatic joint between r and s (86), (87)
              outer           G_m         part that the next revolute joints take from U_i (40), (41)   i
Differs from  the paper in: trees, in which the parts of all children add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.formulations.joint_axes import JointAxis, compute_joint_axes, list_angle_offsets, remove_rounding
from ytheta.dynamics.formulations.newton_euler import inertia_matrix
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, exact_array
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyVector3, Float, Matrix3, Matrix4, Shaped, Vector3


@dataclass(frozen=True, eq=False)
class CompositeBody:
    """The constants of one composite body; see the module docstring. ``kappa`` is zero unless r < i < s."""

    m: float
    k: Vector3
    U: Matrix3
    kappa: tuple[float, float]
    fixed: Matrix3
    slides: tuple[tuple[int, Matrix3], ...]


@dataclass(frozen=True, eq=False)
class CompositeBodies:
    """The axes of a robot, parents first, the composite body behind each of them, and gravity in base axes."""

    axes: tuple[JointAxis, ...]
    bodies: tuple[CompositeBody, ...]
    gravity: AnyVector3

    @property
    def offsets(self) -> Float[np.ndarray, " joints"]:
        """Constant angles to be added to q."""
        return list_angle_offsets(self.axes)


def find_composite_bodies(robot: Robot) -> CompositeBodies:
    """Compute the constants of all composite bodies of a robot, loads included."""
    axes, inertias = compute_joint_axes(robot, keeps_offsets=True)
    constants = _compose(axes, inertias)
    bodies: list[CompositeBody] = []
    outer = [np.zeros((3, 3)) for _ in axes]
    slides: list[list[tuple[int, Matrix3]]] = [[] for _ in axes]
    for i in reversed(range(len(axes))):
        axis, own = axes[i], constants[i]
        U = own.U + outer[i]  # (39)
        fixed = remove_rounding(U - np.diag([U[1, 1], U[1, 1], 0.0]), 10.0 * abs(U).max())
        kappa = _compute_kappa(axis, own.k)
        bodies.append(CompositeBody(float(own.m[0]), own.k, own.U, kappa, fixed, tuple(slides[i])))
        if axis.parent is not None:
            R = axis.H[:3, :3]
            G = np.diag([outer[i][1, 1], outer[i][1, 1], -own.U[2, 2]]) if axis.revolute else outer[i]  # (43)
            outer[axis.parent] = outer[axis.parent] + R @ G @ R.T  # (41)
            passed = [] if axis.revolute else [(i, _make_slide_matrix(own.k)), *slides[i]]
            slides[axis.parent] += [(j, remove_rounding(R @ W @ R.T, 10.0 * abs(W).max())) for j, W in passed]
    return CompositeBodies(tuple(axes), tuple(reversed(bodies)), exact_array(robot.merged.gravity_in_base))


def _compose(axes: Sequence[JointAxis], inertias: Sequence[Matrix4]) -> list[Constants]:
    """m, k and U of every composite body, (10), (12), (14), with rounding errors set to zero."""
    total: list[Constants] = []
    for P in inertias:
        S = P[:3, :3]
        total.append(Constants(P[3, 3:].copy(), P[:3, 3].copy(), np.trace(S) * np.eye(3) - S))
    for i in reversed(range(len(axes))):
        m, k, U = total[i].m, total[i].k, total[i].U
        size = float(np.trace(U))  # |k| is at most the root of m size, for every body with positive masses
        k = remove_rounding(k, 10.0 * np.sqrt(abs(m[0] * size)))
        total[i] = Constants(m, k, remove_rounding(U, 10.0 * abs(size)))
        axis = axes[i]
        if axis.parent is not None:
            part = keep_constant_part(total[i]) if axis.revolute else total[i]
            origin = axis.H[:3, 3] if axis.revolute else axis.foot
            moved = part.seen_from(axis.H[:3, :3], origin)
            total[axis.parent] = total[axis.parent] + Constants(moved.m, *(x.astype(float) for x in (moved.k, moved.U)))
    return total


def _compute_kappa(axis: JointAxis, k: Vector3) -> tuple[float, float]:
    """kappa_1 (86) and kappa_2 (87) of a prismatic joint between r and s; zeros for all other joints."""
    if axis.revolute or axis.u is None:
        return 0.0, 0.0
    x, y, z = axis.u
    return float(x * k[1] - y * k[0]), float((1.0 - z * z) * k[2] - z * (x * k[0] + y * k[1]))


def _make_slide_matrix(k: Vector3) -> Matrix3:
    """W_k (92), in the frame of the prismatic joint."""
    x, y, z = k
    return np.array([[2.0 * z, 0.0, -x], [0.0, 2.0 * z, -y], [-x, -y, 0.0]])


# Inertia constants: for the composite body behind a joint, the part of its inertia that is independent of the motion.
#
# Identity      the first moment and the inertia of composite body i are k_i and U_i plus parts that need only constants
#               of the bodies behind body i (8), (9)
# Reference     [lin1995] sec. II, (10), (12), (14)
# Accepts       trees of revolute and prismatic joints with any axis; loads
# Notation      code    paper     meaning                                       frame
#               m, k    m hat, k  mass and constant first moment                joint i
#               U       U         constant inertia about the frame's origin     joint i
#               R, p    R, s      pose of a body's joint frame in its parent's joint frame, at q = 0
# Differs from  the paper in: trees, in which the constants of all children add up; joint frames with z along the axis
#               and any x (they are the paper's frames if the robot is given in modified Denavit-Hartenberg frames);
#               loads, which pass all their constants to their parent.
#
# The constants of a single link are its ten parameters, transformed from the link frame to the joint frame. Parameters
# and lengths may be floats or symbols. The constants are linear in the parameters and polynomial in the lengths.


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


def compute_inertia_constants(mechanism: Mechanism, theta: Shaped[np.ndarray, " link_params"]) -> list[Constants]:
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

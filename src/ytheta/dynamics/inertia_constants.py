"""Inertia constants of composite bodies: what of the bodies behind a joint stays constant however they move.

Identity      the first moment and the inertia of composite body i are k_i and U_i plus parts that need only constants
              of the bodies behind it (8), (9)
Reference     [lin1995] sec. II, (10), (12), (14)
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code    paper     meaning                                       frame
              m, k    m hat, k  mass and constant first moment                joint i
              U       U         constant inertia about the frame's origin     joint i
              R, p    R, s      joint frame of a body in that of its parent, at q = 0
Differs from  the paper in: trees, where the constants of all children add up; joint frames with z along the axis and x
              anywhere, which are the paper's for a robot in modified Denavit-Hartenberg frames; loads pass on all.

A link's ten parameters become constants by the same move from the link's frame to its joint frame. Scalars may be
floats or symbols, in parameters as well as in lengths: all is linear in the former and polynomial in the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.formulations.newton_euler import inertia_matrix
from ytheta.dynamics.mechanism import Body, Mechanism, exact_array
from ytheta.dynamics.vectors import array, dot, inner, scale, zeros
from ytheta.shapes import AnyMatrix3, AnyVector3, Shaped

PER_LINK = len(LINK_PARAMETERS)


@dataclass(frozen=True, eq=False)
class Constants:
    """Mass (an array of one entry), first moment and inertia about the origin of a frame."""

    m: Shaped[np.ndarray, "1"]
    k: AnyVector3
    U: AnyMatrix3

    def __add__(self, other: Constants) -> Constants:
        return Constants(self.m + other.m, self.k + other.k, self.U + other.U)

    def seen_from(self, R: AnyMatrix3, p: AnyVector3) -> Constants:
        """The same in a frame A, given the present frame seen from A."""
        k = dot(R, self.k)
        moved = k + scale(p, self.m)
        both = dot(p[:, None], moved[None]) + dot(k[:, None], p[None])
        U = dot(dot(R, self.U), R.T) - both  # Huygens and Steiner, (6)
        for i in range(3):
            U[i, i] = U[i, i] + both[0, 0] + both[1, 1] + both[2, 2]
        return Constants(self.m, moved, U)


def joint_frames(mechanism: Mechanism) -> list[tuple[AnyMatrix3, AnyVector3]]:
    """For every body its joint frame at q = 0, z along the axis, seen from that of its parent (from the base)."""
    frames: list[tuple[AnyMatrix3, AnyVector3]] = []
    for body in mechanism.bodies:
        R, p = dot(body.P, turned(body)), body.p
        if body.parent is not None:
            above, place = link_in_joint(mechanism.bodies[body.parent])
            R, p = dot(above, R), place + dot(above, p)
        frames.append((R, p))
    return frames


def inertia_constants(mechanism: Mechanism, theta: Shaped[np.ndarray, "link_params"]) -> list[Constants]:
    """The constants of every composite body, in its joint frame: (10), (12), (14)."""
    frames = joint_frames(mechanism)
    found: list[Constants] = []
    for i, body in enumerate(mechanism.bodies):
        ten = theta[PER_LINK * i : PER_LINK * (i + 1)]
        found.append(Constants(ten[:1], ten[1:4], inertia_matrix(ten)).seen_from(*link_in_joint(body)))
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        if body.parent is not None:
            found[body.parent] = found[body.parent] + passed_on(body, found[i], *frames[i])
    return found


def passed_on(body: Body, own: Constants, R: AnyMatrix3, p: AnyVector3) -> Constants:
    """What of a body's constants is constant for its parent too."""
    if body.joint is None:
        return own.seen_from(R, p)
    if body.prismatic:
        z = R[:, 2]
        across = p - scale(z, array([inner(z, p)]))  # b of the paper: the place without the way along the axis
        return own.seen_from(R, across)
    U = zeros(3, 3)
    U[0, 0] = U[1, 1] = own.U[1, 1]
    U[2, 2] = own.U[2, 2]
    return Constants(own.m, array([0, 0, own.k[2]]), U).seen_from(R, p)


def link_in_joint(body: Body) -> tuple[AnyMatrix3, AnyVector3]:
    """A body's link frame seen from its joint frame, which moves with it."""
    back = turned(body).T
    return dot(back, body.S), dot(back, body.s)


def turned(body: Body) -> AnyMatrix3:
    """A constant turn that takes z to the joint's axis; none for a load, and for an axis that is z already."""
    if body.joint is None or _is(body.axis, (0, 0, 1)):
        return exact_array(np.eye(3).tolist())
    x, y, z = (float(entry) for entry in body.axis)
    smallest = min(range(3), key=lambda k: abs((x, y, z)[k]))
    axis = np.array([x, y, z])
    first = np.cross(np.eye(3)[smallest], axis)
    first = first / np.linalg.norm(first)
    return exact_array(np.column_stack([first, np.cross(axis, first), axis]).tolist())


def _is(vector: AnyVector3, values: Sequence[int]) -> bool:
    return all(entry == value for entry, value in zip(vector, values, strict=True))

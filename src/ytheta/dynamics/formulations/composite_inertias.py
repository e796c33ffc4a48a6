"""Mass matrix from composite bodies, whose inertias are Lin's constants plus the parts that vary with the position.

Identity      c_i = k_i + l_i, J_i = U_i + V_i (8), (9);   M = M(q) with kinetic energy ½ qdᵀ M qd
Reference     [lin1995] (6), (8)-(15); sec. III, on the forward dynamics of Renaud
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code    paper        meaning                                                          frame    shape
              c, J    c, J hat     first moment and inertia of composite body i                     i        3, 6
              l, V    l, V         their parts that vary with the positions of the joints behind i  i        3, 6
              m, k, U m hat, k, U  mass, and the constant parts of c and J                          i        1, 3, 6
              d       d            displacement of a joint along its axis
              foot    b            foot of the common normal of two axes                            parent   3
              f, n                 force, and moment about the origin, for a unit acceleration of   i        3, 3
                                   one joint
Differs from  the paper in: trees, in which the varying parts of all children add up; terms of (15) with b in the frame
              of the parent, where b has one component. For M itself, the paper only cites Renaud.

Symmetric matrices are given by six entries in the order of psi (26). As the paper says, l and V need only some of the
constants: of a body on a revolute joint kx, ky, U11 - U22 and the products of U.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, CompositeBody
from ytheta.dynamics.formulations.composite_newton_euler import (
    JointRotation,
    Observer,
    compute_displacement,
    ignore,
    make_rotation,
)
from ytheta.dynamics.formulations.joint_axes import JointAxis
from ytheta.dynamics.formulations.sixteen import SYMMETRIC_ENTRIES
from ytheta.dynamics.mechanism import Motion, exact_array
from ytheta.dynamics.vectors import add, array, cross, multiply_entries, sum_products, zeros
from ytheta.shapes import AnyJointsByJoint, AnyVector3, Matrix3, Shaped

SixEntries = Shaped[np.ndarray, "6"]
PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # of the entries of a symmetric matrix in psi (26)


@dataclass(frozen=True, eq=False)
class CompositeInertia:
    """First moment and inertia of one composite body, and their varying parts; see the module docstring."""

    l: AnyVector3  # noqa: E741
    V: SixEntries
    c: AnyVector3
    J: SixEntries


def mass_matrix(arm: CompositeBodies, motion: Motion) -> AnyJointsByJoint:
    """The mass matrix of the joints. The angles of ``motion`` are q + arm.offsets."""
    rotations = [make_rotation(axis, motion) for axis in arm.axes]
    M = zeros(len(arm.axes), len(arm.axes))
    for i, inertia in enumerate(compute_inertias(arm, motion)):
        joint, (x, y, _) = arm.axes[i].joint, inertia.c
        if arm.axes[i].revolute:
            f, n = array([-y, x, 0]), inertia.J[list(PLACES[2])]
        else:
            f, n = exact_array([0, 0, arm.bodies[i].m]), array([y, -x, 0])
        body: int | None = i
        while body is not None:  # towards the base
            axis, R = arm.axes[body], rotations[body]
            M[joint, axis.joint] = M[axis.joint, joint] = n[2] if axis.revolute else f[2]
            n = add(n, cross(array([0, 0, compute_displacement(axis, motion)]), f))
            f = R.up(f)
            n = add(R.up(n), cross(exact_array(axis.foot.tolist()), f))
            body = axis.parent
    return M


def compute_inertias(arm: CompositeBodies, motion: Motion, observe: Observer = ignore) -> list[CompositeInertia]:
    """Compute the inertias of all composite bodies. ``observe`` reports when c and J of a body have been computed."""
    found: dict[int, CompositeInertia] = {}
    for i in reversed(range(len(arm.axes))):
        body = arm.bodies[i]
        children = [
            _Child(axis, arm.bodies[j], found[j], make_rotation(axis, motion), compute_displacement(axis, motion))
            for j, axis in enumerate(arm.axes)
            if axis.parent == i
        ]
        l = add(zeros(3), *(child.l for child in children))  # noqa: E741
        c = add(exact_array(body.k.tolist()), l)  # (8)
        observe(i, "c")
        V = add(zeros(6), *(child.V for child in children))
        found[i] = CompositeInertia(l, V, c, add(list_entries(body.U), V))  # (9)
        observe(i, "J")
    return [found[i] for i in range(len(arm.axes))]


@dataclass(frozen=True, eq=False)
class _Child:
    """A composite body behind the one that is computed, with the rotation and the displacement of its joint."""

    axis: JointAxis
    body: CompositeBody
    inertia: CompositeInertia
    R: JointRotation
    d: Any

    @cached_property
    def l(self) -> AnyVector3:  # noqa: E743
        """The part of l of the parent (11)."""
        return self.R.up(self._moved)

    @cached_property
    def V(self) -> SixEntries:
        """The part of V of the parent: (13), (15)."""
        if self.axis.revolute:
            xx, yy, _, *products = list_entries(self.body.U)
            rotated = _rotate(self.R, add(self.inertia.V, array([xx - yy, 0, 0, *products])))
            return add(rotated, _shift(exact_array(self.axis.H[:3, 3].tolist()), self.l))
        x, y, z = self.inertia.c
        turned = sum_products((self.d, z + self._moved[2] + exact_array([self.body.k[2]])[0]))  # d (2 c_z + m d)
        slid = array([turned, turned, 0, 0, sum_products((-x, self.d)), sum_products((-y, self.d))])
        rotated = _rotate(self.R, add(self.inertia.V, slid))
        return add(rotated, _shift(exact_array(self.axis.foot.tolist()), self.l))

    @cached_property
    def _moved(self) -> AnyVector3:
        """The first moment of (11) before its rotation: without kz, or about the foot instead of the origin."""
        x, y, _ = self.inertia.c
        if self.axis.revolute:
            return array([x, y, self.inertia.l[2]])
        return add(self.inertia.l, array([0, 0, sum_products((exact_array([self.body.m])[0], self.d))]))


def _rotate(R: JointRotation, S: SixEntries) -> SixEntries:
    """R S Rᵀ, by plane rotations."""
    for axis, (cos, sin) in ((2, R.q), (0, R.alpha), (2, R.gamma)):
        S = _rotate_about_axis(axis, cos, sin, S)
    return S


def _rotate_about_axis(k: int, cos: Any, sin: Any, S: SixEntries) -> SixEntries:
    """Q S Qᵀ, where Q is the rotation about coordinate axis k with this cosine and sine."""
    i, j = (k + 1) % 3, (k + 2) % 3
    ij, ik, jk = PLACES[i][j], PLACES[i][k], PLACES[j][k]
    result = S.copy()
    if type(cos) is int and type(sin) is int:
        result[[i, j]], result[ij] = (S[[j, i]], -S[ij]) if sin else (S[[i, j]], S[ij])
    else:
        w = sum_products((sin, S[i] - S[j]), (cos, S[ij] + S[ij]))
        change = sum_products((sin, w))
        result[i], result[j], result[ij] = S[i] - change, S[j] + change, sum_products((cos, w)) - S[ij]
    result[ik], result[jk] = sum_products((cos, S[ik]), (-sin, S[jk])), sum_products((sin, S[ik]), (cos, S[jk]))
    return result


def _shift(p: AnyVector3, c: AnyVector3) -> SixEntries:
    """-[p ×][c ×] - [c ×][p ×] for a constant p."""
    x, y, z = multiply_entries(p + p, c)
    products = [sum_products((-p[i], c[j]), (-p[j], c[i])) for i, j in ((0, 1), (0, 2), (1, 2))]
    return array([*add(array([y, x, x]), array([z, z, y])), *products])


def list_entries(S: Matrix3) -> SixEntries:
    """psi of a constant matrix (26)."""
    return exact_array([S[i, j] for i, j in SYMMETRIC_ENTRIES])

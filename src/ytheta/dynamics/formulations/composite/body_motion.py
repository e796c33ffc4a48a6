"""The forward recursion of Lin's formulation: rotations and accelerations of all bodies, from the base to the tips.

Reference     [lin1995] (57)-(62), (69)-(71), (76), (77), (80)-(82)
Notation      code      paper      meaning                                                      frame
              w, wd     omega_i    angular velocity and acceleration                            i
              about_u   omega_i    the same two about the constant direction u_r, for i < s
              Omega     Omega_i    force per unit first moment (59)                             i
              h         h_i        acceleration by sliding (61), (82)                           i
              slide     h*_i       h, and Omega_i d_i of a prismatic joint (69)                 i
              foot      a*_i       acceleration at displacement zero, minus gravity (70)        i
              a         a_i        acceleration of the origin, minus gravity (71), (76)         i
Differs from  the paper in: trees, in which the frames of second children also need a rotation by gamma.

The integer 0 is a structural zero, which needs no operation; see ``vectors``. ``zero`` replaces it where the paper uses
full vectors; ``operation_table`` counts with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.composite.composite_bodies import CompositeBodies
from ytheta.dynamics.formulations.joint_axes import Axis, RotationKind
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, scale, sum_products, zeros
from ytheta.robot.frame import cos_sin
from ytheta.shapes import AnyMatrix3, AnyVector3, Shaped

# Called with body and name of a variable of Table II as soon as the variable has been computed.
Observer: TypeAlias = Callable[[int, str], None]
Pair: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class JointRotation:
    """R = Rz(gamma) Rx(alpha) Rz(q), each angle as cosine and sine. R transforms from the body to its parent."""

    gamma: Pair
    alpha: Pair
    q: Pair

    @cached_property
    def matrix(self) -> AnyMatrix3:
        """R (5)."""
        (ca, sa), (c, s) = self.alpha, self.q
        rows = array([
            [c, -s, 0],
            [sum_products((ca, s)), sum_products((ca, c)), -sa],
            [sum_products((sa, s)), sum_products((sa, c)), ca],
        ])  # fmt: skip
        columns = [_rotate_about_z(column, self.gamma[0], -self.gamma[1]) for column in rows.T]
        return np.stack(columns, axis=1)

    @property
    def is_permutation(self) -> bool:
        """Whether R only permutes components and changes signs."""
        return all(type(x) is int for x in (*self.gamma, *self.alpha, *self.q))

    def down(self, v: AnyVector3) -> AnyVector3:
        """R^T v: from the axes of the parent to those of the body, by plane rotations."""
        (ca, sa), (x, y, z) = self.alpha, _rotate_about_z(v, *self.gamma)
        return _rotate_about_z(array([x, sum_products((ca, y), (sa, z)), sum_products((ca, z), (-sa, y))]), *self.q)

    def up(self, v: AnyVector3) -> AnyVector3:
        """R v: from the axes of the body to those of the parent."""
        (ca, sa), (x, y, z) = self.alpha, _rotate_about_z(v, self.q[0], -self.q[1])
        rotated = array([x, sum_products((ca, y), (-sa, z)), sum_products((sa, y), (ca, z))])
        return _rotate_about_z(rotated, self.gamma[0], -self.gamma[1])


@dataclass(frozen=True, eq=False)
class BodyRotation:
    """How a body rotates; see the module docstring. ``products`` are those of the components of w."""

    w: AnyVector3
    wd: AnyVector3
    about_u: Pair
    products: AnyMatrix3
    Omega: AnyMatrix3
    Psi: Shaped[np.ndarray, "3 6"]


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """The motion of one body, and the rotation of its frame against that of its parent."""

    R: JointRotation
    rotation: BodyRotation
    h: AnyVector3
    slide: AnyVector3
    foot: AnyVector3
    a: AnyVector3


def compute_body_motions(arm: CompositeBodies, motion: Motion, zero: Any, observe: Observer) -> list[BodyMotion]:
    """Compute the motion of all bodies."""
    base = BodyRotation(zeros(3), zeros(3), (0, 0), zeros(3, 3), zeros(3, 3), zeros(3, 6))
    bodies: list[BodyMotion] = []
    for i, axis in enumerate(arm.axes):
        R = _make_rotation(axis, motion)
        _ = R.matrix  # the paper counts its operations separately
        observe(i, "R")
        before = base if axis.parent is None else bodies[axis.parent].rotation
        rotation = _compute_rotation(i, axis, motion, R, before, zero, observe)
        h = slide = zeros(3)
        if not axis.revolute:
            h = _compute_sliding(axis, rotation, motion)
            slide = h + scale(rotation.Omega[:, 2], array([compute_displacement(axis, motion)]))  # (69)
            observe(i, "h")
        if axis.parent is None:
            foot = dot(R.matrix.T, -arm.gravity)  # (76)
        else:
            lever = exact_array((axis.H[:3, 3] if axis.revolute else axis.foot).tolist())
            Omega, a = before.Omega, bodies[axis.parent].a
            if axis.rotation is RotationKind.SPATIAL:
                Omega, a = fill_zeros(Omega, zero), fill_zeros(a, zero)
            foot = R.down(a + dot(Omega, lever))  # (70)
        a = foot + slide  # (71), (77)
        observe(i, "a")
        bodies.append(BodyMotion(R, rotation, h, slide, foot, a))
    return bodies


def compute_displacement(axis: Axis, motion: Motion) -> Any:
    """d_i: the distance along z from the foot of the common normal to the origin."""
    d = exact_array([axis.d])[0]
    return d if axis.revolute else d + motion.q[axis.joint]


def _compute_rotation(
    i: int, axis: Axis, motion: Motion, R: JointRotation, before: BodyRotation, zero: Any, observe: Observer
) -> BodyRotation:
    """The rotation of a body from that of its parent."""
    if axis.rotation is RotationKind.NONE:
        return before
    qd, qdd = (motion.qd[axis.joint], motion.vd[axis.joint]) if axis.revolute else (0, 0)
    about_u: Pair = (0, 0)
    if axis.u is not None:
        u, (speed, acceleration) = exact_array(axis.u.tolist()), before.about_u
        speed = speed + sum_products((u[2], qd))
        w = scale(u, array([speed]))  # (80)
        observe(i, "omega")
        acceleration = acceleration + sum_products((u[2], qdd))
        wd = scale(u, array([acceleration]))  # (81)
        about_u = speed, acceleration
    else:
        carried = R.down(fill_zeros(before.w, zero))
        w = carried + array([0, 0, qd])  # (57)
        observe(i, "omega")
        across = array([sum_products((carried[1], qd)), sum_products((-carried[0], qd)), qdd])
        wd = R.down(fill_zeros(before.wd, zero)) + across  # (58)
    observe(i, "omegadot")
    if not axis.revolute and R.is_permutation:  # the same numbers as those of the parent
        products, Omega = (dot(dot(R.matrix.T, X), R.matrix) for X in (before.products, before.Omega))
    else:
        products = zeros(3, 3)
        for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            products[j, k] = products[k, j] = sum_products((w[j], w[k]))
        Omega = _compute_omega(wd, products)
    observe(i, "Omega")
    Psi = zeros(3, 6) if axis.u is not None else _compute_psi(wd, products, Omega)
    observe(i, "Psi")
    return BodyRotation(w, wd, about_u, products, Omega, Psi)


def _compute_sliding(axis: Axis, rotation: BodyRotation, motion: Motion) -> AnyVector3:
    """The acceleration by sliding along a prismatic axis, on a body that rotates: (61), (82)."""
    qd, qdd = motion.qd[axis.joint], motion.vd[axis.joint]
    if axis.rotation is RotationKind.NONE:
        return array([0, 0, qdd])
    twice = qd + qd
    return array([sum_products((rotation.w[1], twice)), sum_products((-rotation.w[0], twice)), qdd])


def _compute_omega(wd: AnyVector3, products: AnyMatrix3) -> AnyMatrix3:
    """Omega (59) from the angular acceleration and the products of the components of w."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = products
    x, y, z = wd
    return array([[-(yy + zz), xy - z, xz + y], [xy + z, -(xx + zz), yz - x], [xz - y, yz + x, -(xx + yy)]])


def _compute_psi(wd: AnyVector3, products: AnyMatrix3, Omega: AnyMatrix3) -> Shaped[np.ndarray, "3 6"]:
    """Psi (60), from the entries of Omega and the products of the components of w."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = products
    x, y, z = wd
    return array([
        [x, -yz, yz, -Omega[2, 0], Omega[1, 0], yy - zz],
        [xz, y, -xz, Omega[2, 1], zz - xx, -Omega[0, 1]],
        [-xy, xy, z, xx - yy, -Omega[1, 2], Omega[0, 2]],
    ])  # fmt: skip


def _make_rotation(axis: Axis, motion: Motion) -> JointRotation:
    gamma, alpha, q = (tuple(exact_array(cos_sin(angle))) for angle in (axis.gamma, axis.alpha, axis.offset))
    return JointRotation(gamma, alpha, (motion.cos[axis.joint], motion.sin[axis.joint]) if axis.revolute else q)


def fill_zeros(values: np.ndarray, zero: Any) -> np.ndarray:
    """Replace structural zeros."""
    filled = values.copy()
    for place in np.ndindex(values.shape):
        entry: Any = values[place]
        if type(entry) is int and not entry:
            filled[place] = zero
    return filled


def _rotate_about_z(v: AnyVector3, c: Any, s: Any) -> AnyVector3:
    """The coordinates of a vector in axes that are rotated about z by the angle with cosine c and sine s."""
    return array([sum_products((c, v[0]), (s, v[1])), sum_products((c, v[1]), (-s, v[0])), v[2]])

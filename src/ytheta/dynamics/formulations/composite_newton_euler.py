"""Recursive Newton-Euler inverse dynamics in the inertia constants of composite bodies, by Lin.

Identity      tau = Y(q, qd, qdd) @ theta - J^T [f_E, t_E]   for every theta, without forming Y
Reference     [lin1995] sec. III, (57)-(93), Tables II and III
Accepts       trees of revolute and prismatic joints with any axis; loads; a force and a torque on one body
Notation      code       paper      meaning                                                       frame
              mu         mu_i       force of composite body i that depends on joint i or outer    i
              zeta       zeta_i     likewise the moment; its component along u_r for i < s        i
              own        mu, zeta   with a bar in the paper: the part of body i alone             i
              rho        rho_i      force of composite body i along a prismatic axis
              f_E, t_E   f_E, t_E   force and torque that the environment exerts on the body at the gripping point
              s_E        s_E        gripping point                                                body's joint frame
Differs from  the paper in: trees, in which the forces and moments of all children add up; d_k W_k of (91) and (93) is
              counted as a variable D, which Table II leaves out, as it leaves out (66) for i < r.

The sign of f_E and t_E is that of Pinocchio's external forces: they act on the robot. A robot that presses on the
environment with a force f has f_E = -f.

``minimal_newton_euler`` needs fewer operations. This module is the paper's own recursion: ``observe`` reports when each
variable of Table II has been computed, so that its operations can be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, CompositeBody
from ytheta.dynamics.formulations.joint_axes import JointAxis, RotationKind
from ytheta.dynamics.mechanism import Motion, exact_array
from ytheta.dynamics.vectors import array, cross, dot, inner, scale, sum_products, zeros
from ytheta.robot.frame import cos_sin
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyPerMoment, AnyVector3, Shaped


@dataclass(frozen=True, eq=False)
class EndEffectorWrench:
    """Force and torque of the environment on body number ``body``, in the axes of its joint frame; ``point``: s_E."""

    body: int
    point: AnyVector3
    force: AnyVector3
    torque: AnyVector3


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which this recursion does not support; use newton_euler"
    if robot.floating or robot.sensor_coordinates:
        part = "a floating base" if robot.floating else "a sensor joint"
        return f"robot {robot.name!r} has {part}, which this recursion does not support; use newton_euler"
    return None


def ignore(body: int, variable: str) -> None:
    """Observe nothing."""


def inverse_dynamics(
    arm: CompositeBodies,
    motion: Motion,
    wrench: EndEffectorWrench | None = None,
    *,
    zero: Any = 0,
    observe: Observer = ignore,
) -> Shaped[np.ndarray, " joints"]:
    """tau of the joints. The angles of ``motion`` are q + arm.offsets; ``zero``: see ``compute_body_motions``."""
    motions = compute_body_motions(arm, motion, zero, observe)
    children: list[list[int]] = [[] for _ in arm.axes]
    mu, zeta, tau = [zeros(3)] * len(arm.axes), [zeros(3)] * len(arm.axes), zeros(len(arm.axes))
    for i in reversed(range(len(arm.axes))):
        axis, body, moving = arm.axes[i], arm.bodies[i], motions[i]
        at_end = wrench if wrench is not None and wrench.body == i else None
        rho = _compute_rho(axis, body, moving)
        observe(i, "rho")
        own = zeros(3) if axis.parent is None else _compute_own_force(axis, body, moving)
        observe(i, "mu bar")
        ends_here = axis.revolute and axis.parent is None  # nobody needs mu_1; forces act only through levers
        carried = {j: motions[j].R.up(mu[j]) for j in children[i] if not ends_here or arm.axes[j].foot.any()}
        outer = sum(carried.values(), zeros(3) if at_end is None else -at_end.force)
        mu[i] = fill_zeros(own, zero) + outer if axis.parent is not None else outer  # (66)
        observe(i, "mu")
        if axis.rotation is not RotationKind.NONE:
            D = _compute_D(body, arm.axes, motion)
            observe(i, "D")
            zeta[i] = _compute_own_moment(axis, body, moving, D, motion)
            observe(i, "zeta bar")
            for j in children[i]:
                star = _add_offset_moment(arm.axes[j], zeta[j], mu[j], motion)
                zeta[i] = zeta[i] + _transform_moment(axis, arm.axes[j], motions[j].R, star)
                if j in carried:
                    zeta[i] = zeta[i] + _compute_foot_moment(axis, arm.axes[j], carried[j])  # (75), (90)
            if at_end is not None:
                moment = at_end.torque + cross(at_end.point, at_end.force)
                zeta[i] = zeta[i] - (moment if axis.u is None else array([inner(exact_array(axis.u.tolist()), moment)]))
            observe(i, "zeta")
        tau[axis.joint] = _compute_torque(axis, zeta[i]) if axis.revolute else rho + outer[2]  # (68)
        observe(i, "tau")
        if axis.parent is not None:
            children[axis.parent].insert(0, i)
    return tau


def _compute_rho(axis: JointAxis, body: CompositeBody, moving: CompositeBodyMotion) -> Any:
    """The force along a prismatic axis (63), (78), (83); 0 for a revolute one."""
    if axis.revolute:
        return 0
    weight = (exact_array([body.m])[0], moving.a[2])
    if axis.u is None:
        return sum_products(weight, *zip(exact_array(body.k.tolist()), moving.rotation.Omega[2], strict=True))
    (kappa_1, kappa_2), (speed, acceleration) = exact_array(list(body.kappa)), moving.rotation.about_u
    return sum_products(weight, (kappa_1, acceleration), (-kappa_2, sum_products((speed, speed))))


def _compute_own_force(axis: JointAxis, body: CompositeBody, moving: CompositeBodyMotion) -> AnyVector3:
    """mu bar (72), (79), (84)."""
    if not axis.revolute:
        return scale(moving.slide, exact_array([body.m]))
    return dot(moving.rotation.Omega, _take_first_moment(axis, body))


def _compute_own_moment(
    axis: JointAxis, body: CompositeBody, moving: CompositeBodyMotion, D: AnyMatrix3, motion: Motion
) -> AnyPerMoment:
    """zeta bar (73), (85)."""
    a, foot, rotation = moving.a, moving.foot, moving.rotation
    if axis.revolute:
        k = _take_first_moment(axis, body)
        if axis.u is None:
            return cross(k, a) + dot(rotation.Psi, D[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        u_z = exact_array([axis.u[2]])[0]
        return array([sum_products((u_z * k[0], a[1]), (-u_z * k[1], a[0]), (D[2, 2], rotation.about_u[1]))])
    d, m, q = compute_displacement(axis, motion), exact_array([body.m])[0], axis.joint
    if axis.u is None:
        md = sum_products((m, d))
        lever = array([sum_products((-foot[1], md)), sum_products((foot[0], md)), 0])
        return lever + cross(exact_array(body.k.tolist()), moving.h)
    (kappa_1, kappa_2), (x, y) = exact_array(list(body.kappa)), exact_array((axis.u[:2] * body.m).tolist())
    rate = sum_products((rotation.about_u[0], motion.qd[q]))
    lever = sum_products((y, foot[0]), (-x, foot[1]))
    return array([sum_products((lever, d), (kappa_1, motion.vd[q]), (2 * kappa_2, rate))])


def _compute_D(body: CompositeBody, axes: tuple[JointAxis, ...], motion: Motion) -> AnyMatrix3:
    """D_i (91), (93). Equal entries of W_k give equal products, which are computed once."""
    D = exact_array(body.fixed.tolist())
    for k, W in body.slides:
        d = compute_displacement(axes[k], motion)
        products: dict[float, Any] = {}
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            size = abs(float(W[i, j]))
            if size and size not in products:
                products[size] = size * d
            if size:
                D[i, j] = D[j, i] = D[i, j] + (products[size] if W[i, j] > 0.0 else -products[size])
    return D


def _add_offset_moment(axis: JointAxis, zeta: AnyPerMoment, mu: AnyVector3, motion: Motion) -> AnyPerMoment:
    """zeta*: the moment about the foot of the common normal instead of the origin (74), (89)."""
    d = compute_displacement(axis, motion)
    if axis.u is None:
        return zeta + cross(array([0, 0, d]), mu)
    u = exact_array(axis.u.tolist())
    return zeta + array([sum_products((inner(array([u[1], -u[0]]), mu[:2]), d))])


def _transform_moment(
    axis: JointAxis, child: JointAxis, R: JointRotation, zeta: AnyPerMoment
) -> Shaped[np.ndarray, " parent_moments"]:
    """The moment of a child in the axes of its parent, or its component along u_r: (75), (88), (89)."""
    if axis.u is None:
        return R.up(zeta)
    if child.u is not None:
        return zeta
    if axis.revolute:
        return array([sum_products((exact_array([axis.u[2]])[0], inner(R.matrix[2], zeta)))])
    return array([inner(exact_array(axis.u.tolist()), R.up(zeta))])


def _compute_foot_moment(axis: JointAxis, child: JointAxis, mu: AnyVector3) -> AnyPerMoment:
    """The moment of a child's force at the foot of the common normal, or its component along u_r."""
    if axis.u is None:
        return cross(exact_array(child.foot.tolist()), mu)
    return array([inner(exact_array(np.cross(axis.u, child.foot).tolist()), mu)])


def _compute_torque(axis: JointAxis, zeta: AnyPerMoment) -> Any:
    """The moment about a revolute axis (44)."""
    return zeta[2] if axis.u is None else sum_products((exact_array([axis.u[2]])[0], zeta[0]))


def _take_first_moment(axis: JointAxis, body: CompositeBody) -> AnyVector3:
    """k_x and k_y of a revolute joint, which are not identifiable and not needed if delta_i = 0: (64), (84)."""
    return exact_array([body.k[0], body.k[1], 0]) if axis.accelerates_across else zeros(3)


# The forward recursion of Lin's formulation: rotations and accelerations of all bodies, from the base to the tips.
#
# Reference     [lin1995] (57)-(62), (69)-(71), (76), (77), (80)-(82)
# Notation      code      paper      meaning                                                      frame
#               w, wd     omega_i    angular velocity and acceleration                            i
#               about_u   omega_i    the same two about the constant direction u_r, for i < s
#               Omega     Omega_i    force per unit first moment (59)                             i
#               h         h_i        acceleration by sliding (61), (82)                           i
#               slide     h*_i       h, and Omega_i d_i of a prismatic joint (69)                 i
#               foot      a*_i       acceleration at displacement zero, minus gravity (70)        i
#               a         a_i        acceleration of the origin, minus gravity (71), (76)         i
# Differs from  the paper in: trees, in which the frames of second children also need a rotation by gamma.
#
# The integer 0 is a structural zero, which needs no operation; see ``vectors``. ``zero`` replaces it where the paper
# uses full vectors; ``count_recursion_operations`` counts with it.


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
class CompositeBodyMotion:
    """The motion of one body, and the rotation of its frame against that of its parent."""

    R: JointRotation
    rotation: BodyRotation
    h: AnyVector3
    slide: AnyVector3
    foot: AnyVector3
    a: AnyVector3


def compute_body_motions(
    arm: CompositeBodies, motion: Motion, zero: Any, observe: Observer
) -> list[CompositeBodyMotion]:
    """Compute the motion of all bodies."""
    base = BodyRotation(zeros(3), zeros(3), (0, 0), zeros(3, 3), zeros(3, 3), zeros(3, 6))
    bodies: list[CompositeBodyMotion] = []
    for i, axis in enumerate(arm.axes):
        R = make_rotation(axis, motion)
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
        bodies.append(CompositeBodyMotion(R, rotation, h, slide, foot, a))
    return bodies


def compute_displacement(axis: JointAxis, motion: Motion) -> Any:
    """d_i: the distance along z from the foot of the common normal to the origin."""
    d = exact_array([axis.d])[0]
    return d if axis.revolute else d + motion.q[axis.joint]


def _compute_rotation(
    i: int, axis: JointAxis, motion: Motion, R: JointRotation, before: BodyRotation, zero: Any, observe: Observer
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


def _compute_sliding(axis: JointAxis, rotation: BodyRotation, motion: Motion) -> AnyVector3:
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


def make_rotation(axis: JointAxis, motion: Motion) -> JointRotation:
    """The rotation of a body's frame against that of its parent."""
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

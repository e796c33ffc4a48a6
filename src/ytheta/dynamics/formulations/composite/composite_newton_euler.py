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

from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.composite.body_motion import (
    BodyMotion,
    JointRotation,
    Observer,
    compute_body_motions,
    compute_displacement,
    fill_zeros,
)
from ytheta.dynamics.formulations.composite.composite_bodies import CompositeBodies, CompositeBody
from ytheta.dynamics.formulations.joint_axes import Axis, RotationKind
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, inner, scale, sum_products, zeros
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
) -> Shaped[np.ndarray, "joints"]:
    """tau of the joints. The angles of ``motion`` are q + arm.offsets; ``zero``: see ``body_motion``."""
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


def _compute_rho(axis: Axis, body: CompositeBody, moving: BodyMotion) -> Any:
    """The force along a prismatic axis (63), (78), (83); 0 for a revolute one."""
    if axis.revolute:
        return 0
    weight = (exact_array([body.m])[0], moving.a[2])
    if axis.u is None:
        return sum_products(weight, *zip(exact_array(body.k.tolist()), moving.rotation.Omega[2], strict=True))
    (kappa_1, kappa_2), (speed, acceleration) = exact_array(list(body.kappa)), moving.rotation.about_u
    return sum_products(weight, (kappa_1, acceleration), (-kappa_2, sum_products((speed, speed))))


def _compute_own_force(axis: Axis, body: CompositeBody, moving: BodyMotion) -> AnyVector3:
    """mu bar (72), (79), (84)."""
    if not axis.revolute:
        return scale(moving.slide, exact_array([body.m]))
    return dot(moving.rotation.Omega, _take_first_moment(axis, body))


def _compute_own_moment(
    axis: Axis, body: CompositeBody, moving: BodyMotion, D: AnyMatrix3, motion: Motion
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


def _compute_D(body: CompositeBody, axes: tuple[Axis, ...], motion: Motion) -> AnyMatrix3:
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


def _add_offset_moment(axis: Axis, zeta: AnyPerMoment, mu: AnyVector3, motion: Motion) -> AnyPerMoment:
    """zeta*: the moment about the foot of the common normal instead of the origin (74), (89)."""
    d = compute_displacement(axis, motion)
    if axis.u is None:
        return zeta + cross(array([0, 0, d]), mu)
    u = exact_array(axis.u.tolist())
    return zeta + array([sum_products((inner(array([u[1], -u[0]]), mu[:2]), d))])


def _transform_moment(
    axis: Axis, child: Axis, R: JointRotation, zeta: AnyPerMoment
) -> Shaped[np.ndarray, "parent_moments"]:
    """The moment of a child in the axes of its parent, or its component along u_r: (75), (88), (89)."""
    if axis.u is None:
        return R.up(zeta)
    if child.u is not None:
        return zeta
    if axis.revolute:
        return array([sum_products((exact_array([axis.u[2]])[0], inner(R.matrix[2], zeta)))])
    return array([inner(exact_array(axis.u.tolist()), R.up(zeta))])


def _compute_foot_moment(axis: Axis, child: Axis, mu: AnyVector3) -> AnyPerMoment:
    """The moment of a child's force at the foot of the common normal, or its component along u_r."""
    if axis.u is None:
        return cross(exact_array(child.foot.tolist()), mu)
    return array([inner(exact_array(np.cross(axis.u, child.foot).tolist()), mu)])


def _compute_torque(axis: Axis, zeta: AnyPerMoment) -> Any:
    """The moment about a revolute axis (44)."""
    return zeta[2] if axis.u is None else sum_products((exact_array([axis.u[2]])[0], zeta[0]))


def _take_first_moment(axis: Axis, body: CompositeBody) -> AnyVector3:
    """k_x and k_y of a revolute joint, which are not identifiable and not needed if delta_i = 0: (64), (84)."""
    return exact_array([body.k[0], body.k[1], 0]) if axis.accelerates_across else zeros(3)

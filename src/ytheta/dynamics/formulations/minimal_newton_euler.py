"""Recursive Newton-Euler inverse dynamics in minimal parameters, after Lin.

Identity      tau = Y(q, qd, qdd) @ theta   for every theta, without forming Y
Reference     [lin1995] sec. III, (57)-(93), Tables II and III
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code           paper      meaning                                             frame
              w, wd          omega_i    angular velocity and acceleration                   i
              a              a_i        acceleration of a point of an axis, minus g (76)    i
              f, n           mu, zeta   force and moment that move body i and all behind    i
              AxisTransform  i R i+1    Rz(gamma) Rx(alpha) Rz(q) as planar rotations
              S, k           D_i, k_i   second and first moments of ``equivalent_bodies``   i
Differs from  the paper in: equivalent bodies instead of constants of composite bodies, so that prismatic joints need no
              terms of their own in (63)-(65) and no varying D (91)-(93); moments from Omega and S with at most 13
              products, instead of Psi psi(D) (60); planar rotations instead of rotation matrices; d_i of revolute
              joints in frame i, where Omega_i z = Omega_i-1 z (30), as in (69) for prismatic joints; trees.

Scalars may be floats or symbols of CasADi or SymPy. Structural zeros cost nothing: links before joint s need only the
components of (77)-(90), and the frame of a rotationally symmetric tip does not rotate with the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.equivalent_bodies import EquivalentBodies
from ytheta.dynamics.formulations.joint_axes import JointAxis, RotationKind
from ytheta.dynamics.mechanism import Motion, exact_array
from ytheta.dynamics.vectors import array, cross, dot, inner, scale, sum_products, zeros
from ytheta.robot.frame import cos_sin
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyPerMoment, AnyVector3, Shaped

Z = exact_array([0, 0, 1])


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which this recursion does not support; use newton_euler"
    if robot.floating or robot.sensor_coordinates:
        part = "a floating base" if robot.floating else "a sensor joint"
        return f"robot {robot.name!r} has {part}, which this recursion does not support; use newton_euler"
    return None


def inverse_dynamics(arm: EquivalentBodies, motion: Motion) -> Shaped[np.ndarray, " joints"]:
    """tau of the joints. The angles of ``motion`` are q + arm.offsets."""
    return run_recursion(arm, motion).tau


@dataclass(frozen=True, eq=False)
class RecursionResults:
    """All intermediate results of the recursion, body by body; Table II counts their operations."""

    tau: Shaped[np.ndarray, " joints"]
    transforms: list[AxisTransform] = field(default_factory=list)
    rotations: list[BodyRotation] = field(default_factory=list)
    foot_accelerations: list[AnyVector3] = field(default_factory=list)  # a at the foot of the axis
    offset_accelerations: list[AnyVector3] = field(default_factory=list)  # a at origin minus a at foot (ddot h*)
    origin_accelerations: list[AnyVector3] = field(default_factory=list)  # a at the origin
    own_forces: dict[int, AnyVector3] = field(default_factory=dict)  # mu bar
    own_moments: dict[int, AnyPerMoment] = field(default_factory=dict)  # zeta bar
    forces: dict[int, AnyVector3] = field(default_factory=dict)  # mu
    moments: dict[int, AnyPerMoment] = field(default_factory=dict)  # zeta
    on_parent: dict[int, tuple[AnyVector3, AnyPerMoment]] = field(default_factory=dict)  # mu, zeta in parent's frame


def run_recursion(arm: EquivalentBodies, motion: Motion) -> RecursionResults:
    """Compute the motion of all bodies outward, then forces and moments inward."""
    r = RecursionResults(zeros(len(arm.axes)))
    for i, axis in enumerate(arm.axes):
        transform = _make_axis_transform(axis, motion, follows_joint=not _is_rotationally_symmetric(arm, i))
        parent = PlanarRotation(zeros(3), 0, 0) if axis.parent is None else r.rotations[axis.parent]
        r.transforms.append(transform)
        r.rotations.append(_compute_rotation(arm, i, transform, parent, motion))
        if axis.parent is None:
            a = transform.about_z(exact_array(axis.base_acceleration.tolist()))  # (76)
        else:
            foot = exact_array(axis.foot.tolist())
            a = transform.down(r.origin_accelerations[axis.parent] + parent.times(foot))  # (70)
        r.foot_accelerations.append(a)
        r.offset_accelerations.append(_compute_offset_acceleration(axis, r.rotations[i], motion))
        r.origin_accelerations.append(a + r.offset_accelerations[i])  # (71)
    force, moment = [zeros(3) for _ in arm.axes], [rotation.zero_moment for rotation in r.rotations]
    for i in reversed(range(len(arm.axes))):
        axis, rotation, P = arm.axes[i], r.rotations[i], exact_array(arm.P[i].tolist())
        a = r.origin_accelerations[i]
        r.own_forces[i] = scale(a, P[3, 3:]) + rotation.times(P[:3, 3])  # (64); (63) is its z
        r.own_moments[i] = rotation.moment(P[:3, :3], P[:3, 3], a)  # (65)
        f = force[i] + r.own_forces[i]  # (66)
        origin = array([0, 0, _compute_offset(axis, motion)])
        n = moment[i] + r.own_moments[i] + rotation.force_moment(origin, f)  # (67), (74), (89)
        f = f + scale(r.foot_accelerations[i], exact_array([arm.foot_masses[i]]))
        r.forces[i], r.moments[i] = f, n
        r.tau[axis.joint] = rotation.along_z(n) if axis.revolute else f[2]  # (68)
        if axis.parent is not None:
            parent = r.rotations[axis.parent]
            f = r.transforms[i].up(f)
            n = n if isinstance(rotation, PlanarRotation) else parent.project(r.transforms[i].up(n))  # (88)
            n = n + parent.force_moment(exact_array(axis.foot.tolist()), f)  # (75), (90)
            r.on_parent[i] = f, n
            force[axis.parent], moment[axis.parent] = force[axis.parent] + f, moment[axis.parent] + n
    return r


@dataclass(frozen=True, eq=False)
class AxisTransform:
    """The rotation Rz(gamma) Rx(alpha) Rz(q), with each angle stored as cosine and sine.

    ``down`` transforms from the parent's axes to the body's, and ``up`` in the opposite direction. Rx gives
    y' = ca y + sa z = ca (y + (sa / ca) z). Next, y' is multiplied by the cosine and sine of q. The factor ca is
    included in these two, once for all vectors. If |sa| > |ca|, sa is the factor instead.
    """

    gamma: tuple[Any, Any]
    alpha: tuple[Any, Any]
    q: tuple[Any, Any]

    @cached_property
    def factored(self) -> tuple[Any, Any, Any, Any]:
        """(factor cos q, factor sin q, first, second) with y' = factor (first y + second z)."""
        (ca, sa), (c, s) = self.alpha, self.q
        if type(ca) is int or type(sa) is int:  # parallel or at right angles: no factor is needed
            return c, s, ca, sa
        if abs(ca) >= abs(sa):
            return sum_products((ca, c)), sum_products((ca, s)), 1, sa / ca
        return sum_products((sa, c)), sum_products((sa, s)), ca / sa, 1

    def down(self, v: AnyVector3) -> AnyVector3:
        (ca, sa), (c, s), (C, S, first, second) = self.alpha, self.q, self.factored
        x, y, z = _rotate_about_z(v, self.gamma)
        y_scaled = sum_products((first, y), (second, z))
        return array([
            sum_products((c, x), (S, y_scaled)),
            sum_products((C, y_scaled), (-s, x)),
            sum_products((ca, z), (-sa, y)),
        ])  # fmt: skip

    def up(self, v: AnyVector3) -> AnyVector3:
        (ca, sa), (c, s), (C, S, first, second) = self.alpha, self.q, self.factored
        x, y_scaled = sum_products((c, v[0]), (-s, v[1])), sum_products((S, v[0]), (C, v[1]))
        y, z = sum_products((first, y_scaled), (-sa, v[2])), sum_products((second, y_scaled), (ca, v[2]))
        return _rotate_about_z(array([x, y, z]), (self.gamma[0], -self.gamma[1]))

    def about_z(self, v: AnyVector3) -> AnyVector3:
        """Apply only the last rotation, by q."""
        return _rotate_about_z(v, self.q)

    def before_joint(self, u: AnyVector3) -> AnyVector3:
        """Express a constant direction of the parent in the axes before the rotation by q."""
        (ca, sa), (x, y, z) = self.alpha, _rotate_about_z(u, self.gamma)
        return exact_array([x, sum_products((ca, y), (sa, z)), sum_products((ca, z), (-sa, y))])


def _make_axis_transform(axis: JointAxis, motion: Motion, *, follows_joint: bool) -> AxisTransform:
    gamma, alpha, (c, s) = (exact_array(cos_sin(angle)) for angle in (axis.gamma, axis.alpha, axis.offset))
    if axis.revolute:
        c, s = (motion.cos[axis.joint], motion.sin[axis.joint]) if follows_joint else (1, 0)
    return AxisTransform(tuple(gamma), tuple(alpha), (c, s))


def _compute_rotation(
    arm: EquivalentBodies, i: int, transform: AxisTransform, parent: BodyRotation, motion: Motion
) -> BodyRotation:
    """Compute the rotation of the body behind an axis from the rotation of its parent."""
    axis = arm.axes[i]
    qd, qdd = (motion.qd[axis.joint], motion.vd[axis.joint]) if axis.revolute else (0, 0)
    if isinstance(parent, PlanarRotation):
        if axis.rotation is RotationKind.NONE:
            return parent
        if axis.u is not None:
            u = exact_array(list(axis.u))
            w, wd = parent.w + sum_products((u[2], qd)), parent.wd + sum_products((u[2], qdd))  # (80), (81)
            return PlanarRotation(u, w, wd)
        u = transform.before_joint(parent.u)
        w, wd = (transform.about_z(scale(u, array([size]))) for size in (parent.w, parent.wd))
    else:
        w, wd = transform.down(parent.w), transform.down(parent.wd)
    if not axis.revolute:
        return SpatialRotation(w, wd, arm.needed_columns(i))
    if _is_flat(arm, i):
        return SpatialRotation(w + scale(Z, array([2 * qd])), wd + scale(Z, array([qdd])), arm.needed_columns(i))
    wd = wd + array([sum_products((w[1], qd)), -sum_products((w[0], qd)), qdd])  # (58)
    return SpatialRotation(w + scale(Z, array([qd])), wd, arm.needed_columns(i))  # (57)


def _compute_offset_acceleration(axis: JointAxis, rotation: BodyRotation, motion: Motion) -> AnyVector3:
    """The acceleration of the origin minus that of the foot: (69), and Omega_i d_i for revolute joints as well."""
    centripetal = scale(rotation.times(Z), array([_compute_offset(axis, motion)]))
    if axis.revolute:
        return centripetal
    qd, qdd = motion.qd[axis.joint], motion.vd[axis.joint]
    w = scale(rotation.u, array([rotation.w])) if isinstance(rotation, PlanarRotation) else rotation.w
    return centripetal + array([sum_products((w[1], 2 * qd)), -sum_products((w[0], 2 * qd)), qdd])  # (61), (77), (82)


def _compute_offset(axis: JointAxis, motion: Motion) -> Any:
    """The distance along z from the foot to the origin."""
    d = exact_array([axis.d])[0]
    return d if axis.revolute else d + motion.q[axis.joint]


def _is_rotationally_symmetric(arm: EquivalentBodies, i: int) -> bool:
    """Whether body i is a tip with rotational symmetry about z, so that its frame need not rotate with the joint."""
    P = arm.P[i]
    asymmetric = (P[0, 0] - P[1, 1], P[0, 1], P[0, 2], P[1, 2], P[0, 3], P[1, 3])
    return arm.is_tip(i) and not any(asymmetric)


def _is_flat(arm: EquivalentBodies, i: int) -> bool:
    """Whether body i is a tip with Sxx, Syy and Sxy only.

    Such a body needs only row z of Omega. Let v_y be the part of wd_y that comes from the parent. Then w_x w_z - wd_y =
    w_x w_z - (v_y - w_x qd) = w_x (w_z + qd) - v_y, so (58) needs no velocity product.
    """
    return arm.is_tip(i) and not arm.axes[i].d and not arm.P[i][:3, 2:].any()


def _rotate_about_z(v: AnyVector3, angle: tuple[Any, Any]) -> AnyVector3:
    """The coordinates of a vector in axes that are rotated about z; ``angle`` contains cosine and sine."""
    c, s = angle
    return array([sum_products((c, v[0]), (s, v[1])), sum_products((c, v[1]), (-s, v[0])), v[2]])


# The rotation of a body about one constant direction or about any direction: products with Omega, and moments.
#
# Reference     [lin1995] sec. III, (59), (65), (85)-(90)
# Notation      code     paper      meaning                                             frame
#               w, wd    omega_i    angular velocity and acceleration                   i
#               O        Omega_i    force per unit first moment (59)                    i
#               S, k     D_i, k_i   second and first moments of ``equivalent_bodies``   i
#
# Both classes have the same methods. In planar rotation, moments are arrays of one entry: the moment about u.


@dataclass(frozen=True, eq=False)
class PlanarRotation:
    """Rotation about the constant direction u (bodies r <= i < s). For bodies that do not rotate (i < r), u is zero.

    Reference: (77)-(79).
    """

    u: AnyVector3
    w: Any
    wd: Any

    @property
    def zero_moment(self) -> AnyPerMoment:
        return zeros(1)

    @cached_property
    def ww(self) -> Any:
        return self.w * self.w

    def times(self, p: AnyVector3) -> AnyVector3:
        """Omega p, with constant vectors as in (86) and (87)."""
        tangential = exact_array(cross(self.u, p))
        radial = exact_array(scale(self.u, array([inner(self.u, p)])) - p)
        return array([sum_products((x, self.wd), (y, self.ww)) for x, y in zip(tangential, radial, strict=True)])

    def moment(self, S: AnyMatrix3, k: AnyVector3, a: AnyVector3) -> AnyPerMoment:
        """The moment of a body's own inertia (85)."""
        about_u = sum(S.diagonal()) - inner(self.u, dot(S, self.u))
        return array([sum_products((about_u, self.wd), *zip(exact_array(cross(self.u, k)), a, strict=True))])

    def force_moment(self, p: AnyVector3, f: AnyVector3) -> AnyPerMoment:
        """The moment of a force f at the point p."""
        return array([inner(cross(self.u, p), f)])

    def project(self, n: AnyVector3) -> AnyPerMoment:
        """The only component of a moment vector that this body needs: the one along u."""
        return array([inner(self.u, n)])

    def along_z(self, n: AnyPerMoment) -> Any:
        """The moment about the joint axis."""
        return sum_products((self.u[2], n[0]))


@dataclass(frozen=True, eq=False)
class SpatialRotation:
    """Rotation about any direction (bodies i >= s). ``columns`` tells which columns of Omega are needed."""

    w: AnyVector3
    wd: AnyVector3
    columns: tuple[bool, ...]

    @property
    def zero_moment(self) -> AnyPerMoment:
        return zeros(3)

    @cached_property
    def squares(self) -> AnyVector3:
        return array([sum_products((x, x)) for x in self.w])

    @cached_property
    def O(self) -> AnyMatrix3:  # noqa: E743
        """Omega (59), but with the opposite sign of the diagonal."""
        (x, y, z), (a, b, c), (xx, yy, zz) = self.w, self.wd, self.squares
        xy, xz, yz = sum_products((x, y)), sum_products((x, z)), sum_products((y, z))
        return array([[yy + zz, xy - c, xz + b], [xy + c, xx + zz, yz - a], [xz - b, yz + a, xx + yy]])

    def times(self, p: AnyVector3) -> AnyVector3:
        """Omega p."""
        rows = [[(-p[j] if i == j else p[j], self.O[i, j]) for j in range(3)] for i in range(3)]
        return array([sum_products(*row) for row in rows])

    def moment(self, S: AnyMatrix3, k: AnyVector3, a: AnyVector3) -> AnyPerMoment:
        """k x a plus the vector of the skew matrix Omega S - (Omega S)^T. This vector is Psi psi(D) of (65)."""
        O, (xx, yy, zz), (Sxx, Syy, Szz) = self.O, self.squares, S.diagonal()  # noqa: E741
        Sxy, Sxz, Syz = S[0, 1], S[0, 2], S[1, 2]
        # One of the entries xy + wd_z and xy - wd_z is enough. If no other term needs them, neither is computed.
        if self.columns[0] or Sxz:
            about_z = (O[1, 0], exact_array([Sxx - Syy])[0]), (self.wd[2], 2 * Syy)
        elif self.columns[1] or Syz:
            about_z = (O[0, 1], exact_array([Sxx - Syy])[0]), (self.wd[2], 2 * Sxx)
        else:
            about_z = (sum_products((self.w[0], self.w[1])), exact_array([Sxx - Syy])[0]), (self.wd[2], Sxx + Syy)
        x = (O[2, 1], Syy), (O[1, 2], -Szz), (O[2, 0], Sxy), (O[1, 0], -Sxz), (zz - yy, Syz)
        y = (O[0, 2], Szz), (O[2, 0], -Sxx), (O[2, 1], -Sxy), (O[0, 1], Syz), (xx - zz, Sxz)
        z = *about_z, (O[1, 2], Sxz), (O[0, 2], -Syz), (yy - xx, Sxy)
        return array([sum_products(*x), sum_products(*y), sum_products(*z)]) + cross(k, a)

    def force_moment(self, p: AnyVector3, f: AnyVector3) -> AnyPerMoment:
        """The moment of a force f at the point p."""
        return cross(p, f)

    def project(self, n: AnyVector3) -> AnyPerMoment:
        """The components of a moment vector that this body needs: all three."""
        return n

    def along_z(self, n: AnyPerMoment) -> Any:
        """The moment about the joint axis."""
        return n[2]


BodyRotation: TypeAlias = PlanarRotation | SpatialRotation

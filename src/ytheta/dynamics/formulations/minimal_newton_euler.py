"""Recursive Newton-Euler inverse dynamics in minimal parameters, after Lin.

Identity      tau = Y(q, qd, qdd) @ theta   for every theta, without forming Y
Reference     [lin1995] sec. III, (57)-(93), Tables II and III
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code     paper      meaning                                             frame
              w, wd    omega_i    angular velocity and acceleration                   i
              O        Omega_i    force per unit first moment (59)                    i
              a        a_i        acceleration of a point of an axis, minus g (76)    i
              f, n     mu, zeta   force and moment that move body i and all behind    i
              Turn     i R i+1    Rz(gamma) Rx(alpha) Rz(q) as planar turns
              S, k     D_i, k_i   second and first moments of ``equivalent_bodies``   i
Differs from  the paper in: equivalent bodies in the place of constants of composite bodies, so that prismatic joints
              need no terms of their own in (63)-(65) and no varying D (91)-(93); moments straight from Omega and S, at
              most 13 products, in the place of Psi psi(D) (60); planar turns in the place of rotation matrices; d_i of
              revolute joints in frame i, where Omega_i z = Omega_i-1 z (30), as (69) has it for prismatic ones; trees.

Scalars may be floats, CasADi or SymPy. What is zero by structure costs nothing: links in front of joint s need only
the components of (77)-(90), and a tip that looks the same from all sides is not turned at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.equivalent_bodies import STILL, Axis, Equivalent
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, inner, scale, zeros
from ytheta.robot.frame import cos_sin
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyPerMoment, AnyVector3, Shaped

Z = exact_array([0, 0, 1])


def accepts(robot: Robot) -> str | None:
    """None, or the reason why this formulation cannot take the robot."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, which the recursion does not know; use newton_euler"
    return None


def inverse_dynamics(arm: Equivalent, motion: Motion) -> Shaped[np.ndarray, "joints"]:
    """tau of the joints. The angles of ``motion`` are q + arm.offsets."""
    return recursion(arm, motion).tau


@dataclass(frozen=True, eq=False)
class Recursion:
    """Everything on the way to tau, body by body: Table II counts it."""

    tau: Shaped[np.ndarray, "joints"]
    turns: list[Turn] = field(default_factory=list)
    spins: list[Spin] = field(default_factory=list)
    feet: list[AnyVector3] = field(default_factory=list)  # a at the two ends of the way d along an axis
    slides: list[AnyVector3] = field(default_factory=list)  # h double dot star
    origins: list[AnyVector3] = field(default_factory=list)
    own_forces: dict[int, AnyVector3] = field(default_factory=dict)  # mu bar
    own_moments: dict[int, AnyPerMoment] = field(default_factory=dict)  # zeta bar
    forces: dict[int, AnyVector3] = field(default_factory=dict)  # mu, zeta
    moments: dict[int, AnyPerMoment] = field(default_factory=dict)
    handed: dict[int, tuple[AnyVector3, AnyPerMoment]] = field(default_factory=dict)  # both, as the parent gets them


def recursion(arm: Equivalent, motion: Motion) -> Recursion:
    """Outward for the motion of all bodies, inward for forces and moments."""
    r = Recursion(zeros(len(arm.axes)))
    for i, axis in enumerate(arm.axes):
        turn = _turn(axis, motion, turned=not _round(arm, i))
        above = Planar(zeros(3), 0, 0) if axis.parent is None else r.spins[axis.parent]
        r.turns.append(turn)
        r.spins.append(_spin(arm, i, turn, above, motion))
        if axis.parent is None:
            r.feet.append(turn.about_z(exact_array(axis.rest.tolist())))  # (76)
        else:
            r.feet.append(turn.down(r.origins[axis.parent] + above.times(exact_array(axis.foot.tolist()))))  # (70)
        r.slides.append(_slide(axis, r.spins[i], motion))
        r.origins.append(r.feet[i] + r.slides[i])  # (71)
    force, moment = [zeros(3) for _ in arm.axes], [spin.none for spin in r.spins]
    for i in reversed(range(len(arm.axes))):
        axis, spin, P = arm.axes[i], r.spins[i], exact_array(arm.P[i].tolist())
        r.own_forces[i] = scale(r.origins[i], P[3, 3:]) + spin.times(P[:3, 3])  # (64); (63) is its z
        r.own_moments[i] = spin.moment(P[:3, :3], P[:3, 3], r.origins[i])  # (65)
        f = force[i] + r.own_forces[i]  # (66)
        n = moment[i] + r.own_moments[i] + spin.lever(array([0, 0, _way(axis, motion)]), f)  # (67), (74), (89)
        f = f + scale(r.feet[i], exact_array([arm.near[i]]))
        r.forces[i], r.moments[i] = f, n
        r.tau[axis.joint] = spin.along_z(n) if axis.revolute else f[2]  # (68)
        if axis.parent is not None:
            above = r.spins[axis.parent]
            f = r.turns[i].up(f)
            n = n if isinstance(spin, Planar) else above.received(r.turns[i].up(n))  # (88)
            n = n + above.lever(exact_array(axis.foot.tolist()), f)  # (75), (90)
            r.handed[i] = f, n
            force[axis.parent], moment[axis.parent] = force[axis.parent] + f, moment[axis.parent] + n
    return r


@dataclass(frozen=True, eq=False)
class Turn:
    """Rz(gamma) Rx(alpha) Rz(q): ``down`` takes vectors of the parent to the body's axes, ``up`` takes them back.

    Rx makes y' = ca y + sa z, which is ca times y + (sa / ca) z. The factor is drawn into the sine and the cosine that
    y' meets next, once for all vectors. Where sa is larger than ca it is drawn instead.
    """

    gamma: tuple[Any, Any]
    alpha: tuple[Any, Any]
    q: tuple[Any, Any]

    @cached_property
    def drawn(self) -> tuple[Any, Any, Any, Any]:
        """y' = factor (first y + second z), as (factor cos q, factor sin q, first, second)."""
        (ca, sa), (c, s) = self.alpha, self.q
        if type(ca) is int or type(sa) is int:  # parallel or at right angles: nothing to draw
            return c, s, ca, sa
        if abs(ca) >= abs(sa):
            return _sum((ca, c)), _sum((ca, s)), 1, sa / ca
        return _sum((sa, c)), _sum((sa, s)), ca / sa, 1

    def down(self, v: AnyVector3) -> AnyVector3:
        (ca, sa), (c, s), (C, S, first, second) = self.alpha, self.q, self.drawn
        x, y, z = _planar(v, self.gamma)
        across = _sum((first, y), (second, z))
        return array([_sum((c, x), (S, across)), _sum((C, across), (-s, x)), _sum((ca, z), (-sa, y))])

    def up(self, v: AnyVector3) -> AnyVector3:
        (ca, sa), (c, s), (C, S, first, second) = self.alpha, self.q, self.drawn
        x, across = _sum((c, v[0]), (-s, v[1])), _sum((S, v[0]), (C, v[1]))
        y, z = _sum((first, across), (-sa, v[2])), _sum((second, across), (ca, v[2]))
        return _planar(array([x, y, z]), (self.gamma[0], -self.gamma[1]))

    def about_z(self, v: AnyVector3) -> AnyVector3:
        """Only the last turn."""
        return _planar(v, self.q)

    def ahead(self, u: AnyVector3) -> AnyVector3:
        """A constant direction of the parent before the last turn."""
        (ca, sa), (x, y, z) = self.alpha, _planar(u, self.gamma)
        return _exact([x, _sum((ca, y), (sa, z)), _sum((ca, z), (-sa, y))])


@dataclass(frozen=True, eq=False)
class Planar:
    """A body that turns about the constant direction u only, r <= i < s: one moment. For i < r u is zero, (77)-(79)."""

    u: AnyVector3
    w: Any
    wd: Any

    @property
    def none(self) -> AnyPerMoment:
        return zeros(1)

    @cached_property
    def ww(self) -> Any:
        return self.w * self.w

    def times(self, p: AnyVector3) -> AnyVector3:
        """Omega p, with constants as in (86) and (87)."""
        around, inward = _exact(cross(self.u, p)), _exact(scale(self.u, array([inner(self.u, p)])) - p)
        return array([_sum((x, self.wd), (y, self.ww)) for x, y in zip(around, inward, strict=True)])

    def moment(self, S: AnyMatrix3, k: AnyVector3, a: AnyVector3) -> AnyPerMoment:
        about_u = sum(S.diagonal()) - inner(self.u, dot(S, self.u))
        return array([_sum((about_u, self.wd), *zip(_exact(cross(self.u, k)), a, strict=True))])  # (85)

    def lever(self, p: AnyVector3, f: AnyVector3) -> AnyPerMoment:
        return array([inner(cross(self.u, p), f)])

    def received(self, n: AnyVector3) -> AnyPerMoment:
        return array([inner(self.u, n)])

    def along_z(self, n: AnyPerMoment) -> Any:
        return _sum((self.u[2], n[0]))


@dataclass(frozen=True, eq=False)
class Free:
    """A body that turns about any direction, i >= s. ``columns``: those of Omega that it has other uses for."""

    w: AnyVector3
    wd: AnyVector3
    columns: tuple[bool, ...]

    @property
    def none(self) -> AnyPerMoment:
        return zeros(3)

    @cached_property
    def squares(self) -> AnyVector3:
        return array([_sum((x, x)) for x in self.w])

    @cached_property
    def O(self) -> AnyMatrix3:  # noqa: E743
        """Omega (59), its diagonal with the opposite sign."""
        (x, y, z), (a, b, c), (xx, yy, zz) = self.w, self.wd, self.squares
        xy, xz, yz = _sum((x, y)), _sum((x, z)), _sum((y, z))
        return array([[yy + zz, xy - c, xz + b], [xy + c, xx + zz, yz - a], [xz - b, yz + a, xx + yy]])

    def times(self, p: AnyVector3) -> AnyVector3:
        """Omega p."""
        return array([_sum(*((-p[j] if i == j else p[j], self.O[i, j]) for j in range(3))) for i in range(3)])

    def moment(self, S: AnyMatrix3, k: AnyVector3, a: AnyVector3) -> AnyPerMoment:
        """The vector of the skew matrix Omega S - (Omega S)^T, which is Psi psi(D) of (65), and k x a."""
        O, (xx, yy, zz), (Sxx, Syy, Szz) = self.O, self.squares, S.diagonal()  # noqa: E741
        Sxy, Sxz, Syz = S[0, 1], S[0, 2], S[1, 2]
        # Of the entries xy + wd_z and xy - wd_z one is enough, and none where they have no other use.
        if self.columns[0] or Sxz:
            about_z = (O[1, 0], _exact([Sxx - Syy])[0]), (self.wd[2], 2 * Syy)
        elif self.columns[1] or Syz:
            about_z = (O[0, 1], _exact([Sxx - Syy])[0]), (self.wd[2], 2 * Sxx)
        else:
            about_z = (_sum((self.w[0], self.w[1])), _exact([Sxx - Syy])[0]), (self.wd[2], Sxx + Syy)
        x = (O[2, 1], Syy), (O[1, 2], -Szz), (O[2, 0], Sxy), (O[1, 0], -Sxz), (zz - yy, Syz)
        y = (O[0, 2], Szz), (O[2, 0], -Sxx), (O[2, 1], -Sxy), (O[0, 1], Syz), (xx - zz, Sxz)
        z = *about_z, (O[1, 2], Sxz), (O[0, 2], -Syz), (yy - xx, Sxy)
        return array([_sum(*x), _sum(*y), _sum(*z)]) + cross(k, a)

    def lever(self, p: AnyVector3, f: AnyVector3) -> AnyPerMoment:
        return cross(p, f)

    def received(self, n: AnyVector3) -> AnyPerMoment:
        return n

    def along_z(self, n: AnyPerMoment) -> Any:
        return n[2]


Spin: TypeAlias = Planar | Free


def _spin(arm: Equivalent, i: int, turn: Turn, above: Spin, motion: Motion) -> Spin:
    """How the body behind an axis turns."""
    axis = arm.axes[i]
    qd, qdd = (motion.qd[axis.joint], motion.vd[axis.joint]) if axis.revolute else (0, 0)
    if isinstance(above, Planar):
        if axis.spin == STILL:
            return above
        if axis.u is not None:
            u = _exact(axis.u)
            return Planar(u, above.w + _sum((u[2], qd)), above.wd + _sum((u[2], qdd)))  # (80), (81)
        u = turn.ahead(above.u)
        w, wd = turn.about_z(scale(u, array([above.w]))), turn.about_z(scale(u, array([above.wd])))
    else:
        w, wd = turn.down(above.w), turn.down(above.wd)
    if not axis.revolute:
        return Free(w, wd, arm.columns(i))
    if _flat(arm, i):
        return Free(w + scale(Z, array([2 * qd])), wd + scale(Z, array([qdd])), arm.columns(i))
    wd = wd + array([_sum((w[1], qd)), -_sum((w[0], qd)), qdd])  # (58)
    return Free(w + scale(Z, array([qd])), wd, arm.columns(i))  # (57)


def _slide(axis: Axis, spin: Spin, motion: Motion) -> AnyVector3:
    """From the foot of an axis to the origin: (69), and Omega_i d_i for revolute joints as well."""
    way = scale(spin.times(Z), array([_way(axis, motion)]))
    if axis.revolute:
        return way
    qd, qdd = motion.qd[axis.joint], motion.vd[axis.joint]
    w = scale(spin.u, array([spin.w])) if isinstance(spin, Planar) else spin.w
    return way + array([_sum((w[1], 2 * qd)), -_sum((w[0], 2 * qd)), qdd])  # (61), (77), (82)


def _way(axis: Axis, motion: Motion) -> Any:
    d = exact_array([axis.d])[0]
    return d if axis.revolute else d + motion.q[axis.joint]


def _turn(axis: Axis, motion: Motion, *, turned: bool) -> Turn:
    (cg, sg), (ca, sa), (c, s) = (_exact(cos_sin(angle)) for angle in (axis.gamma, axis.alpha, axis.offset))
    if axis.revolute:
        c, s = (motion.cos[axis.joint], motion.sin[axis.joint]) if turned else (1, 0)
    return Turn((cg, sg), (ca, sa), (c, s))


def _round(arm: Equivalent, i: int) -> bool:
    """Whether a tip looks the same from all sides: then its frame need not turn with it."""
    P = arm.P[i]
    uneven = (P[0, 0] - P[1, 1], P[0, 1], P[0, 2], P[1, 2], P[0, 3], P[1, 3])
    return arm.tip(i) and not any(uneven)


def _flat(arm: Equivalent, i: int) -> bool:
    """Whether a tip has only Sxx, Syy and Sxy. Of Omega it needs row z, where with v_y = wd_y before the joint's part

    w_x w_z - wd_y = w_x w_z - (v_y - w_x qd) = w_x (w_z + qd) - v_y: no velocity product in (58).
    """
    return arm.tip(i) and not arm.axes[i].d and not arm.P[i][:3, 2:].any()


def _planar(v: AnyVector3, angle: tuple[Any, Any]) -> AnyVector3:
    """Coordinates in axes that are turned about z."""
    c, s = angle
    return array([_sum((c, v[0]), (s, v[1])), _sum((c, v[1]), (-s, v[0])), v[2]])


def _sum(*products: tuple[Any, Any]) -> Any:
    """Sum of products, structural zeros and ones left out."""
    return inner(array([x for x, _ in products]), array([y for _, y in products]))


def _exact(values: Any) -> np.ndarray:
    return exact_array(list(values))

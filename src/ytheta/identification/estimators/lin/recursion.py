"""The equation of one joint in minimal linear combinations, with those of the joints behind it known; many samples.

Identity      tau_i = v_i · w_i + phi_i(w_{i+1}, …, w_n)
Reference     [lin1995] (57)-(70), (94)-(99), (110)
Accepts       serial arms of revolute and prismatic joints with any axes
Notation      code      paper         meaning                                                    frame   shape
              w, wd     omega_i       angular velocity and acceleration                          i       3 x samples
              a         a_i - g       acceleration of the origin                                 i       3 x samples
              foot, h   a*_i, h_i     the same without the slide, acceleration of the slide      i       3 x samples
              mu, zeta  mu, zeta      force and moment of the bodies behind, handed on           i       3 x samples
              R, b      R, b_i        joint frame in the one before at q = 0; its place without the way along a slide
              d         d_i           way along a slide                                                  samples
              fixed     D_i, D~_i     constant part of D; ``slides`` hold its parts d_k W_k      i       3 x 3
              G         G_m           what the next drive_directions body behind takes off U_i (40)       i       3 x 3
Differs from  the paper in: joint frames with z along the axis and x anywhere, so that b is a vector; gravity is in a
              from the start (76); joints in front of s need no formulas of their own, (77)-(90) and (100)-(106): the
              constants that they have no combination for are zero, and a slide between r and s has the k that is
              perpendicular to u_r and has kappa_1 and kappa_2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.shapes import Float, Matrix3, PerConstant, PerSample, Vector3BySample

TURNING = ("kx", "ky", "U11-U22", "U33", "U12", "U13", "U23")  # (96)
SLIDING = ("m", "kx", "ky", "kz")  # (95)


@dataclass(frozen=True, eq=False)
class Stage:
    """One joint: the frame of its axis at q = 0, seen from the one before."""

    revolute: bool
    R: Matrix3
    p: Float[np.ndarray, "3"]

    @property
    def b(self) -> Float[np.ndarray, "3"]:
        return self.p if self.revolute else self.p - self.R[:, 2] * (self.R[:, 2] @ self.p)

    def up(self, moved: Moved, v: Vector3BySample) -> Vector3BySample:
        """Vectors in the frame before."""
        return np.asarray(self.R @ (_turn(v, moved.cos, moved.sin) if self.revolute else v))

    def down(self, cos: PerSample, sin: PerSample, v: Vector3BySample) -> Vector3BySample:
        """Vectors of the frame before in its own."""
        own = self.R.T @ v
        return _turn(own, cos, -sin) if self.revolute else own


@dataclass(frozen=True, eq=False)
class Moved:
    """How one body moves; step 1 of the procedure."""

    cos: PerSample
    sin: PerSample
    d: PerSample
    w: Vector3BySample
    wd: Vector3BySample
    foot: Vector3BySample
    h: Vector3BySample
    a: Vector3BySample

    def times(self, v: np.ndarray) -> Vector3BySample:
        """Omega v (59)."""
        v = np.broadcast_to(v.reshape(3, -1), self.w.shape)
        return _cross(self.wd, v) + _cross(self.w, _cross(self.w, v))


def kinematics(
    stages: Sequence[Stage],
    gravity: Float[np.ndarray, "3"],
    q: Float[np.ndarray, "joints samples"],
    qd: Float[np.ndarray, "joints samples"],
    qdd: Float[np.ndarray, "joints samples"],
) -> list[Moved]:
    """(57)-(62) for all joints."""
    nothing = np.zeros((3, q.shape[1]))
    a = np.repeat(-gravity[:, None], q.shape[1], axis=1)  # (76)
    before = Moved(nothing[0], nothing[0], nothing[0], nothing, nothing, a, nothing, a)
    found: list[Moved] = []
    for stage, x, rate, acceleration in zip(stages, q, qd, qdd, strict=True):
        cos, sin = np.cos(x), np.sin(x)
        w, wd = stage.down(cos, sin, before.w), stage.down(cos, sin, before.wd)
        foot = stage.down(cos, sin, before.a + before.times(stage.b))  # (70)
        across = np.stack([w[1], -w[0], nothing[0]])  # w x z
        along = np.stack([nothing[0], nothing[0], acceleration])
        if stage.revolute:
            w = w + np.stack([nothing[0], nothing[0], rate])  # (57)
            before = Moved(cos, sin, nothing[0], w, wd + along + across * rate, foot, nothing, foot)  # (58), (62)
        else:
            d = x + stage.R[:, 2] @ stage.p
            before = Moved(cos, sin, d, w, wd, foot, along + 2.0 * across * rate, foot)  # (61)
            a = foot + before.times(np.array([0.0, 0.0, 1.0])) * d + before.h  # (62)
            before = Moved(cos, sin, d, w, wd, foot, before.h, a)
        found.append(before)
    return found


@dataclass(frozen=True, eq=False)
class Behind:
    """What the bodies behind a joint do to it, in its own axes: force and moment, and what they add to D."""

    mu: Vector3BySample
    zeta: Vector3BySample
    G: Matrix3
    slides: tuple[tuple[PerSample, Matrix3], ...] = ()

    @classmethod
    def nothing(cls, samples: int) -> Behind:
        return cls(np.zeros((3, samples)), np.zeros((3, samples)), np.zeros((3, 3)))

    def fixed(self) -> Matrix3:
        """D~ (99) without its slides."""
        return self.G - np.diag([self.G[1, 1], self.G[1, 1], 0.0])

    def moment(self, moved: Moved, D: Matrix3) -> Vector3BySample:
        """Psi psi(D): D wd + w x (D w), (60)."""

        def times(v: Vector3BySample) -> Vector3BySample:
            return np.asarray(D @ v + sum(d * (W @ v) for d, W in self.slides))

        return times(moved.wd) + _cross(moved.w, times(moved.w))

    def phi(self, stage: Stage, moved: Moved) -> PerSample:
        """(110)."""
        if not stage.revolute:
            return self.mu[2]
        return np.asarray(self.moment(moved, self.fixed())[2] + self.zeta[2])

    def handed_on(self, stage: Stage, moved: Moved, values: PerConstant) -> Behind:
        """The same for the joint before, with the constants of this one: step 3.1."""
        slides: tuple[tuple[PerSample, Matrix3], ...] = ()
        if stage.revolute:
            kx, ky, U11_U22, U33, U12, U13, U23 = values
            k = np.array([kx, ky, 0.0])
            D = self.fixed() + np.array([[U11_U22, U12, U13], [U12, 0.0, U23], [U13, U23, U33]])  # (114)
            mu = self.mu + moved.times(k)  # (64), (66)
            zeta = self.zeta + _cross(np.broadcast_to(k[:, None], mu.shape), moved.a) + self.moment(moved, D)  # (65)
            G = np.diag([self.G[1, 1], self.G[1, 1], -U33])  # (43)
        else:
            m, kx, ky, kz = values
            z = np.stack([np.zeros_like(moved.d), np.zeros_like(moved.d), moved.d])
            k = np.broadcast_to(np.array([kx, ky, kz])[:, None], moved.h.shape)
            mu = self.mu + m * (moved.a - moved.foot)  # (64), (66)
            zeta = self.zeta + m * _cross(z, moved.foot) + _cross(k, moved.h)  # (65)
            W = np.array([[2.0 * kz, 0.0, -kx], [0.0, 2.0 * kz, -ky], [-kx, -ky, 0.0]])  # (92)
            G, slides = self.G, (*self.slides, (moved.d, W))
        mu = stage.up(moved, mu)
        lever = stage.b[:, None] + (0.0 if stage.revolute else np.outer(stage.R[:, 2], moved.d))
        return Behind(
            mu,
            stage.up(moved, zeta) + _cross(np.broadcast_to(lever, mu.shape), mu),  # (67)
            stage.R @ G @ stage.R.T,
            tuple((d, stage.R @ W @ stage.R.T) for d, W in slides),
        )


def columns(stage: Stage, moved: Moved) -> Float[np.ndarray, "constants samples"]:
    """v_i for the constants of ``TURNING`` or ``SLIDING``."""
    (wx, wy, wz), (ax, ay, az), (x, y, _) = moved.w, moved.wd, moved.a
    if stage.revolute:
        return np.stack([y, -x, -wx * wy, az, wx * wx - wy * wy, ax - wy * wz, ay + wx * wz])  # (98)
    return np.stack([moved.a[2], wx * wz - ay, wy * wz + ax, -wx * wx - wy * wy])  # (97)


def kappa_moment(u: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 2"]:
    """The first moment of a slide per kappa_1 and kappa_2 (86), (87): that which is perpendicular to u = u_r."""
    z = np.array([0.0, 0.0, 1.0])
    return np.column_stack([np.cross(z, u), z - u[2] * u]) / (1.0 - u[2] * u[2])


def _turn(v: Vector3BySample, cos: PerSample, sin: PerSample) -> Vector3BySample:
    """Turned about z."""
    return np.stack([cos * v[0] - sin * v[1], sin * v[0] + cos * v[1], v[2]])


def _cross(a: Vector3BySample, b: Vector3BySample) -> Vector3BySample:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

"""The rotation of a body about one constant direction or about any direction: products with Omega, and moments.

Reference     [lin1995] sec. III, (59), (65), (85)-(90)
Notation      code     paper      meaning                                             frame
              w, wd    omega_i    angular velocity and acceleration                   i
              O        Omega_i    force per unit first moment (59)                    i
              S, k     D_i, k_i   second and first moments of ``equivalent_bodies``   i

Both classes have the same methods. In planar rotation, moments are arrays of one entry: the moment about u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import array, cross, dot, inner, scale, sum_products, zeros
from ytheta.shapes import AnyMatrix3, AnyPerMoment, AnyVector3


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

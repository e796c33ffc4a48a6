"""Short formulas of Lu and Meng for a link whose principal axes are the frame axes, with its centre on one of them.

Identity      tau = Y theta with theta = (m, m p, m p², Ixx, Iyy, Izz) (51): six columns instead of sixteen. p is the
              coordinate of the centre on the x or the z axis. The inertia is about the centre, without products (50)
Reference     [lu1993] sec. III-B, (50)-(59)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code       paper            meaning                                             shape   frame
              r          (0)r_1, (0)r_3   axis of the link on which the centre lies           3       0
              J.v, J.w   J_v, J_omega     a column of the link Jacobian (21)                  3       0
              v, w       J_v qd, J_w qd   velocity of the link origin, angular velocity       3       0
              d          d                angular velocity (28)                               3       i
              u          R^T J_omega      a column of the Jacobian of d                       3       i
              D_v, D_w   D_v, D_omega     ∂(J_v qd)/∂q_j, ∂(J_w qd)/∂q_j (37)                 3       0
              r_j        ∂r/∂q_j          J_w × r                                             3       0
Differs from  the paper in: the sign of (57), which in print contradicts (46) and the paper's own example; the second
              term of (56) is J_v qd × [...]; the first factor of (59) is J_w qd qdᵀ ∂J_wᵀ/∂q_j; the term of (59) with
              |J_w qd|² is left out, because it is zero: ∂r/∂q_j is perpendicular to r; W_2 and Y_2 have n rows, not
              three; two velocities, for which every square is a product. Derivatives are in closed form
              (``jacobians``); dW/dt, which the paper leaves to the reader, is the product rule on (52)-(54).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ytheta.dynamics.formulations.lagrange.assembly import (
    Kinematics,
    LinkRows,
    Row,
    compute_kinematics,
    compute_torque_columns,
    find_body,
)
from ytheta.dynamics.formulations.lagrange.jacobians import (
    BodyVelocities,
    Column,
    compute_body_accelerations,
    compute_column_rate,
)
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, inner, sum_products
from ytheta.shapes import AnyVector3, Shaped

COLUMNS_PER_BODY = 6
AXES = {"x": 0, "z": 2}


def principal_axes_columns(
    mechanism: Mechanism, motion: Motion, link: str, *, center: Literal["x", "z"]
) -> Shaped[np.ndarray, "joints 6"]:
    """Y of one link, with centre of mass on the x or z axis and principal axes along the frame axes (50)-(59).

    The parameters are (m, m p, m p², Ixx, Iyy, Izz) of (51). p is the coordinate of the centre on that axis, and the
    inertia is about the centre.
    """
    kin = compute_kinematics(mechanism, motion)
    return compute_torque_columns(kin, make_rows(center), [find_body(mechanism, link)])


# --- the numbered formulas, each for one joint ----------------------------------------------------------------------


def compute_W1(J: Column, r: AnyVector3, v: AnyVector3, w: AnyVector3) -> tuple[Any, Any, Any]:
    """A row of W_1 (52)."""
    return inner(J.v, v), inner(cross(J.v, w) + cross(v, J.w), r), inner(J.w, w) - compute_b(J, r, w)


def compute_b(J: Column, r: AnyVector3, w: AnyVector3) -> Any:
    """b_j (53)."""
    return sum_products((inner(r, J.w), inner(w, r)))


def multiply_B(u: AnyVector3, d: AnyVector3) -> AnyVector3:
    """uᵀ B(d) with B(d) = diag(d) (54): a row of W_2 (29), and of Y_2 (42) up to its sign."""
    return array([sum_products(pair) for pair in zip(u, d, strict=True)])


def compute_y121(J: Column, r: AnyVector3, v: AnyVector3, w: AnyVector3, D_v: AnyVector3, D_w: AnyVector3) -> Any:
    """y_121 (56)."""
    return -inner(cross(D_v, w) + cross(v, D_w), r) - inner(cross(J.w, r), cross(v, w))


def compute_y321(J: Column, r: AnyVector3, g: AnyVector3) -> Any:
    """y_321 (57), with the sign of (46)."""
    return inner(cross(J.w, g), r)


def compute_e(J: Column, r: AnyVector3, w: AnyVector3, w_first: AnyVector3, D_w: AnyVector3) -> Any:
    """e_1j (59), an entry of y_141 (58). ``w_first`` is the angular velocity whose derivative is D_w."""
    return sum_products((inner(r, w), inner(D_w, r) + inner(cross(J.w, r), w_first)))


# --- rows of six columns ----------------------------------------------------------------------------------------------


def make_rows(center: Literal["x", "z"]) -> LinkRows:
    """The rows of a link whose centre lies on this axis of its frame."""
    axis = AXES[center]

    def momentum(kin: Kinematics) -> Row:
        """W: (52), (53), and (29) with (54)."""

        def row(i: int, J: Column) -> np.ndarray:
            R = kin.poses[i].R
            W1 = compute_W1(J, R[:, axis], kin.v.v[i], kin.v.w[i])
            return array([*W1, *multiply_B(dot(R.T, J.w), kin.v.d[i])])

        return row

    def rate(kin: Kinematics, carrier: BodyVelocities, bodies: BodyVelocities, rate: np.ndarray) -> Row:
        """dW/dt by the product rule on (52)-(54)."""
        accelerations = compute_body_accelerations(kin.mechanism, kin.poses, carrier, bodies, rate)

        def row(i: int, J: Column) -> np.ndarray:
            R, v, w, d, carrier_w = kin.poses[i].R, bodies.v[i], bodies.w[i], bodies.d[i], carrier.w[i]
            r = R[:, axis]
            a, alpha = accelerations[i]
            v_rate, w_rate = compute_column_rate(carrier, i, J)
            u, r_rate = dot(R.T, J.w), cross(carrier_w, r)
            moment = cross(J.v, w) + cross(v, J.w)
            moment_rate = cross(v_rate, w) + cross(J.v, alpha) + cross(a, J.w) + cross(v, w_rate)
            u_rate = dot(R.T, w_rate - cross(carrier_w, J.w))
            d_rate = dot(R.T, alpha if carrier is bodies else alpha - cross(carrier_w, w))
            b_rate = sum_products((u_rate[axis], d[axis]), (u[axis], d_rate[axis]))  # b = u d on the axis of r
            return array([
                inner(J.v, a) + inner(v_rate, v),
                inner(moment_rate, r) + inner(moment, r_rate),
                inner(J.w, alpha) + inner(w_rate, w) - b_rate,
                *(multiply_B(u, d_rate) + multiply_B(u_rate, d)),
            ])  # fmt: skip

        return row

    def kinetic(kin: Kinematics, first: BodyVelocities, second: BodyVelocities) -> Row:
        """-∂T/∂q: (55)-(59) without gravity, and (42) with (54)."""

        def row(i: int, J: Column) -> np.ndarray:
            R, v, w = kin.poses[i].R, first.v[i], second.w[i]
            r = R[:, axis]
            D_v, D_d = compute_column_rate(first, i, J)  # (37); D_d is ∂d/∂q_j in base axes
            D_w, D_w_second = (cross(J.w, x.w[i] - x.w[J.at]) for x in (first, second))  # (37)
            return array([
                -inner(D_v, second.v[i]),  # Y_11 (34)
                compute_y121(J, r, v, w, D_v, D_w_second),
                compute_e(J, r, w, first.w[i], D_w) - inner(D_w, w),  # y_141 + Y_13 (36)
                *-multiply_B(dot(R.T, D_d), second.d[i]),
            ])  # fmt: skip

        return row

    def gravity(kin: Kinematics) -> Row:
        """∂U/∂q: (45), (57)."""
        g = kin.mechanism.gravity

        def row(i: int, J: Column) -> np.ndarray:
            return array([-inner(J.v, g), compute_y321(J, kin.poses[i].R[:, axis], g), 0, 0, 0, 0])

        return row

    return LinkRows(COLUMNS_PER_BODY, momentum, rate, kinetic, gravity)

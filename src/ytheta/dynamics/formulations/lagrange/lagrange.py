"""Closed-form regressor of Lu and Meng, from link Jacobians by Lagrange's equation.

Identity      tau = Y theta with Y = d/dt W(q, qd) + Yhat(q, qd); W theta = M qd is the generalized momentum and
              Yhat theta = -∂(T - U)/∂q. With two velocities, W(q, v) theta = M v, Yhat theta = -C(q, qd)ᵀ v + g, and
              tau = M vd + C(q, qd) v + g with C the matrix of Christoffel symbols
Reference     [lu1993] sec. III, (21)-(49), appendix (97)-(129); (50)-(59) are in ``principal_axes``
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code       paper            meaning                                             shape   frame
              R          (0 i)R           axes of link i                                      3 x 3   0
              J.v, J.w   J_v, J_omega     a column of the link Jacobian (21)                  3       0
              v, w       J_v qd, J_w qd   velocity of the link origin, angular velocity       3       0
              d          d                angular velocity (28)                               3       i
              inertia_columns  B(d)       B(d) theta_3 = I d (107), (108)                     3 x 6   i
              D_v, D_w   D_v, D_omega     ∂(J_v qd)/∂q_j, ∂(J_w qd)/∂q_j (37)                 3       0
Columns       Eleven are computed per link: mass, three first moments, J_wᵀ J_w qd of (128), and the six of B. The ten
              parameters need all but the fifth. The paper's sixteen (``sixteen``) use several columns twice,
              with other signs.
Differs from  the paper in: inertia about the frame *origin* and products as tensor entries, unless sixteen parameters
              are requested; trees instead of chains, any axis, any seat of the link frame; two velocities.
              Derivatives are in closed form (``jacobians``): D_v is the time derivative of J_v's column, since mixed
              derivatives commute; ∂R/∂q_j = z_j × R; ∂d/∂q_j is the time derivative of z_j seen from the link.
              Corrected misprints: in (25) and (28), R is the transpose of R in (24); (38) and (42) are transposed;
              in (40) the first factor is J_w qd qdᵀ ∂J_wᵀ/∂q_j; Y_13 multiplies m |p|², so in (48) it is added to the
              first three columns of Y_14, as in (55), instead of being an eleventh column for ten parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.dynamics.formulations.lagrange.assembly import (
    Columns,
    Kinematics,
    LinkRows,
    Row,
    compute_kinematics,
    compute_momentum_columns,
    compute_rate_columns,
    compute_remainder_columns,
    compute_torque_columns,
    find_body,
)
from ytheta.dynamics.formulations.lagrange.jacobians import (
    BodyVelocities,
    Column,
    compute_body_accelerations,
    compute_body_poses,
    compute_column_rate,
    compute_jacobian_columns,
)
from ytheta.dynamics.formulations.newton_euler import inertia_columns
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, SYMMETRIC_ENTRIES, find_columns
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, inner, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

COLUMNS_PER_BODY = 11


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops; use spatial_tree"
    if robot.floating or robot.sensor_coordinates:
        part = "a floating base" if robot.floating else "a sensor joint"
        return f"robot {robot.name!r} has {part}, which this formulation does not support; use newton_euler"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Columns:
    """The regressor of all link parameters, ten columns per body (47)."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_torque_columns(kin, _ELEVEN, _list_bodies(mechanism)), _TEN)


def momentum(mechanism: Mechanism, motion: Motion) -> Columns:
    """W(q, v) of (30): W theta = M v, the generalized momentum if v is qd. W does not depend on accelerations."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_momentum_columns(kin, _ELEVEN, _list_bodies(mechanism)), _TEN)


def momentum_rate(mechanism: Mechanism, motion: Motion) -> Columns:
    """The time derivative of W(q, v) along the motion: q changes at the rate qd and v at the rate vd."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_rate_columns(kin, _ELEVEN, _list_bodies(mechanism)), _TEN)


def remainder(mechanism: Mechanism, motion: Motion) -> Columns:
    """Yhat(q, qd, v) = Y - dW/dt, the remainder of (47). Yhat does not depend on accelerations."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_remainder_columns(kin, _ELEVEN, _list_bodies(mechanism)), _TEN)


def regressor_sixteen(mechanism: Mechanism, motion: Motion) -> Columns:
    """The regressor in the paper's own parameters (31), sixteen columns per body."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_torque_columns(kin, _ELEVEN, _list_bodies(mechanism)), _SIXTEEN)


def sixteen_columns(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "joints 16"]:
    """Y of one link in the paper's own parameters (31)."""
    kin = compute_kinematics(mechanism, motion)
    return _change_layout(compute_torque_columns(kin, _ELEVEN, [find_body(mechanism, link)]), _SIXTEEN)


def point_mass_columns(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "joints 10"]:
    """Y of one link that is a point mass (49): the columns of theta_5 (125)."""
    return sixteen_columns(mechanism, motion, link)[:, find_columns("point-mass")]


def link_jacobian(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "6 joints"]:
    """J of (21): velocity of the link's frame origin and angular velocity, per unit velocity of each joint."""
    J = zeros(6, mechanism.joints)
    poses = compute_body_poses(mechanism, motion)
    for joint, column in compute_jacobian_columns(mechanism, poses, find_body(mechanism, link)):
        J[:3, joint] = column.v
        J[3:, joint] = column.w
    return J


# --- rows: eleven columns of one body for one joint -----------------------------------------------------------------


def _make_momentum_row(kin: Kinematics) -> Row:
    """W: (127)-(129) and (29)."""

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w = kin.poses[i].R, kin.v.v[i], kin.v.w[i]
        moment = cross(J.v, w) + cross(v, J.w)
        return _join_eleven(
            inner(J.v, v),
            dot(moment[None], R)[0],
            inner(J.w, w),
            dot(dot(R.T, J.w)[None], inertia_columns(kin.v.d[i]))[0],
        )

    return row


def _make_rate_row(kin: Kinematics, carrier: BodyVelocities, bodies: BodyVelocities, rate: np.ndarray) -> Row:
    """dW(q, x)/dt by the product rule on (127)-(129) and (29), where x is the joint velocity of ``bodies``.

    q changes at the joint velocity of ``carrier``, and x changes at ``rate``.
    """
    accelerations = compute_body_accelerations(kin.mechanism, kin.poses, carrier, bodies, rate)

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w, d, carrier_w = kin.poses[i].R, bodies.v[i], bodies.w[i], bodies.d[i], carrier.w[i]
        a, alpha = accelerations[i]
        v_rate, w_rate = compute_column_rate(carrier, i, J)
        moment = cross(v_rate, w) + cross(J.v, alpha) + cross(a, J.w) + cross(v, w_rate)
        moment = moment + cross(cross(J.v, w) + cross(v, J.w), carrier_w)  # dR/dt = carrier_w × R
        axis_rate = dot(R.T, w_rate - cross(carrier_w, J.w))
        d_rate = dot(R.T, alpha if carrier is bodies else alpha - cross(carrier_w, w))
        return _join_eleven(
            inner(J.v, a) + inner(v_rate, v),
            dot(moment[None], R)[0],
            inner(J.w, alpha) + inner(w_rate, w),
            dot(dot(R.T, J.w)[None], inertia_columns(d_rate))[0] + dot(axis_rate[None], inertia_columns(d))[0],
        )

    return row


def _make_kinetic_row(kin: Kinematics, first: BodyVelocities, second: BodyVelocities) -> Row:
    """-∂T/∂q of (32), as a bilinear form of two velocities: (33)-(42)."""

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w = kin.poses[i].R, first.v[i], second.w[i]
        D_v, D_d = compute_column_rate(first, i, J)  # (37); D_d is ∂d/∂q_j in base axes
        D_w, D_w_second = (cross(J.w, x.w[i] - x.w[J.at]) for x in (first, second))  # (37)
        moment = cross(D_v, w) + cross(v, D_w_second) + cross(cross(v, w), J.w)  # (35), (38)
        return _join_eleven(
            -inner(D_v, second.v[i]),  # (34)
            -dot(moment[None], R)[0],
            -inner(D_w, w),  # (36)
            -dot(dot(R.T, D_d)[None], inertia_columns(second.d[i]))[0],  # (39), (42)
        )

    return row


def _make_gravity_row(kin: Kinematics) -> Row:
    """∂U/∂q: (45), (46)."""
    g = kin.mechanism.gravity

    def row(i: int, J: Column) -> np.ndarray:
        return _join_eleven(-inner(J.v, g), dot(cross(J.w, g)[None], kin.poses[i].R)[0], 0, zeros(6))

    return row


def _join_eleven(mass: Any, moment: np.ndarray, trace: Any, inertia: np.ndarray) -> Shaped[np.ndarray, "11"]:
    return array([mass, *moment, trace, *inertia])


_ELEVEN = LinkRows(COLUMNS_PER_BODY, _make_momentum_row, _make_rate_row, _make_kinetic_row, _make_gravity_row)


# --- from eleven columns to ten or sixteen --------------------------------------------------------------------------


def _change_layout(eleven: Shaped[np.ndarray, "joints eleven"], layout: Shaped[np.ndarray, "11 width"]) -> Columns:
    """Change from eleven columns per body to ten or sixteen."""
    bodies = eleven.shape[1] // COLUMNS_PER_BODY
    width = layout.shape[1]
    result = zeros(len(eleven), width * bodies)
    for k in range(bodies):
        columns = eleven[:, COLUMNS_PER_BODY * k : COLUMNS_PER_BODY * (k + 1)]
        result[:, width * k : width * (k + 1)] = dot(columns, layout)
    return result


def _make_ten_layout() -> Shaped[np.ndarray, "11 10"]:
    layout = zeros(COLUMNS_PER_BODY, len(LINK_PARAMETERS))
    for k in range(len(LINK_PARAMETERS)):
        layout[k if k < 4 else k + 1, k] = 1
    return layout


def _make_sixteen_layout() -> Shaped[np.ndarray, "11 16"]:
    """theta_5 by (127), (128) and (48), theta_3 by (29) and (42)."""
    layout = zeros(COLUMNS_PER_BODY, len(SIXTEEN_PARAMETERS))
    for k in range(4):
        layout[k, k] = 1
    for k, (a, b) in enumerate(SYMMETRIC_ENTRIES):
        inertia = 5 + INERTIA_ENTRIES.index((a, b))
        layout[4, 4 + k] = int(a == b)  # (128), Y_13
        layout[inertia, 4 + k] = -1  # (129), Y_14
        layout[inertia, 10 + k] = 1 if a == b else -1  # (108)
    return layout


_TEN = _make_ten_layout()
_SIXTEEN = _make_sixteen_layout()


def _list_bodies(mechanism: Mechanism) -> range:
    return range(len(mechanism.bodies))

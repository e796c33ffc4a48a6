"""Closed-form regressor of Lu and Meng, from link Jacobians by Lagrange's equation.

Identity      tau = Y theta with Y = d/dt W(q, qd) + Yhat(q, qd); W theta = M qd is the generalized momentum and
              Yhat theta = -∂(T - U)/∂q. With two velocities, W(q, v) theta = M v, Yhat theta = -C(q, qd)ᵀ v + g, and
              tau = M vd + C(q, qd) v + g with C the matrix of Christoffel symbols
Reference     [lu1993] sec. III, (21)-(49), appendix (97)-(129); (50)-(59) in ``principal_axes_columns``
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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.dynamics.formulations.newton_euler import inertia_columns
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, SYMMETRIC_ENTRIES, find_columns
from ytheta.dynamics.jacobians import (
    BodyPose,
    BodyVelocities,
    JacobianColumn,
    compute_body_accelerations,
    compute_body_poses,
    compute_body_velocities,
    compute_column_rate,
    compute_jacobian_columns,
)
from ytheta.dynamics.mechanism import Mechanism, Motion
from ytheta.dynamics.vectors import array, cross, dot, halve, inner, sum_products, zeros
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyVector3, Shaped

COLUMNS_PER_LINK = 11


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

    def row(i: int, J: JacobianColumn) -> np.ndarray:
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

    def row(i: int, J: JacobianColumn) -> np.ndarray:
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

    def row(i: int, J: JacobianColumn) -> np.ndarray:
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

    def row(i: int, J: JacobianColumn) -> np.ndarray:
        return _join_eleven(-inner(J.v, g), dot(cross(J.w, g)[None], kin.poses[i].R)[0], 0, zeros(6))

    return row


def _join_eleven(mass: Any, moment: np.ndarray, trace: Any, inertia: np.ndarray) -> Shaped[np.ndarray, "11"]:
    return array([mass, *moment, trace, *inertia])


# --- from eleven columns to ten or sixteen --------------------------------------------------------------------------


def _change_layout(eleven: Shaped[np.ndarray, "joints eleven"], layout: Shaped[np.ndarray, "11 width"]) -> Columns:
    """Change from eleven columns per body to ten or sixteen."""
    bodies = eleven.shape[1] // COLUMNS_PER_LINK
    width = layout.shape[1]
    result = zeros(len(eleven), width * bodies)
    for k in range(bodies):
        columns = eleven[:, COLUMNS_PER_LINK * k : COLUMNS_PER_LINK * (k + 1)]
        result[:, width * k : width * (k + 1)] = dot(columns, layout)
    return result


def _make_ten_layout() -> Shaped[np.ndarray, "11 10"]:
    layout = zeros(COLUMNS_PER_LINK, len(LINK_PARAMETERS))
    for k in range(len(LINK_PARAMETERS)):
        layout[k if k < 4 else k + 1, k] = 1
    return layout


_TEN = _make_ten_layout()


def _list_bodies(mechanism: Mechanism) -> range:
    return range(len(mechanism.bodies))


# Assembly of columns of the regressor by Lagrange's equation, from rows: the columns of one body for one joint.
#
# Identity      Y = d/dt W + Yhat (47); with two velocities, Y theta = M vd + C(q, qd) v + g
# Reference     [lu1993] (22), (30), (32), (43), (47)
#
# ``LinkRows`` is one way to write the columns of a link: for the general link (``lagrange``), or shorter for a special
# one (``principal_axes_columns``).


Columns: TypeAlias = Shaped[np.ndarray, "joints params"]
Row: TypeAlias = Callable[[int, JacobianColumn], np.ndarray]  # the columns of a body for the joint of a Jacobian column


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Poses, columns of all link Jacobians with their joints, and body velocities for qd and for v.

    If v is qd, ``qd`` and ``v`` are the same object.
    """

    mechanism: Mechanism
    poses: list[BodyPose]
    columns: list[list[tuple[int, JacobianColumn]]]
    qd: BodyVelocities
    v: BodyVelocities
    vd: np.ndarray


@dataclass(frozen=True, eq=False)
class LinkRows:
    """The parts of a link's columns; ``count`` is the number of columns of one body.

    ``momentum``  W(q, v).
    ``rate``      dW(q, x)/dt for the velocities of a carrier and of the bodies, and the rate of change of x: q changes
                  at the joint velocity of the carrier, and x is the joint velocity of the bodies.
    ``kinetic``   -∂T/∂q as a bilinear form of two velocities.
    ``gravity``   ∂U/∂q.
    """

    count: int
    momentum: Callable[[Kinematics], Row]
    rate: Callable[[Kinematics, BodyVelocities, BodyVelocities, np.ndarray], Row]
    kinetic: Callable[[Kinematics, BodyVelocities, BodyVelocities], Row]
    gravity: Callable[[Kinematics], Row]


def compute_kinematics(mechanism: Mechanism, motion: Motion) -> Kinematics:
    """Compute what the rows of all links need."""
    poses = compute_body_poses(mechanism, motion)
    qd = compute_body_velocities(mechanism, poses, motion.qd)
    v = qd if motion.ordinary else compute_body_velocities(mechanism, poses, motion.v)
    columns = [list(compute_jacobian_columns(mechanism, poses, i)) for i in range(len(mechanism.bodies))]
    return Kinematics(mechanism, poses, columns, qd, v, motion.vd)


def compute_momentum_columns(kin: Kinematics, rows: LinkRows, links: Sequence[int]) -> Columns:
    """W(q, v)."""
    return _collect(kin, rows, links, rows.momentum(kin))


def compute_rate_columns(kin: Kinematics, rows: LinkRows, links: Sequence[int]) -> Columns:
    """The time derivative of W(q, v)."""
    return _collect(kin, rows, links, rows.rate(kin, kin.qd, kin.v, kin.vd))


def compute_torque_columns(kin: Kinematics, rows: LinkRows, links: Sequence[int]) -> Columns:
    """Y of (47)."""
    qd, v, vd = kin.qd, kin.v, kin.vd
    if qd is v:
        return compute_rate_columns(kin, rows, links) + compute_remainder_columns(kin, rows, links)
    # Every product of qd with itself is replaced by the mean of the products (qd, v) and (v, qd). The sum is equal to
    # dW/dt + Yhat, but has fewer terms.
    rates = _collect_both_orders(kin, rows, links, lambda a, b: rows.rate(kin, a, b, vd))
    kinetic = _collect_both_orders(kin, rows, links, lambda a, b: rows.kinetic(kin, a, b))
    return halve(rates[0] + rates[1] + kinetic[0] + kinetic[1]) + _collect(kin, rows, links, rows.gravity(kin))


def compute_remainder_columns(kin: Kinematics, rows: LinkRows, links: Sequence[int]) -> Columns:
    """Yhat = Y - dW/dt."""
    qd, v = kin.qd, kin.v
    gravity = _collect(kin, rows, links, rows.gravity(kin))
    if qd is v:
        return _collect(kin, rows, links, rows.kinetic(kin, qd, qd)) + gravity
    # -C(q, qd)ᵀ v = ½ (dM(v) qd - dM(qd) v) - ½ ∂(qdᵀ M v)/∂q, where dM(x) is the derivative of M along x.
    zero = zeros(kin.mechanism.joints)
    rates = _collect_both_orders(kin, rows, links, lambda a, b: rows.rate(kin, a, b, zero))
    kinetic = _collect_both_orders(kin, rows, links, lambda a, b: rows.kinetic(kin, a, b))
    return halve(rates[1] - rates[0] + kinetic[0] + kinetic[1]) + gravity


def find_body(mechanism: Mechanism, link: str) -> int:
    """The index of a moving link. Raise UnknownNameError if there is none with this name."""
    names = [body.name for body in mechanism.bodies]
    if link not in names:
        raise UnknownNameError(
            f"robot {mechanism.robot.name!r} has no moving link {link!r}{suggest_names(link, names)}"
        )
    return names.index(link)


def _collect_both_orders(
    kin: Kinematics,
    rows: LinkRows,
    links: Sequence[int],
    form: Callable[[BodyVelocities, BodyVelocities], Row],
) -> tuple[Columns, Columns]:
    """Collect the columns of a bilinear form of two velocities, for (qd, v) and for (v, qd)."""
    return _collect(kin, rows, links, form(kin.qd, kin.v)), _collect(kin, rows, links, form(kin.v, kin.qd))


def _collect(kin: Kinematics, rows: LinkRows, links: Sequence[int], row: Row) -> Columns:
    """Collect the columns of some bodies. The rows of joints that do not move a body stay zero."""
    result = zeros(kin.mechanism.joints, rows.count * len(links))
    for k, i in enumerate(links):
        for joint, J in kin.columns[i]:
            result[joint, rows.count * k : rows.count * (k + 1)] = row(i, J)
    return result


_ELEVEN = LinkRows(COLUMNS_PER_LINK, _make_momentum_row, _make_rate_row, _make_kinetic_row, _make_gravity_row)


def _make_sixteen_layout() -> Shaped[np.ndarray, "11 16"]:
    """theta_5 by (127), (128) and (48), theta_3 by (29) and (42)."""
    layout = zeros(COLUMNS_PER_LINK, len(SIXTEEN_PARAMETERS))
    for k in range(4):
        layout[k, k] = 1
    for k, (a, b) in enumerate(SYMMETRIC_ENTRIES):
        inertia = 5 + INERTIA_ENTRIES.index((a, b))
        layout[4, 4 + k] = int(a == b)  # (128), Y_13
        layout[inertia, 4 + k] = -1  # (129), Y_14
        layout[inertia, 10 + k] = 1 if a == b else -1  # (108)
    return layout


_SIXTEEN = _make_sixteen_layout()


# Short formulas of Lu and Meng for a link whose principal axes are the frame axes, with its centre on one of them.
#
# Identity      tau = Y theta with theta = (m, m p, m p², Ixx, Iyy, Izz) (51): six columns instead of sixteen. p is the
#               coordinate of the centre on the x or the z axis. The inertia is about the centre, without products (50)
# Reference     [lu1993] sec. III-B, (50)-(59)
# Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
# Notation      code       paper            meaning                                             shape   frame
#               r          (0)r_1, (0)r_3   axis of the link on which the centre lies           3       0
#               J.v, J.w   J_v, J_omega     a column of the link Jacobian (21)                  3       0
#               v, w       J_v qd, J_w qd   velocity of the link origin, angular velocity       3       0
#               d          d                angular velocity (28)                               3       i
#               u          R^T J_omega      a column of the Jacobian of d                       3       i
#               D_v, D_w   D_v, D_omega     ∂(J_v qd)/∂q_j, ∂(J_w qd)/∂q_j (37)                 3       0
#               r_j        ∂r/∂q_j          J_w × r                                             3       0
# Differs from  the paper in: the sign of (57), which in print contradicts (46) and the paper's own example; the second
#               term of (56) is J_v qd × [...]; the first factor of (59) is J_w qd qdᵀ ∂J_wᵀ/∂q_j; the term of (59) with
#               |J_w qd|² is left out, because it is zero: ∂r/∂q_j is perpendicular to r; W_2 and Y_2 have n rows, not
#               three; two velocities, for which every square is a product. Derivatives are in closed form
#               (``jacobians``); dW/dt, which the paper leaves to the reader, is the product rule on (52)-(54).


SHORT_COLUMNS_PER_LINK = 6
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


def compute_W1(J: JacobianColumn, r: AnyVector3, v: AnyVector3, w: AnyVector3) -> tuple[Any, Any, Any]:
    """A row of W_1 (52)."""
    return inner(J.v, v), inner(cross(J.v, w) + cross(v, J.w), r), inner(J.w, w) - compute_b(J, r, w)


def compute_b(J: JacobianColumn, r: AnyVector3, w: AnyVector3) -> Any:
    """b_j (53)."""
    return sum_products((inner(r, J.w), inner(w, r)))


def multiply_B(u: AnyVector3, d: AnyVector3) -> AnyVector3:
    """uᵀ B(d) with B(d) = diag(d) (54): a row of W_2 (29), and of Y_2 (42) up to its sign."""
    return array([sum_products(pair) for pair in zip(u, d, strict=True)])


def compute_y121(
    J: JacobianColumn, r: AnyVector3, v: AnyVector3, w: AnyVector3, D_v: AnyVector3, D_w: AnyVector3
) -> Any:
    """y_121 (56)."""
    return -inner(cross(D_v, w) + cross(v, D_w), r) - inner(cross(J.w, r), cross(v, w))


def compute_y321(J: JacobianColumn, r: AnyVector3, g: AnyVector3) -> Any:
    """y_321 (57), with the sign of (46)."""
    return inner(cross(J.w, g), r)


def compute_e(J: JacobianColumn, r: AnyVector3, w: AnyVector3, w_first: AnyVector3, D_w: AnyVector3) -> Any:
    """e_1j (59), an entry of y_141 (58). ``w_first`` is the angular velocity whose derivative is D_w."""
    return sum_products((inner(r, w), inner(D_w, r) + inner(cross(J.w, r), w_first)))


# --- rows of six columns ----------------------------------------------------------------------------------------------


def make_rows(center: Literal["x", "z"]) -> LinkRows:
    """The rows of a link whose centre lies on this axis of its frame."""
    axis = AXES[center]

    def momentum(kin: Kinematics) -> Row:
        """W: (52), (53), and (29) with (54)."""

        def row(i: int, J: JacobianColumn) -> np.ndarray:
            R = kin.poses[i].R
            W1 = compute_W1(J, R[:, axis], kin.v.v[i], kin.v.w[i])
            return array([*W1, *multiply_B(dot(R.T, J.w), kin.v.d[i])])

        return row

    def rate(kin: Kinematics, carrier: BodyVelocities, bodies: BodyVelocities, rate: np.ndarray) -> Row:
        """dW/dt by the product rule on (52)-(54)."""
        accelerations = compute_body_accelerations(kin.mechanism, kin.poses, carrier, bodies, rate)

        def row(i: int, J: JacobianColumn) -> np.ndarray:
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

        def row(i: int, J: JacobianColumn) -> np.ndarray:
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

        def row(i: int, J: JacobianColumn) -> np.ndarray:
            return array([-inner(J.v, g), compute_y321(J, kin.poses[i].R[:, axis], g), 0, 0, 0, 0])

        return row

    return LinkRows(SHORT_COLUMNS_PER_LINK, momentum, rate, kinetic, gravity)

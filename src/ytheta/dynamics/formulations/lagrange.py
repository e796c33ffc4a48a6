"""Closed-form regressor of Lu and Meng, from link Jacobians by Lagrange's equation.

Identity      tau = Y theta with Y = d/dt W(q, qd) + Yhat(q, qd); W theta = M qd is the generalised momentum and
              Yhat theta = -∂(T - U)/∂q. With two velocities W(q, v) theta = M v, Yhat theta = -C(q, qd)ᵀ v + g, and
              tau = M vd + C(q, qd) v + g with C the matrix of Christoffel symbols
Reference     [lu1993] sec. III, (21)-(59), appendix (97)-(129)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code       paper            meaning                                             shape   frame
              R          (0 i)R           axes of link i                                      3 x 3   0
              J.v, J.w   J_v, J_omega     a column of the link Jacobian (21)                  3       0
              v, w       J_v qd, J_w qd   velocity of the link origin, angular velocity       3       0
              d          d                angular velocity (28)                               3       i
              B          B(d)             B(d) theta_3 = I d (108)                            3 x 6   i
              D_v, D_w   D_v, D_omega     ∂(J_v qd)/∂q_j, ∂(J_w qd)/∂q_j (37)                 3       0
Columns       Eleven are computed per link: mass, three first moments, J_wᵀ J_w qd of (128), and the six of B. The ten
              parameters need all but the fifth; the paper's sixteen (``sixteen``) repeat them with other signs.
Differs from  the paper in: inertia about the frame *origin* and products as tensor entries, unless sixteen parameters
              are asked for; trees instead of chains, any axis, any seat of the link frame; two velocities.
              Derivatives are in closed form (``jacobians``): D_v is the time derivative of J_v's column, since mixed
              derivatives commute; ∂R/∂q_j = z_j × R; ∂d/∂q_j is the time derivative of z_j seen from the link.
              Read for the print: in (25) and (28) R is the transpose of that in (24); (38) and (42) are transposed; in
              (40) and (59) the first factor is J_w qd qdᵀ ∂J_wᵀ/∂q_j; Y_13 multiplies m |p|², so in (48) it is added to
              the first three columns of Y_14 as (55) has it, not set beside them (eleven columns for ten parameters);
              the second term of (56) is J_v qd × [...]; (57) has the sign of (46).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.dynamics.formulations.jacobians import (
    Column,
    Flow,
    Place,
    accelerations,
    column_rate,
    columns,
    flow,
    places,
)
from ytheta.dynamics.formulations.sixteen import POINT_MASS, PRINCIPAL_AXES, SIXTEEN_PARAMETERS, SQUARES
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, halve, inner, zeros
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

Columns: TypeAlias = Shaped[np.ndarray, "joints params"]
Eleven: TypeAlias = Shaped[np.ndarray, "joints eleven"]
ELEVEN = 11


def accepts(robot: Robot) -> str | None:
    """Why a robot cannot be handled, or None."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops; use spatial_tree"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Columns:
    """The regressor of all link parameters, ten columns per body (47)."""
    return _laid_out(_torque(_stage(mechanism, motion), _all(mechanism)), _TEN)


def momentum(mechanism: Mechanism, motion: Motion) -> Columns:
    """W(q, v) of (30): W theta = M v, the generalised momentum where v is qd. Accelerations play no part."""
    stage = _stage(mechanism, motion)
    return _laid_out(_collect(stage, _all(mechanism), _momentum(stage)), _TEN)


def momentum_rate(mechanism: Mechanism, motion: Motion) -> Columns:
    """The derivative of W(q, v) along the motion: q changes at qd and v at vd."""
    stage = _stage(mechanism, motion)
    return _laid_out(_collect(stage, _all(mechanism), _rate(stage, stage.qd, stage.v, stage.vd)), _TEN)


def remainder(mechanism: Mechanism, motion: Motion) -> Columns:
    """Yhat(q, qd, v) = Y - dW/dt, the rest of (47). Accelerations play no part."""
    return _laid_out(_remainder(_stage(mechanism, motion), _all(mechanism)), _TEN)


def regressor_sixteen(mechanism: Mechanism, motion: Motion) -> Columns:
    """The regressor in the paper's own parameters (31), sixteen columns per body."""
    return _laid_out(_torque(_stage(mechanism, motion), _all(mechanism)), _SIXTEEN)


def point_mass_columns(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "joints 10"]:
    """Y of one link that is a point mass (49): the columns of theta_5 (125)."""
    return _sixteen_of_link(mechanism, motion, link)[:, POINT_MASS]


def principal_axes_columns(
    mechanism: Mechanism, motion: Motion, link: str, *, center: Literal["x", "z"]
) -> Shaped[np.ndarray, "joints 6"]:
    """Y of one link with its centre on the x or the z axis and principal axes along those of its frame (50)-(59).

    The parameters are (m, m p, m p², Ixx, Iyy, Izz) of (51), with p along the axis and inertia about the centre.
    """
    return _sixteen_of_link(mechanism, motion, link)[:, PRINCIPAL_AXES[center]]


def link_jacobian(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "6 joints"]:
    """J of (21): the velocity of the link's frame origin, then its angular velocity, per unit of each joint's."""
    J = zeros(6, mechanism.joints)
    for joint, column in columns(mechanism, places(mechanism, motion), _index(mechanism, link)):
        J[:3, joint] = column.v
        J[3:, joint] = column.w
    return J


# --- rows: one joint, eleven columns of one body --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Stage:
    """Places, the columns of all link Jacobians with their joints, the flows of qd and of v (one where v is qd)."""

    mechanism: Mechanism
    places: list[Place]
    columns: list[list[tuple[int, Column]]]
    qd: Flow
    v: Flow
    vd: np.ndarray


_Row: TypeAlias = Callable[[int, Column], np.ndarray]


def _stage(mechanism: Mechanism, motion: Motion) -> _Stage:
    found = places(mechanism, motion)
    qd = flow(mechanism, found, motion.qd)
    v = qd if motion.ordinary else flow(mechanism, found, motion.v)
    jacobians = [list(columns(mechanism, found, i)) for i in _all(mechanism)]
    return _Stage(mechanism, found, jacobians, qd, v, motion.vd)


def _momentum(stage: _Stage) -> _Row:
    """W: (127)-(129) and (29)."""

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w = stage.places[i].R, stage.v.v[i], stage.v.w[i]
        moment = cross(J.v, w) + cross(v, J.w)
        return _eleven(
            inner(J.v, v),
            dot(moment[None], R)[0],
            inner(J.w, w),
            dot(dot(R.T, J.w)[None], _B(stage.v.d[i]))[0],
        )

    return row


def _rate(stage: _Stage, carrier: Flow, of: Flow, rate: np.ndarray) -> _Row:
    """W's derivative by the product rule on (127)-(129) and (29), while q moves with the carrier and x at ``rate``."""
    changes = accelerations(stage.mechanism, stage.places, carrier, of, rate)

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w, turning = stage.places[i].R, of.v[i], of.w[i], carrier.w[i]
        a, alpha = changes[i]
        v_rate, w_rate = column_rate(carrier, i, J)
        moment = cross(v_rate, w) + cross(J.v, alpha) + cross(a, J.w) + cross(v, w_rate)
        moment = moment + cross(cross(J.v, w) + cross(v, J.w), turning)  # dR/dt = turning × R
        seen_rate = dot(R.T, w_rate - cross(turning, J.w))
        d_rate = dot(R.T, alpha if carrier is of else alpha - cross(turning, w))
        return _eleven(
            inner(J.v, a) + inner(v_rate, v),
            dot(moment[None], R)[0],
            inner(J.w, alpha) + inner(w_rate, w),
            dot(dot(R.T, J.w)[None], _B(d_rate))[0] + dot(seen_rate[None], _B(of.d[i]))[0],
        )

    return row


def _kinetic(stage: _Stage, one: Flow, other: Flow) -> _Row:
    """-∂T/∂q of (32), as a form of two velocities: (33)-(42)."""

    def row(i: int, J: Column) -> np.ndarray:
        R, v, w = stage.places[i].R, one.v[i], other.w[i]
        D_v, D_d = column_rate(one, i, J)  # (37); D_d is ∂d/∂q_j turned into base axes
        D_w, D_w_other = (cross(J.w, x.w[i] - x.w[J.at]) for x in (one, other))  # (37)
        moment = cross(D_v, w) + cross(v, D_w_other) + cross(cross(v, w), J.w)  # (35), (38)
        return _eleven(
            -inner(D_v, other.v[i]),  # (34)
            -dot(moment[None], R)[0],
            -inner(D_w, w),  # (36)
            -dot(dot(R.T, D_d)[None], _B(other.d[i]))[0],  # (39), (42)
        )

    return row


def _weight(stage: _Stage) -> _Row:
    """∂U/∂q: (45), (46)."""
    g = stage.mechanism.gravity

    def row(i: int, J: Column) -> np.ndarray:
        return _eleven(-inner(J.v, g), dot(cross(J.w, g)[None], stage.places[i].R)[0], 0, zeros(6))

    return row


def _B(d: np.ndarray) -> Shaped[np.ndarray, "3 6"]:
    """B with B(d) theta_3 = I d (107), (108), for tensor entries in the order of the conventions."""
    B = zeros(3, len(INERTIA_ENTRIES))
    for k, (row, column) in enumerate(INERTIA_ENTRIES):
        B[row, k] = d[column]
        B[column, k] = d[row]
    return B


def _eleven(mass: Any, moment: np.ndarray, trace: Any, inertia: np.ndarray) -> Shaped[np.ndarray, "11"]:
    return array([mass, *moment, trace, *inertia])


# --- rows put together ----------------------------------------------------------------------------------------------


def _torque(stage: _Stage, links: Sequence[int]) -> Eleven:
    qd, v, vd = stage.qd, stage.v, stage.vd
    if qd is v:
        return _collect(stage, links, _rate(stage, qd, qd, vd)) + _remainder(stage, links)  # (47)
    # Where qd stands twice, qd and v stand once each, in both orders: equal to dW/dt + Yhat, with fewer terms.
    rates = _both(stage, links, lambda a, b: _rate(stage, a, b, vd))
    kinetic = _both(stage, links, lambda a, b: _kinetic(stage, a, b))
    return halve(rates[0] + rates[1] + kinetic[0] + kinetic[1]) + _collect(stage, links, _weight(stage))


def _remainder(stage: _Stage, links: Sequence[int]) -> Eleven:
    qd, v = stage.qd, stage.v
    weight = _collect(stage, links, _weight(stage))
    if qd is v:
        return _collect(stage, links, _kinetic(stage, qd, qd)) + weight
    # -C(q, qd)ᵀ v = ½ (dM(v) qd - dM(qd) v) - ½ ∂(qdᵀ M v)/∂q with dM(x) the derivative of M along x.
    nothing = zeros(stage.mechanism.joints)
    rates = _both(stage, links, lambda a, b: _rate(stage, a, b, nothing))
    kinetic = _both(stage, links, lambda a, b: _kinetic(stage, a, b))
    return halve(rates[1] - rates[0] + kinetic[0] + kinetic[1]) + weight


def _both(stage: _Stage, links: Sequence[int], form: Callable[[Flow, Flow], _Row]) -> tuple[Eleven, Eleven]:
    """A form of two velocities for (qd, v) and for (v, qd)."""
    return _collect(stage, links, form(stage.qd, stage.v)), _collect(stage, links, form(stage.v, stage.qd))


def _collect(stage: _Stage, links: Sequence[int], row: _Row) -> Eleven:
    """Eleven columns per body; rows of joints that do not move it stay zero."""
    result = zeros(stage.mechanism.joints, ELEVEN * len(links))
    for k, i in enumerate(links):
        for joint, J in stage.columns[i]:
            result[joint, ELEVEN * k : ELEVEN * (k + 1)] = row(i, J)
    return result


def _laid_out(eleven: Eleven, layout: Shaped[np.ndarray, "11 wide"]) -> Columns:
    """Eleven columns per body to ten or to sixteen."""
    blocks = range(eleven.shape[1] // ELEVEN)
    wide = layout.shape[1]
    result = zeros(len(eleven), wide * len(blocks))
    for k in blocks:
        result[:, wide * k : wide * (k + 1)] = dot(eleven[:, ELEVEN * k : ELEVEN * (k + 1)], layout)
    return result


def _ten() -> Shaped[np.ndarray, "11 10"]:
    layout = zeros(ELEVEN, len(LINK_PARAMETERS))
    for k in range(len(LINK_PARAMETERS)):
        layout[k if k < 4 else k + 1, k] = 1
    return layout


def _sixteen() -> Shaped[np.ndarray, "11 16"]:
    """theta_5 by (127), (128) and (48), theta_3 by (29) and (42)."""
    layout = zeros(ELEVEN, len(SIXTEEN_PARAMETERS))
    for k in range(4):
        layout[k, k] = 1
    for k, (a, b) in enumerate(SQUARES):
        inertia = 5 + INERTIA_ENTRIES.index((a, b))
        layout[4, 4 + k] = int(a == b)  # (128), Y_13
        layout[inertia, 4 + k] = -1  # (129), Y_14
        layout[inertia, 10 + k] = 1 if a == b else -1  # (108)
    return layout


_TEN = _ten()
_SIXTEEN = _sixteen()


def _all(mechanism: Mechanism) -> range:
    return range(len(mechanism.bodies))


def _sixteen_of_link(mechanism: Mechanism, motion: Motion, link: str) -> Shaped[np.ndarray, "joints 16"]:
    return _laid_out(_torque(_stage(mechanism, motion), [_index(mechanism, link)]), _SIXTEEN)


def _index(mechanism: Mechanism, link: str) -> int:
    known = [body.name for body in mechanism.bodies]
    if link not in known:
        raise UnknownNameError(f"robot {mechanism.robot.name!r} has no moving link {link!r}{suggest_names(link, known)}")
    return known.index(link)

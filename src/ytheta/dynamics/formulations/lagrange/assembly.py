"""Assembly of columns of the regressor by Lagrange's equation, from rows: the columns of one body for one joint.

Identity      Y = d/dt W + Yhat (47); with two velocities, Y theta = M vd + C(q, qd) v + g
Reference     [lu1993] (22), (30), (32), (43), (47)

``LinkRows`` is one way to write the columns of a link: for the general link (``lagrange``), or shorter for a special
one (``principal_axes``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.lagrange.jacobians import (
    BodyPose,
    BodyVelocities,
    Column,
    compute_body_poses,
    compute_body_velocities,
    compute_jacobian_columns,
)
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import halve, zeros
from ytheta.errors import UnknownNameError, suggest_names
from ytheta.shapes import Shaped

Columns: TypeAlias = Shaped[np.ndarray, "joints params"]
Row: TypeAlias = Callable[[int, Column], np.ndarray]  # the columns of a body for the joint of a Jacobian column


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Poses, columns of all link Jacobians with their joints, and body velocities for qd and for v.

    If v is qd, ``qd`` and ``v`` are the same object.
    """

    mechanism: Mechanism
    poses: list[BodyPose]
    columns: list[list[tuple[int, Column]]]
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

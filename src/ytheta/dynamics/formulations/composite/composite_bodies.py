"""Inertia constants of the composite bodies of a robot in the form that Lin's recursion needs.

Identity      D_i = fixed_i + sum of d_k W_k   over the prismatic joints k between joint i and the next revolute ones
Reference     [lin1995] (38)-(43), (86), (87), (91)-(93)
Accepts       trees of revolute and prismatic joints; loads
Notation      code            paper       meaning                                                       frame
              m, k            m hat, k    mass and constant first moment of composite body i            i
              fixed           D_i         constant part of D_i (42)                                     i
              slides          W_k         (k, W_k in frame i) for the prismatic joints of (91)          i
              kappa           kappa_1,2   first moment of a prismatic joint between r and s (86), (87)
              outer           G_m         part that the next revolute joints take from U_i (40), (41)   i
Differs from  the paper in: trees, in which the parts of all children add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.formulations.composite.inertia_constants import Constants, keep_constant_part
from ytheta.dynamics.formulations.joint_axes import Axis, compute_joint_axes, list_angle_offsets, remove_rounding
from ytheta.dynamics.mechanism import exact_array
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyVector3, Float, Matrix3, Matrix4, Vector3


@dataclass(frozen=True, eq=False)
class CompositeBody:
    """The constants of one composite body; see the module docstring. ``kappa`` is zero unless r < i < s."""

    m: float
    k: Vector3
    kappa: tuple[float, float]
    fixed: Matrix3
    slides: tuple[tuple[int, Matrix3], ...]


@dataclass(frozen=True, eq=False)
class CompositeBodies:
    """The axes of a robot, parents first, the composite body behind each of them, and gravity in base axes."""

    axes: tuple[Axis, ...]
    bodies: tuple[CompositeBody, ...]
    gravity: AnyVector3

    @property
    def offsets(self) -> Float[np.ndarray, "joints"]:
        """Constant angles to be added to q."""
        return list_angle_offsets(self.axes)


def find_composite_bodies(robot: Robot) -> CompositeBodies:
    """Compute the constants of all composite bodies of a robot, loads included."""
    axes, inertias = compute_joint_axes(robot, keeps_offsets=True)
    constants = _compose(axes, inertias)
    bodies: list[CompositeBody] = []
    outer = [np.zeros((3, 3)) for _ in axes]
    slides: list[list[tuple[int, Matrix3]]] = [[] for _ in axes]
    for i in reversed(range(len(axes))):
        axis, own = axes[i], constants[i]
        U = own.U + outer[i]  # (39)
        fixed = remove_rounding(U - np.diag([U[1, 1], U[1, 1], 0.0]), 10.0 * abs(U).max())
        bodies.append(CompositeBody(float(own.m[0]), own.k, _compute_kappa(axis, own.k), fixed, tuple(slides[i])))
        if axis.parent is not None:
            R = axis.H[:3, :3]
            G = np.diag([outer[i][1, 1], outer[i][1, 1], -own.U[2, 2]]) if axis.revolute else outer[i]  # (43)
            outer[axis.parent] = outer[axis.parent] + R @ G @ R.T  # (41)
            passed = [] if axis.revolute else [(i, _make_slide_matrix(own.k)), *slides[i]]
            slides[axis.parent] += [(j, remove_rounding(R @ W @ R.T, 10.0 * abs(W).max())) for j, W in passed]
    return CompositeBodies(tuple(axes), tuple(reversed(bodies)), exact_array(robot.merged.gravity_in_base))


def _compose(axes: Sequence[Axis], inertias: Sequence[Matrix4]) -> list[Constants]:
    """m, k and U of every composite body, (10), (12), (14), with rounding errors set to zero."""
    total: list[Constants] = []
    for P in inertias:
        S = P[:3, :3]
        total.append(Constants(P[3, 3:].copy(), P[:3, 3].copy(), np.trace(S) * np.eye(3) - S))
    for i in reversed(range(len(axes))):
        m, k, U = total[i].m, total[i].k, total[i].U
        size = float(np.trace(U))  # |k| is at most the root of m size, for every body with positive masses
        k = remove_rounding(k, 10.0 * np.sqrt(abs(m[0] * size)))
        total[i] = Constants(m, k, remove_rounding(U, 10.0 * abs(size)))
        axis = axes[i]
        if axis.parent is not None:
            part = keep_constant_part(total[i]) if axis.revolute else total[i]
            origin = axis.H[:3, 3] if axis.revolute else axis.foot
            moved = part.seen_from(axis.H[:3, :3], origin)
            total[axis.parent] = total[axis.parent] + Constants(moved.m, *(x.astype(float) for x in (moved.k, moved.U)))
    return total


def _compute_kappa(axis: Axis, k: Vector3) -> tuple[float, float]:
    """kappa_1 (86) and kappa_2 (87) of a prismatic joint between r and s; zeros for all other joints."""
    if axis.revolute or axis.u is None:
        return 0.0, 0.0
    x, y, z = axis.u
    return float(x * k[1] - y * k[0]), float((1.0 - z * z) * k[2] - z * (x * k[0] + y * k[1]))


def _make_slide_matrix(k: Vector3) -> Matrix3:
    """W_k (92), in the frame of the prismatic joint."""
    x, y, z = k
    return np.array([[2.0 * z, 0.0, -x], [0.0, 2.0 * z, -y], [-x, -y, 0.0]])

"""Equivalent bodies: bodies on the same joints that need the same torques and have as few parameters as possible.

Identity      tau of the equivalent bodies = tau of the links, for every motion
Reference     [lin1995] sec. II, Theorem 2
Accepts       trees of revolute and prismatic joints; loads
Notation      code        paper        meaning                                                      frame
              P           D_i, k_i     pseudo-inertia [[S, k], [k^T, m]], S = integral of x x^T dm  i, its origin
              foot, d, u  b_i, d_i     see ``joint_axes``
              foot_mass   -            mass at the foot of axis i; m of P is the mass at the origin
Differs from  the paper in: bodies instead of constants of composite bodies, so that the terms of U_i that
              (38)-(43) subtract again do not occur; trees; masses moved back outward.

Mass on a revolute axis can be assigned to either of the two links that the joint connects, so the lower right block
(Szz, kz, m) of P is free. S of a link behind a prismatic joint is free too, because the link rotates with its parent.
If these free parameters are moved inward, towards the base, the parameters of Theorem 2 remain. After that, masses at
the foot and at the origin of an axis, and a second moment along the axis, are moved back outward if this makes kx, ky
or Syz of the link before the axis zero. These parameters require more operations: a mass is only multiplied by an
acceleration that is computed anyway, whereas a first moment also contributes to the moment of the link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.joint_axes import (
    JointAxis,
    RotationKind,
    Z,
    compute_joint_axes,
    list_angle_offsets,
    remove_rounding,
)
from ytheta.robot.frame import Frame, cos_sin
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Matrix4

# Whether the mass at the foot, the mass at the origin and the second moment are moved outward across an axis.
Transfer: TypeAlias = tuple[bool, ...]

# Smallest ratio of a lever to the largest length of the arm, and smallest product of the y and z components of an axis.
# Below them, nothing is moved outward, since the mass or second moment would be very large. Chosen on: rule of thumb.
MIN_RELATIVE_LEVER = 1e-2
# Largest number of axes for which transfers are searched. The time of the search grows with the cube of this number,
# and the search saves only a few per cent of the operations. Chosen on: rule of thumb.
MAX_SEARCHED_AXES = 15
# Largest allowed value of a mass that is moved outward, divided by the mass of the body before the axis together with
# all bodies behind that body. Above it, no mass is moved. Chosen on: rule of thumb.
MAX_MASS_RATIO = 10.0
# For each second moment, the entries of Omega (row and column) by which it is multiplied in (65).
OMEGA_ENTRIES = {
    (0, 0): "20 10",
    (1, 1): "21 01",
    (2, 2): "12 02",
    (0, 1): "20 21",
    (0, 2): "10 12",
    (1, 2): "01 02",
}


@dataclass(frozen=True, eq=False)
class EquivalentBodies:
    """Axes, parents first; for each body behind an axis, P about its frame origin and a mass at the foot."""

    axes: tuple[JointAxis, ...]
    P: tuple[Matrix4, ...]
    foot_masses: tuple[float, ...]

    @property
    def offsets(self) -> Float[np.ndarray, " joints"]:
        """Constant angles to be added to q."""
        return list_angle_offsets(self.axes)

    def is_tip(self, i: int) -> bool:
        """Whether body i is behind a revolute joint and carries no other body."""
        return _is_tip(self.axes, i)

    def needed_columns(self, i: int) -> tuple[bool, ...]:
        """Which columns of Omega body i needs for its first moments and for the feet of its children's axes."""
        feet = [axis.foot for axis in self.axes if axis.parent == i]
        return tuple(bool(self.P[i][k, 3] or any(foot[k] for foot in feet)) for k in range(3))


def find_minimal_bodies(robot: Robot) -> EquivalentBodies:
    """The bodies of Theorem 2, without masses or moments moved outward."""
    return _transfer_masses(*compute_joint_axes(robot), {})


def find_equivalent_bodies(robot: Robot) -> EquivalentBodies:
    """Search for the transfers across the axes that give bodies with the lowest estimated cost."""
    axes, inertias = compute_joint_axes(robot)
    for i, axis in enumerate(axes):
        if _is_tip(axes, i):
            axis, inertias[i] = _rotate_tip(axis, inertias[i])
        axes[i] = _rotate_first_axis(axis)
    best = _transfer_masses(axes, inertias, {})
    if len(axes) > MAX_SEARCHED_AXES:
        return best
    cost, previous_cost = estimate_cost(best), math.inf
    transfers: dict[int, Transfer] = {}
    while cost < previous_cost:
        previous_cost = cost
        for i in reversed(range(len(axes))):
            for transfer in _list_possible_transfers(axes, i):
                candidate = _transfer_masses(axes, inertias, {**transfers, i: transfer})
                if estimate_cost(candidate) < cost:
                    best, transfers, cost = candidate, {**transfers, i: transfer}, estimate_cost(candidate)
    return best


def estimate_cost(arm: EquivalentBodies) -> int:
    """Estimate the number of operations, as far as it depends on which parameters are zero."""
    total = 0
    needs_force: list[bool] = []  # whether a moment or a prismatic joint needs the force at the foot of an axis
    for axis in arm.axes:
        above = axis.parent is not None and (
            needs_force[axis.parent] or (arm.axes[axis.parent].rotation is not RotationKind.NONE and axis.foot.any())
        )
        needs_force.append(bool(above) or not axis.revolute)
    has_force = [False] * len(needs_force)  # whether there is a force at the foot
    for i, (axis, P, foot_mass) in reversed(list(enumerate(zip(arm.axes, arm.P, arm.foot_masses, strict=True)))):
        k, m = P[:3, 3] != 0.0, P[3, 3] != 0.0
        feet = [other.foot for j, other in enumerate(arm.axes) if other.parent == i and has_force[j]]
        has_force[i] = bool(m or foot_mass or k.any() or feet)
        total += 6 * (bool(m) + bool(foot_mass)) + sum(10 * int(np.count_nonzero(foot)) for foot in feet)
        if axis.rotation is not RotationKind.SPATIAL:
            total += 6 * int(k.sum()) if axis.accelerates_across else 0
            continue
        slides = bool(m or k.any() or feet) and (axis.d != 0.0 or not axis.revolute)
        total += (10 if needs_force[i] or slides else 4) * int(k.sum()) + 10 * slides
        total += has_force[i] * (12 if 0.0 in cos_sin(axis.alpha) else 22)
        columns = [c for c in range(3) if k[c] or any(foot[c] for foot in feet) or (c == 2 and slides)]
        entries = {f"{r}{c}" for c in columns for r in range(3)}
        for place, needed in OMEGA_ENTRIES.items():
            if P[place]:
                total += 4 if place[0] == place[1] else 7
                entries |= set(needed.split()) - ({"01"} if place == (1, 1) and P[0, 0] else set())
        total += len(entries)
    return total


def _is_tip(axes: Sequence[JointAxis], i: int) -> bool:
    return axes[i].revolute and all(axis.parent != i for axis in axes)


def _rotate_first_axis(axis: JointAxis) -> JointAxis:
    """Rotate the frame of a body on the base about its joint axis so that gravity has no y component."""
    x, y, z = axis.base_acceleration
    if axis.parent is not None or not axis.revolute or not (x and y):
        return axis
    base_acceleration = np.array([math.hypot(x, y), 0.0, z])
    return replace(axis, offset=axis.offset - math.atan2(y, x), base_acceleration=base_acceleration)


def _rotate_tip(axis: JointAxis, inertia: Matrix4) -> tuple[JointAxis, Matrix4]:
    """Rotate the frame of a tip about z so that ky becomes zero.

    If kx and ky are zero already, Syz becomes zero instead. If Sxz and Syz are zero too, Sxy becomes zero.
    """
    S, k = inertia[:3, :3], inertia[:3, 3]
    if k[0] and k[1]:
        angle = math.atan2(k[1], k[0])
    elif not k[:2].any() and S[0, 2] and S[1, 2]:
        angle = math.atan2(S[1, 2], S[0, 2])
    elif not k[:2].any() and not S[:2, 2].any() and S[0, 1]:
        angle = 0.5 * math.atan2(2.0 * S[0, 1], S[0, 0] - S[1, 1])
    else:
        return axis, inertia
    R = Frame.turn(Z, angle).matrix
    rotated = remove_rounding(R.T @ inertia @ R, abs(R.T) @ abs(inertia) @ abs(R))
    return replace(axis, offset=axis.offset + angle, H=axis.H @ R), rotated


def _transfer_masses(
    axes: Sequence[JointAxis], inertias: Sequence[Matrix4], transfers: Mapping[int, Transfer]
) -> EquivalentBodies:
    """Move the free parameters inward, tips first, and the masses and moments that ``transfers`` selects outward."""
    P = list(inertias)
    size = [abs(inertia) for inertia in inertias]  # sums of the magnitudes of all terms, to detect rounding errors
    foot_masses = [0.0] * len(axes)
    lengths = [float(np.linalg.norm(axis.foot)) + abs(axis.d) for axis in axes]
    min_lever = MIN_RELATIVE_LEVER * max(lengths, default=0.0)
    for j in reversed(range(len(axes))):
        for i, transfer in transfers.items():
            if axes[i].parent == j:
                H, before = axes[i].H, remove_rounding(P[j], size[j])
                max_mass = MAX_MASS_RATIO * float(size[j][3, 3])
                foot_masses[i], moved = _compute_outward_masses(axes[i], before, transfer, min_lever, max_mass)
                P[i] = P[i] + moved
                moved = moved + foot_masses[i] * _make_point_mass(-axes[i].d)
                P[j], size[j] = P[j] - H @ moved @ H.T, size[j] + abs(H) @ abs(moved) @ abs(H.T)
        P[j] = remove_rounding(P[j], size[j])
        free = _extract_free_part(axes[j], P[j])
        P[j] = P[j] - free
        parent, H = axes[j].parent, axes[j].H
        if parent is not None:
            P[parent], size[parent] = P[parent] + H @ free @ H.T, size[parent] + abs(H) @ abs(free) @ abs(H.T)
    return EquivalentBodies(tuple(axes), tuple(P), tuple(foot_masses))


def _extract_free_part(axis: JointAxis, P: Matrix4) -> Matrix4:
    """The part of a body's pseudo-inertia that can be assigned to its parent instead."""
    free = np.zeros((4, 4))
    if axis.revolute:
        free[2:, 2:] = P[2:, 2:]
        return free
    free[:3, :3] = P[:3, :3]
    slides_along_u = axis.u is not None and not axis.u[:2].any()
    if axis.rotation is RotationKind.NONE or slides_along_u:
        free[:3, 3] = free[3, :3] = P[:3, 3]
    return free


def _list_possible_transfers(axes: Sequence[JointAxis], i: int) -> list[Transfer]:
    """The transfers that the common normal, the offset and the angle of an axis allow."""
    axis, parent = axes[i], axes[i].parent
    if not axis.revolute or parent is None or axes[parent].rotation is not RotationKind.SPATIAL:
        return []
    z = axis.H[:3, 2]
    levers = (axis.foot[0], axis.d * z[1], z[1] * z[2] if axes[parent].revolute else 0.0)
    return list(product(*((False, True) if lever else (False,) for lever in levers)))


def _compute_outward_masses(
    axis: JointAxis, before: Matrix4, transfer: Transfer, min_lever: float, max_mass: float
) -> tuple[float, Matrix4]:
    """Compute masses at foot and origin, and Szz, that make kx, ky and Syz of the body before the axis zero."""
    at_foot, at_origin, second_moment = transfer
    foot, origin, z = axis.foot, axis.H[:3, 3], axis.H[:3, 2]
    foot_mass = origin_mass = 0.0
    if at_origin and abs(axis.d * z[1]) > min_lever and not foot[1]:
        origin_mass = float(before[1, 3] / origin[1])
    if at_foot and abs(foot[0]) > min_lever:
        foot_mass = float((before[0, 3] - origin_mass * origin[0]) / foot[0])
    if max(abs(foot_mass), abs(origin_mass)) > max_mass:
        foot_mass = origin_mass = 0.0
    moved = origin_mass * _make_point_mass(0.0)
    if second_moment and abs(z[1] * z[2]) > MIN_RELATIVE_LEVER:
        rest = before - axis.H @ (moved + foot_mass * _make_point_mass(-axis.d)) @ axis.H.T
        moved[2, 2] = rest[1, 2] / (z[1] * z[2])
    return foot_mass, moved


def _make_point_mass(height: float) -> Matrix4:
    """The pseudo-inertia of a unit mass on the z axis at this height."""
    position = np.array([0.0, 0.0, height, 1.0])
    return np.outer(position, position)

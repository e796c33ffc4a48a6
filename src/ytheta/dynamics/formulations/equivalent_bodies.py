"""Equivalent bodies: other bodies on the same joints that ask for the same torques, with as few numbers as can be.

Identity      tau of the equivalent bodies = tau of the links, for every motion
Reference     [lin1995] sec. II, Theorem 2: which numbers matter; delta_j of its item 1 is ``sideways``
Accepts       trees of revolute and prismatic joints; loads
Notation      code      paper        meaning                                                      frame
              P         D_i, k_i     pseudo-inertia [[S, k], [k^T, m]], S = integral of x x^T dm  i, its origin
              foot      b_i          where the normal from the axis above meets axis i            parent
              d         d_i          from there along z to the origin of frame i
              near      -            mass at the foot; m of P is the mass at the origin
              u         u_r          direction that PLANAR bodies turn about                      i
Differs from  the paper in: bodies instead of constants of composite bodies: what (38)-(43) take away from U_i again is
              not put there; trees; masses handed back to the axes.

Mass on a revolute axis may belong to either of its two links: the lower right block (Szz, kz, m) of P is free. So is S
of a prismatic link, which turns as its parent does. Handed towards the base these numbers disappear, and what is left
is Theorem 2. Then masses at the foot and at the origin of an axis are handed back, and a second moment along it, where
that removes dearer numbers of the link before it: kx, ky and Syz. A mass costs multiples of an acceleration that is
there anyway, a first moment also a lever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ytheta.robot.frame import Frame, cos_sin
from ytheta.robot.modified_dh import NEARLY_PARALLEL, Row, to_modified_dh
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Matrix4, Vector3

Ways = tuple[bool, ...]  # mass at the foot, mass at the origin, second moment

STILL, PLANAR, FREE = "still", "planar", "free"
ROUNDING = 5e-15  # of the sum of magnitudes: what is smaller is zero
STEEP = 1e-2  # lengths (of the largest) and sines below this carry no masses of a sensible size
MANY = 15  # axes; the search grows with their cube and gains a few per cent
HEAVY = 10.0  # a mass handed back is at most this multiple of the mass behind
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
# Entries of Omega that a second moment meets in (65).
MET = {(0, 0): "20 10", (1, 1): "21 01", (2, 2): "12 02", (0, 1): "20 21", (0, 2): "10 12", (1, 2): "01 02"}


@dataclass(frozen=True, eq=False)
class Axis:
    """A joint: placement = shift(foot) Rz(gamma) Rx(alpha) Rz(offset) shift(z=d), which is H at q = 0.

    ``spin``: the body behind it is STILL (i < r in the paper), PLANAR (r <= i < s) or FREE. ``sideways``: a PLANAR body
    can be accelerated across ``u``. ``rest``: what the base accelerates with, in axes after Rx(alpha),
    for joints on the base.
    """

    parent: int | None
    joint: int
    revolute: bool
    gamma: float
    alpha: float
    offset: float
    foot: Vector3
    d: float
    H: Matrix4
    spin: str
    u: Vector3 | None
    sideways: bool
    rest: Vector3


@dataclass(frozen=True, eq=False)
class Equivalent:
    """Axes, parents first, and the bodies behind them: P about the origin, and a mass at the foot of the axis."""

    axes: tuple[Axis, ...]
    P: tuple[Matrix4, ...]
    near: tuple[float, ...]

    @property
    def offsets(self) -> Float[np.ndarray, "joints"]:
        """Constant angles to add to q."""
        offsets = np.zeros(len(self.axes))
        for axis in self.axes:
            offsets[axis.joint] = axis.offset if axis.revolute else 0.0
        return offsets

    def tip(self, i: int) -> bool:
        return self.axes[i].revolute and all(axis.parent != i for axis in self.axes)

    def columns(self, i: int) -> tuple[bool, ...]:
        """Which columns of Omega a body needs for first moments and for the feet of the axes on it."""
        feet = [axis.foot for axis in self.axes if axis.parent == i]
        return tuple(bool(self.P[i][k, 3] or any(foot[k] for foot in feet)) for k in range(3))


def minimal_bodies(robot: Robot) -> Equivalent:
    """The bodies of Theorem 2, nothing handed back."""
    return _handed_on(*_axes(robot), {})


def equivalent_bodies(robot: Robot) -> Equivalent:
    """The cheapest bodies found: every axis tries every way of handing back."""
    axes, own = _axes(robot)
    for i, axis in enumerate(axes):
        if axis.revolute and all(other.parent != i for other in axes):
            axis, own[i] = _tip_turned(axis, own[i])
        axes[i] = _base_turned(axis)
    best = _handed_on(axes, own, {})
    if len(axes) > MANY:
        return best
    cost, least = price(best), math.inf
    choice: dict[int, Ways] = {}
    while cost < least:
        least = cost
        for i in reversed(range(len(axes))):
            for ways in _ways(axes, i):
                other = _handed_on(axes, own, {**choice, i: ways})
                if price(other) < cost:
                    best, choice, cost = other, {**choice, i: ways}, price(other)
    return best


def price(arm: Equivalent) -> int:
    """Operations that depend on which numbers differ from zero."""
    total = 0
    asked: list[bool] = []  # whether the force at a foot matters, to a lever or to a slide
    for axis in arm.axes:
        above = axis.parent is not None and (
            asked[axis.parent] or (arm.axes[axis.parent].spin != STILL and axis.foot.any())
        )
        asked.append(bool(above) or not axis.revolute)
    through = [False] * len(asked)  # whether there is a force at the foot, and an acceleration is asked for
    for i, (axis, P, near) in reversed(list(enumerate(zip(arm.axes, arm.P, arm.near, strict=True)))):
        k, m = P[:3, 3] != 0.0, P[3, 3] != 0.0
        feet = [other.foot for j, other in enumerate(arm.axes) if other.parent == i and through[j]]
        through[i] = bool(m or near or k.any() or feet)
        total += 6 * (bool(m) + bool(near)) + sum(10 * int(np.count_nonzero(foot)) for foot in feet)
        if axis.spin != FREE:
            total += 6 * int(k.sum()) if axis.sideways else 0
            continue
        slides = bool(m or k.any() or feet) and (axis.d != 0.0 or not axis.revolute)
        total += (10 if asked[i] or slides else 4) * int(k.sum()) + 10 * slides
        total += through[i] * (12 if 0.0 in cos_sin(axis.alpha) else 22)
        columns = [c for c in range(3) if k[c] or any(foot[c] for foot in feet) or (c == 2 and slides)]
        entries = {f"{r}{c}" for c in columns for r in range(3)}
        for place, met in MET.items():
            if P[place]:
                total += 4 if place[0] == place[1] else 7
                entries |= set(met.split()) - ({"01"} if place == (1, 1) and P[0, 0] else set())
        total += len(entries)
    return total


def _axes(robot: Robot) -> tuple[list[Axis], list[Matrix4]]:
    """The axes, and the pseudo-inertias of the links behind them, loads included."""
    table = to_modified_dh(robot)
    frames = dict(zip((link.name for link in table.original.links), table.frames, strict=True))
    size = max((float(np.linalg.norm(row.placement.matrix[:3, 3])) for row in table.rows), default=0.0)
    gravity = np.array(table.original.gravity_in_base)
    place: dict[str, int] = {}
    axes: list[Axis] = []
    own: list[Matrix4] = []
    for row, joint, link in zip(table.rows, table.original.joints, table.robot.links[1:], strict=True):
        H = (frames[joint.parent].inverse() @ joint.placement @ joint.seat @ frames[joint.child]).matrix
        parent = place.get(joint.parent)
        if joint.moves:
            revolute = joint.kind is JointKind.REVOLUTE
            gamma, alpha, offset, d = _row(row, H)
            if revolute and parent is not None and axes[parent].spin != FREE:
                d = 0.0  # for a PLANAR parent two columns of Omega are cheaper than one for its child
            foot = _clean(H[:3, 3] - d * H[:3, 2], 10.0 * size)
            rest = np.zeros(3)
            if parent is None:
                ahead = (Frame.turn(Z, gamma) @ Frame.turn(X, alpha)).matrix[:3, :3]
                rest = _clean(-ahead.T @ gravity, 10.0 * float(np.linalg.norm(gravity)))
            spin, u, sideways = _spin([*_path(axes, parent), (revolute, foot, H)], gravity)
            index = table.original.movable.index(joint)
            place[joint.child] = len(axes)
            axes.append(Axis(parent, index, revolute, gamma, alpha, offset, foot, d, H, spin, u, sideways, rest))
            own.append(link.inertia.pseudo)
        elif parent is not None:
            own[parent] = own[parent] + H @ link.inertia.pseudo @ H.T
    return axes, own


def _row(row: Row, H: Matrix4) -> tuple[float, float, float, float]:
    """gamma, alpha, offset and d. Axes that are nearly parallel get no d: the feet of their normal are far outside."""
    d = 0.0 if 0.0 < abs(cos_sin(row.alpha)[1]) <= NEARLY_PARALLEL else row.d
    ahead = Frame.turn(Z, row.gamma) @ Frame.turn(X, row.alpha) @ Frame.turn(Z, row.theta)
    if abs(ahead.matrix - H)[:3, :3].max() <= 10 * ROUNDING:
        return row.gamma, row.alpha, row.theta, d
    # The row has taken rounding away that is too large for us. What gamma misses, where the sine is small, theta makes
    # up for: it is read with gamma known.
    sine = math.hypot(H[0, 2], H[1, 2])
    parallel = sine <= ROUNDING
    gamma = row.gamma if parallel else math.atan2(H[0, 2], -H[1, 2])
    c, s = math.cos(gamma), math.sin(gamma)
    theta = math.atan2(-c * H[0, 1] - s * H[1, 1], c * H[0, 0] + s * H[1, 0])
    alpha = (0.0 if H[2, 2] > 0.0 else math.pi) if parallel else math.atan2(sine, H[2, 2])
    return gamma, alpha, theta, 0.0


def _path(axes: Sequence[Axis], last: int | None) -> list[tuple[bool, Vector3, Matrix4]]:
    """The steps from the base to a body."""
    steps: list[tuple[bool, Vector3, Matrix4]] = []
    while last is not None:
        axis = axes[last]
        steps.append((axis.revolute, axis.foot, axis.H))
        last = axis.parent
    return steps[::-1]


def _spin(steps: Sequence[tuple[bool, Vector3, Matrix4]], gravity: Vector3) -> tuple[str, Vector3 | None, bool]:
    """How the last body of a path turns, seen from the base, where the directions that matter do not change."""
    R, u, spin = np.eye(3), None, STILL
    accelerated = [gravity]
    for revolute, foot, H in steps:
        if u is not None:
            accelerated.append(R @ foot)
        R = R @ H[:3, :3]
        if not revolute:
            accelerated.append(R[:, 2])
        elif u is None:
            u, spin = R[:, 2], PLANAR
        elif np.linalg.norm(np.cross(u, R[:, 2])) > 10 * ROUNDING:
            spin = FREE
    if u is None or spin == FREE:
        return spin, None, True
    sideways = any(np.linalg.norm(np.cross(u, v)) > 10 * ROUNDING * np.linalg.norm(v) for v in accelerated)
    direction = _clean(R.T @ u, 10.0)
    return spin, np.where(abs(abs(direction) - 1.0) <= 10 * ROUNDING, np.sign(direction), direction), sideways


def _base_turned(axis: Axis) -> Axis:
    """The axes that gravity is seen from, turned about the first joint until it has no y."""
    x, y, z = axis.rest
    if axis.parent is not None or not axis.revolute or not (x and y):
        return axis
    return replace(axis, offset=axis.offset - math.atan2(y, x), rest=np.array([math.hypot(x, y), 0.0, z]))


def _tip_turned(axis: Axis, own: Matrix4) -> tuple[Axis, Matrix4]:
    """The frame of a tip has an x axis of no importance: turned until ky is zero; without kx and ky Syz, or Sxy."""
    S, k = own[:3, :3], own[:3, 3]
    if k[0] and k[1]:
        angle = math.atan2(k[1], k[0])
    elif not k[:2].any() and S[0, 2] and S[1, 2]:
        angle = math.atan2(S[1, 2], S[0, 2])
    elif not k[:2].any() and not S[:2, 2].any() and S[0, 1]:
        angle = 0.5 * math.atan2(2.0 * S[0, 1], S[0, 0] - S[1, 1])
    else:
        return axis, own
    turn = Frame.turn(Z, angle).matrix
    body = _clean(turn.T @ own @ turn, abs(turn.T) @ abs(own) @ abs(turn))
    return replace(axis, offset=axis.offset + angle, H=axis.H @ turn), body


def _handed_on(axes: Sequence[Axis], own: Sequence[Matrix4], choice: Mapping[int, Ways]) -> Equivalent:
    """What may go to the base, tips first; ``choice``: axes that take masses and second moments back."""
    P = list(own)
    size = [abs(body) for body in own]  # of what was added and taken away: the measure of rounding
    near = [0.0] * len(axes)
    reach = STEEP * max((float(np.linalg.norm(axis.foot)) + abs(axis.d) for axis in axes), default=0.0)
    for j in reversed(range(len(axes))):
        for i, ways in choice.items():
            if axes[i].parent == j:
                H = axes[i].H
                above = _clean(P[j], size[j])
                near[i], line = _handed_back(axes[i], above, ways, reach, HEAVY * float(size[j][3, 3]))
                P[i] = P[i] + line
                line = line + near[i] * _point(-axes[i].d)
                P[j], size[j] = P[j] - H @ line @ H.T, size[j] + abs(H) @ abs(line) @ abs(H.T)
        P[j] = _clean(P[j], size[j])
        free = _free_part(axes[j], P[j])
        P[j] = P[j] - free
        parent, H = axes[j].parent, axes[j].H
        if parent is not None:
            P[parent], size[parent] = P[parent] + H @ free @ H.T, size[parent] + abs(H) @ abs(free) @ abs(H.T)
    return Equivalent(tuple(axes), tuple(P), tuple(near))


def _free_part(axis: Axis, P: Matrix4) -> Matrix4:
    """What of a body its parent can have as well."""
    free = np.zeros((4, 4))
    if axis.revolute:
        free[2:, 2:] = P[2:, 2:]
        return free
    free[:3, :3] = P[:3, :3]
    if axis.spin == STILL or (axis.u is not None and not axis.u[:2].any()):  # or sliding along what it turns about
        free[:3, 3] = free[3, :3] = P[:3, 3]
    return free


def _ways(axes: Sequence[Axis], i: int) -> list[Ways]:
    """The ways of handing back that an axis has: its normal, its offset and its angle decide."""
    axis, parent = axes[i], axes[i].parent
    if not axis.revolute or parent is None or axes[parent].spin != FREE:
        return []
    z = axis.H[:3, 2]
    possible = (axis.foot[0], axis.d * z[1], z[1] * z[2] if axes[parent].revolute else 0.0)
    return list(product(*((False, True) if way else (False,) for way in possible)))


def _handed_back(axis: Axis, above: Matrix4, ways: Ways, reach: float, mass: float) -> tuple[float, Matrix4]:
    """Masses at foot and origin that take kx and ky from the body before an axis, and Szz that takes its Syz."""
    at_foot, at_origin, along = ways
    foot, origin, z = axis.foot, axis.H[:3, 3], axis.H[:3, 2]
    near = far = 0.0
    if at_origin and abs(axis.d * z[1]) > reach and not foot[1]:
        far = float(above[1, 3] / origin[1])
    if at_foot and abs(foot[0]) > reach:
        near = float((above[0, 3] - far * origin[0]) / foot[0])
    if max(abs(near), abs(far)) > mass:
        near = far = 0.0
    line = far * _point(0.0)
    if along and abs(z[1] * z[2]) > STEEP:
        left = above - axis.H @ (line + near * _point(-axis.d)) @ axis.H.T
        line[2, 2] = left[1, 2] / (z[1] * z[2])
    return near, line


def _point(height: float) -> Matrix4:
    """A unit mass on the z axis."""
    place = np.array([0.0, 0.0, height, 1.0])
    return np.outer(place, place)


def _clean(values: np.ndarray, size: np.ndarray | float) -> np.ndarray:
    """The same without what rounding has left of zeros."""
    return np.where(abs(values) <= ROUNDING * size, 0.0, values)

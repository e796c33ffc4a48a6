"""Modified Denavit-Hartenberg frames of any tree, after Khalil and Kleinfinger.

Every joint turns about or slides along the z axis of its own link's frame and is one row of six numbers::

    placement = Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(d),   then Rz(q) or Tz(q)

Reference     Khalil, Kleinfinger 1986, "A new geometric notation for open and closed-loop robots"; Craig, "Introduction
              to Robotics", for chains (gamma = b = 0). [lin1995] writes b_i, beta_i for a, alpha of row i.
Accepts       every tree; loops stay cut joints between the new frames; loads keep their frames, in rows that are fixed
Notation      z, x    axis of a link's own joint; normal from there to the axis of its first movable child
              origin  of the link's frame: the foot of that normal on z

What the axes leave open is decided so:

- The base keeps its frame. Its rows, and those of second and further children of a link, use gamma and b.
- q keeps its sense: z points along the joint's axis. x points so that theta of the link's own row lies within a quarter
  turn, and likewise gamma; where both senses do, so that a > 0, and where a = 0, so that alpha > 0.
- Link without movable children: theta = d = 0.
- First child of a revolute link parallel: d = 0 in its own row; if coincident, theta = 0 too. Parallel rows: b = 0.
- A prismatic axis has no place of its own. Its frame takes the origin of its first child's frame (a = d = 0 in the row
  of the child); if nothing but prismatic joints follows, the origin of its parent's frame.
- First child nearly parallel (TOLERANCE < sin alpha <= NEARLY_PARALLEL, as in calibrated arms): the foot of the normal
  is far outside the robot and inertias about it lose their digits. The link is treated as one without children; rows of
  nearly parallel axes use gamma, b and d and are good to about 1e-16 m / alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ytheta.errors import RobotError
from ytheta.robot.frame import IDENTITY, Frame, cos_sin, to_rows, to_vector
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.reframe import reframed
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

Vec3: TypeAlias = Float[np.ndarray, "3"]

TOLERANCE = 1e-9  # axes this parallel (sine) are parallel, lengths this short (of the largest offset) are zero
NEARLY_PARALLEL = 1e-2
EXACT_ANGLE = 1e-12  # angles this near to a multiple of pi/6 are that multiple
QUARTER_TURN = math.pi / 2 + TOLERANCE
LARGEST = 1e60  # metres; inertias have squares of lengths, and those of composite bodies products of such


@dataclass(frozen=True)
class Row:
    """One joint in modified Denavit-Hartenberg parameters; see the module docstring."""

    joint: str
    parent: str
    kind: JointKind
    gamma: float
    b: float
    alpha: float
    a: float
    theta: float
    d: float

    @property
    def placement(self) -> Frame:
        """The joint frame, which is the child's frame at q = 0, seen from the parent."""
        x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
        normal = Frame.turn(z, self.gamma) @ Frame.shift(z=self.b)
        other_axis = Frame.turn(x, self.alpha) @ Frame.shift(x=self.a)
        return normal @ other_axis @ Frame.turn(z, self.theta) @ Frame.shift(z=self.d)


@dataclass(frozen=True)
class ModifiedDH:
    """A robot in modified Denavit-Hartenberg frames: one row per joint of ``robot``, in the order of its joints.

    ``original`` is the robot it came from, numeric and merged; ``frames`` are the new frames of its links, each seen
    from the original one.
    """

    rows: tuple[Row, ...]
    robot: Robot
    original: Robot
    frames: tuple[Frame, ...]

    def restore(self) -> Robot:
        """``robot``, with whatever parameters it has now, in the frames and axes of the original."""
        bodies = zip(self.robot.links, self.frames, strict=True)
        loops = zip(self.robot.loops, self.original.loops, strict=True)
        return replace(
            self.robot,
            links=tuple(replace(link, inertia=link.inertia.seen_from(frame)) for link, frame in bodies),
            joints=tuple(map(_with_geometry, self.robot.joints, self.original.joints)),
            loops=tuple(Loop(_with_geometry(loop.joint, old.joint)) for loop, old in loops),
            markers=self.original.markers,
        )


def to_modified_dh(robot: Robot) -> ModifiedDH:
    """Modified Denavit-Hartenberg frames for a robot with numeric lengths, its fixed joints merged."""
    original = robot.numeric.merged
    tol = TOLERANCE * _largest_offset(original)
    axes: dict[str, _Axis] = {}  # a link's own axis and that of its first child, in its original frame
    below: dict[str, _Axis] = {}
    for joint in reversed(original.movable):  # tips first, and of siblings the first one last
        axes[joint.child] = _axis(joint, below.get(joint.child))
        below[joint.parent] = axes[joint.child].seen_from(joint.placement @ joint.seat)
    frames = {original.base.name: IDENTITY}
    table: list[Row] = []
    for joint in original.joints:
        # The child's original frame at q = 0, seen from the parent's new one.
        above = frames[joint.parent].inverse() @ joint.placement @ joint.seat
        frame = IDENTITY
        if joint.moves:
            frame = _frame(joint, above, axes[joint.child], below.get(joint.child), tol)
        frames[joint.child] = frame
        table.append(_row(joint, above @ frame, tol))
    moved = reframed(original, frames)
    joints = tuple(
        replace(joint, placement=row.placement, axis=(0.0, 0.0, 1.0), seat=IDENTITY)
        for joint, row in zip(moved.joints, table, strict=True)
    )
    return ModifiedDH(tuple(table), replace(moved, joints=joints), original, tuple(frames.values()))


@dataclass(frozen=True)
class _Axis:
    """A joint's axis at q = 0: its direction, a point on it, and the origin of its link's frame.

    ``point`` is None for a prismatic axis that nothing behind it places, ``origin`` is None where parents decide it.
    """

    z: Vec3
    point: Vec3 | None
    origin: Vec3 | None

    def seen_from(self, frame: Frame) -> _Axis:
        """This axis in frame A, given the present frame seen from A."""
        h = frame.matrix
        point, origin = (None if p is None else h[:3, :3] @ p + h[:3, 3] for p in (self.point, self.origin))
        return _Axis(h[:3, :3] @ self.z, point, origin)


def _axis(joint: Joint, below: _Axis | None) -> _Axis:
    """A joint's own axis in the original frame of its child."""
    moved = joint.seat.inverse().matrix
    z, point = moved[:3, :3] @ np.array(joint.axis), moved[:3, 3]
    z /= np.linalg.norm(z)
    revolute = joint.kind is JointKind.REVOLUTE
    if below is None or below.point is None:
        return _Axis(z, point if revolute else None, None)
    if revolute:
        return _Axis(z, point, _foot(z, point, below.z, below.point))
    origin = _nearest(below.z, below.point, point) if below.origin is None else below.origin
    return _Axis(z, origin, origin)


def _nearest(z: Vec3, point: Vec3, other: Vec3) -> Vec3:
    """The point of an axis nearest to another point."""
    nearest: Vec3 = point + z * (z @ (other - point))
    return nearest


def _foot(z: Vec3, point: Vec3, other_z: Vec3, other_point: Vec3) -> Vec3 | None:
    """Where the common normal with another axis meets an axis; None where that is not unique or far away."""
    normal = np.cross(z, other_z)
    if np.linalg.norm(normal) <= NEARLY_PARALLEL:
        return None
    foot: Vec3 = point + z * (np.cross(other_point - point, other_z) @ normal / (normal @ normal))
    return foot


def _frame(joint: Joint, above: Frame, axis: _Axis, below: _Axis | None, tol: float) -> Frame:
    """The new frame of a joint's child seen from the original one; ``above``: the latter from the parent's new one."""
    parent = above.inverse().matrix
    origin = _origin(axis, parent[:3, 2], parent[:3, 3])
    x = None if below is None else _normal(axis.z, origin, below, tol)
    if x is None:
        some_x = parent[:3, 0] if abs(parent[:3, 0] @ axis.z) < 0.9 else parent[:3, 1]
        frame = _with_axes(origin, some_x, axis.z)
        return frame @ Frame.turn((0.0, 0.0, 1.0), -_row(joint, above @ frame, tol).theta)
    frame = _with_axes(origin, x, axis.z)
    return frame if abs(_row(joint, above @ frame, tol).theta) <= QUARTER_TURN else _with_axes(origin, -x, axis.z)


def _origin(axis: _Axis, parent_z: Vec3, parent_origin: Vec3) -> Vec3:
    """What the first child decided, else the foot of the normal from the parent's z, else level with the parent."""
    if axis.origin is not None:
        return axis.origin
    if axis.point is None:
        return parent_origin
    foot = _foot(axis.z, axis.point, parent_z, parent_origin)
    return _nearest(axis.z, axis.point, parent_origin) if foot is None else foot


def _normal(z: Vec3, origin: Vec3, below: _Axis, tol: float) -> Vec3 | None:
    """The direction of x in the preferred sense; None where the child's axis does not give one."""
    offset = np.zeros(3) if below.point is None else below.point - origin
    normal = np.cross(z, below.z)
    sine = float(np.linalg.norm(normal))
    if sine > NEARLY_PARALLEL:
        return np.divide(normal, -sine if offset @ normal < -tol * sine else sine)
    across = offset - z * (z @ offset)
    length = float(np.linalg.norm(across))
    return np.divide(across, length) if sine <= TOLERANCE and length > tol else None


def _with_axes(origin: Vec3, x: Vec3, z: Vec3) -> Frame:
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return Frame(to_vector(origin + 0.0), to_rows(np.column_stack([np.cross(y, z), y, z]) + 0.0))  # + 0.0: no -0.0


def _row(joint: Joint, frame: Frame, tol: float) -> Row:
    """The row of a placement, the better of two: its normal has two senses."""
    (r11, r12, r13), (r21, r22, r23), (_, _, r33) = frame.rotation
    x, y, z = to_vector(frame.matrix[:3, 3])
    parallel = math.hypot(r13, r23) <= TOLERANCE
    normal = math.atan2(r13, -r23) if not parallel else math.atan2(y, x) if abs(y) > tol else 0.0
    found: list[Row] = []
    for gamma in (_angle(normal), _angle(normal + math.pi)):
        c, s = cos_sin(gamma)
        a, across = c * x + s * y, c * y - s * x
        theta = math.atan2(-c * r12 - s * r22, c * r11 + s * r21)
        if parallel:
            alpha, d, b = (0.0, z, 0.0) if r33 > 0.0 else (math.pi, -z, 0.0)
        else:
            sine = s * r13 - c * r23
            alpha, d = math.atan2(sine, r33), -across / sine
            b = z - r33 * d
        b, a, d = (0.0 if abs(length) <= tol else length for length in (b, a, d))
        found.append(Row(joint.name, joint.parent, joint.kind, gamma, b, _angle(alpha), a, _angle(theta), d))
    return min(found, key=lambda row: (abs(row.gamma) > QUARTER_TURN, row.a < 0.0, row.alpha < 0.0))


def _angle(value: float) -> float:
    """An angle in (-pi, pi], exact at multiples of pi/6."""
    value = math.remainder(value, 2 * math.pi)
    k = round(value / (math.pi / 6))
    if abs(value - k * (math.pi / 6)) > EXACT_ANGLE:
        return value
    return math.pi if k == -6 else k * (math.pi / 6)


def _largest_offset(robot: Robot) -> float:
    offsets = [math.hypot(*f.matrix[:3, 3]) for joint in robot.joints for f in (joint.placement, joint.seat)]
    largest = max(offsets, default=0.0) or 1.0
    if largest > LARGEST:
        raise RobotError(
            f"robot {robot.name!r} has links {largest:.3g} m apart, too far to compute with; give lengths in metres"
        )
    return largest


def _with_geometry(joint: Joint, old: Joint) -> Joint:
    return replace(joint, placement=old.placement, axis=old.axis, seat=old.seat)

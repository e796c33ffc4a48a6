"""Modified Denavit-Hartenberg frames of any tree, after Khalil and Kleinfinger.

Every joint rotates about or slides along the z axis of the frame of its child link. Six numbers, called a row,
describe the joint::

    placement = Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(d),   then Rz(q) or Tz(q)

Reference     Khalil, Kleinfinger 1986, "A new geometric notation for open and closed-loop robots"; Craig, "Introduction
              to Robotics", for chains (gamma = b = 0). [lin1995] writes b_i, beta_i for a, alpha of row i.
Accepts       every tree; loops stay cut joints between the new frames; loads keep their frames, in fixed rows
Notation      z       axis of the joint that moves the link
              x       common normal from z to the axis of the first movable child
              origin  origin of the link frame: the foot of the common normal on z

The axes do not determine the frames completely. The remaining choices are:

- The base keeps its frame. The rows of its children, and of second and further children of other links, use gamma and
  b.
- q keeps its sense: z points along the axis of the joint. x has two possible directions. Preferred is the direction
  in which theta and gamma are at most a quarter turn. If this is true of both directions, the one with a > 0 is
  preferred or, if a = 0, the one with alpha > 0.
- A link without movable children has theta = d = 0.
- If the axes of a revolute link and its first child are parallel, d = 0 in the row of the link; if the axes coincide,
  theta = 0, too. Rows of parallel axes have b = 0.
- The position of a prismatic axis is arbitrary. The link frame has the origin of its first child's frame (a = d = 0 in
  the row of the child). If only prismatic joints follow, the link frame has the origin of its parent's frame.
- If the axis of the first child is nearly parallel to z (TOLERANCE < sin alpha <= NEARLY_PARALLEL_SINE, as in
  calibrated arms), the foot of the normal is far outside the robot, and inertias about this foot are inaccurate. The
  link is therefore treated like a link without children. Rows of nearly parallel axes use gamma, b and d and are
  accurate to about 1e-16 m / alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ytheta.errors import RobotError
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.frame import IDENTITY, Frame, cos_sin, to_rows, to_vector
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float

Vec3: TypeAlias = Float[np.ndarray, "3"]

# Largest sine of the angle between axes that count as parallel. It is also the ratio of a length to the largest
# offset of the robot; below this ratio, the length counts as zero. Chosen on: reasoning, far above rounding errors.
TOLERANCE = 1e-9
# Largest sine of the angle between nearly parallel axes, as in calibrated arms; the foot of their common normal is
# far outside the robot. Chosen on: rule of thumb.
NEARLY_PARALLEL_SINE = 1e-2
# Distance (rad) of an angle from a multiple of pi/6; below it, the angle becomes that multiple. Chosen on: reasoning,
# just above rounding errors.
ANGLE_TOLERANCE = 1e-12
MAX_PREFERRED_ANGLE = math.pi / 2 + TOLERANCE  # rad; largest preferred theta and gamma
# Largest offset (m); inertias contain fourth powers of lengths, which must not overflow. Chosen on: reasoning.
MAX_OFFSET = 1e60


@dataclass(frozen=True)
class Row:
    """The modified Denavit-Hartenberg parameters of one joint; see the module docstring."""

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


@dataclass(frozen=True, repr=False)
class ModifiedDH:
    """A robot in modified Denavit-Hartenberg frames: one row for each joint of ``robot``, in the same order.

    ``original`` is the robot in its original frames, numeric and with fixed links merged. ``frames`` are the new link
    frames, each seen from the original one.
    """

    rows: tuple[Row, ...]
    robot: Robot
    original: Robot
    frames: tuple[Frame, ...]

    def __repr__(self) -> str:
        return f"ModifiedDH({len(self.rows)} rows of {self.robot!r})"

    def restore(self) -> Robot:
        """Return ``robot``, with its present parameters, in the frames and axes of the original."""
        bodies = zip(self.robot.links, self.frames, strict=True)
        loops = zip(self.robot.loops, self.original.loops, strict=True)
        return replace(
            self.robot,
            links=tuple(replace(link, inertia=link.inertia.seen_from(frame), zero=()) for link, frame in bodies),
            joints=tuple(map(_copy_geometry, self.robot.joints, self.original.joints)),
            loops=tuple(Loop(_copy_geometry(loop.joint, original.joint)) for loop, original in loops),
            markers=self.original.markers,
        )


def to_modified_dh(robot: Robot) -> ModifiedDH:
    """Convert a robot to modified Denavit-Hartenberg frames. Lengths become numbers, and fixed links are merged."""
    check_is_robot(robot)
    refuse_floating_base(robot, "a table of Denavit-Hartenberg parameters")
    original = robot.numeric.merged
    tol = TOLERANCE * _find_largest_offset(original)
    axes: dict[str, _Axis] = {}  # the axis of each link's joint, in the original frame of the link
    below: dict[str, _Axis] = {}  # the axis of the joint of each link's first child, in the same frame
    for joint in reversed(
        original.movable
    ):  # from the tips; the first of several siblings comes last and overwrites the others
        axes[joint.child] = _find_axis(joint, below.get(joint.child))
        below[joint.parent] = axes[joint.child].seen_from(joint.placement @ joint.seat)
    frames = {original.base.name: IDENTITY}
    table: list[Row] = []
    for joint in original.joints:
        # The original frame of the child at q = 0, seen from the new frame of the parent.
        above = frames[joint.parent].inverse() @ joint.placement @ joint.seat
        frame = IDENTITY
        if joint.moves:
            frame = _choose_frame(joint, above, axes[joint.child], below.get(joint.child), tol)
        frames[joint.child] = frame
        table.append(_compute_row(joint, above @ frame, tol))
    reframed = change_link_frames(original, frames)
    joints = tuple(
        replace(joint, placement=row.placement, axis=(0.0, 0.0, 1.0), seat=IDENTITY)
        for joint, row in zip(reframed.joints, table, strict=True)
    )
    return ModifiedDH(tuple(table), replace(reframed, joints=joints), original, tuple(frames.values()))


@dataclass(frozen=True)
class _Axis:
    """The axis of a joint at q = 0: its direction, a point on it, and the origin of the link frame.

    ``point`` is None for a prismatic axis if only prismatic joints follow. ``origin`` is None if the parent determines
    the origin.
    """

    z: Vec3
    point: Vec3 | None
    origin: Vec3 | None

    def seen_from(self, frame: Frame) -> _Axis:
        """Return this axis in another frame A; ``frame`` is the present frame seen from A."""
        h = frame.matrix
        point, origin = (None if p is None else h[:3, :3] @ p + h[:3, 3] for p in (self.point, self.origin))
        return _Axis(h[:3, :3] @ self.z, point, origin)


def _find_axis(joint: Joint, below: _Axis | None) -> _Axis:
    """Return the axis of a joint in the original frame of its child link; ``below`` is the axis of the first child."""
    moved_frame = joint.seat.inverse().matrix
    z, point = moved_frame[:3, :3] @ np.array(joint.axis), moved_frame[:3, 3]
    z /= np.linalg.norm(z)
    revolute = joint.kind is JointKind.REVOLUTE
    if below is None or below.point is None:
        return _Axis(z, point if revolute else None, None)
    if revolute:
        return _Axis(z, point, _find_foot(z, point, below.z, below.point))
    origin = _project(below.z, below.point, point) if below.origin is None else below.origin
    return _Axis(z, origin, origin)


def _project(z: Vec3, point: Vec3, other: Vec3) -> Vec3:
    """Project another point onto an axis."""
    projection: Vec3 = point + z * (z @ (other - point))
    return projection


def _find_foot(z: Vec3, point: Vec3, other_z: Vec3, other_point: Vec3) -> Vec3 | None:
    """Return the foot of the common normal with another axis; None if the axes are parallel or nearly so."""
    normal = np.cross(z, other_z)
    if np.linalg.norm(normal) <= NEARLY_PARALLEL_SINE:
        return None
    foot: Vec3 = point + z * (np.cross(other_point - point, other_z) @ normal / (normal @ normal))
    return foot


def _choose_frame(joint: Joint, above: Frame, axis: _Axis, below: _Axis | None, tol: float) -> Frame:
    """Return the new frame of the child link, seen from its original frame.

    ``above`` is the original frame of the child link, seen from the new frame of its parent.
    """
    parent = above.inverse().matrix
    origin = _choose_origin(axis, parent[:3, 2], parent[:3, 3])
    x = None if below is None else _choose_x(axis.z, origin, below, tol)
    if x is None:
        some_x = parent[:3, 0] if abs(parent[:3, 0] @ axis.z) < 0.9 else parent[:3, 1]
        frame = _build_frame(origin, some_x, axis.z)
        return frame @ Frame.turn((0.0, 0.0, 1.0), -_compute_row(joint, above @ frame, tol).theta)
    frame = _build_frame(origin, x, axis.z)
    theta = _compute_row(joint, above @ frame, tol).theta
    return frame if abs(theta) <= MAX_PREFERRED_ANGLE else _build_frame(origin, -x, axis.z)


def _choose_origin(axis: _Axis, parent_z: Vec3, parent_origin: Vec3) -> Vec3:
    """Return the origin of a link frame.

    If the first child does not determine the origin, the foot of the normal to the parent's z axis is returned. If
    these axes are nearly parallel, the point nearest to the parent's origin is returned.
    """
    if axis.origin is not None:
        return axis.origin
    if axis.point is None:
        return parent_origin
    foot = _find_foot(axis.z, axis.point, parent_z, parent_origin)
    return _project(axis.z, axis.point, parent_origin) if foot is None else foot


def _choose_x(z: Vec3, origin: Vec3, below: _Axis, tol: float) -> Vec3 | None:
    """Return the direction of x, in the preferred sense; None if the axis of the first child does not determine x."""
    offset = np.zeros(3) if below.point is None else below.point - origin
    normal = np.cross(z, below.z)
    sine = float(np.linalg.norm(normal))
    if sine > NEARLY_PARALLEL_SINE:
        return np.divide(normal, -sine if offset @ normal < -tol * sine else sine)
    across = offset - z * (z @ offset)
    length = float(np.linalg.norm(across))
    return np.divide(across, length) if sine <= TOLERANCE and length > tol else None


def _build_frame(origin: Vec3, x: Vec3, z: Vec3) -> Frame:
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return Frame(to_vector(origin + 0.0), to_rows(np.column_stack([np.cross(y, z), y, z]) + 0.0))  # + 0.0: no -0.0


def _compute_row(joint: Joint, frame: Frame, tol: float) -> Row:
    """Return the preferred one of the two rows of a placement, which differ in the sense of the normal."""
    (r11, r12, r13), (r21, r22, r23), (_, _, r33) = frame.rotation
    x, y, z = to_vector(frame.matrix[:3, 3])
    parallel = math.hypot(r13, r23) <= TOLERANCE
    normal = math.atan2(r13, -r23) if not parallel else math.atan2(y, x) if abs(y) > tol else 0.0
    candidates: list[Row] = []
    for gamma in (_wrap_angle(normal), _wrap_angle(normal + math.pi)):
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
        candidates.append(
            Row(joint.name, joint.parent, joint.kind, gamma, b, _wrap_angle(alpha), a, _wrap_angle(theta), d)
        )
    return min(candidates, key=lambda row: (abs(row.gamma) > MAX_PREFERRED_ANGLE, row.a < 0.0, row.alpha < 0.0))


def _wrap_angle(value: float) -> float:
    """Return an angle in (-pi, pi], exact at multiples of pi/6."""
    value = math.remainder(value, 2 * math.pi)
    k = round(value / (math.pi / 6))
    if abs(value - k * (math.pi / 6)) > ANGLE_TOLERANCE:
        return value
    return math.pi if k == -6 else k * (math.pi / 6)


def _find_largest_offset(robot: Robot) -> float:
    offsets = [math.hypot(*f.matrix[:3, 3]) for joint in robot.joints for f in (joint.placement, joint.seat)]
    largest = max(offsets, default=0.0) or 1.0
    if largest > MAX_OFFSET:
        raise RobotError(
            f"robot {robot.name!r} has an offset of {largest:.3g} m, which is too large to compute with; "
            "give lengths in metres"
        )
    return largest


def _copy_geometry(joint: Joint, original: Joint) -> Joint:
    return replace(joint, placement=original.placement, axis=original.axis, seat=original.seat)

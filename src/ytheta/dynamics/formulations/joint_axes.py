"""Joint axes described by their common normals, and the possible rotation of the bodies behind them.

Reference     [lin1995] sec. II: r is the first revolute joint, s the first revolute joint that is not parallel to it
Accepts       trees of revolute and prismatic joints; loads
Notation      code      paper      meaning                                                         frame
              foot      b_i        point of axis i on the common normal with the axis before it    parent
              d         d_i        distance along z from the foot to the origin of frame i
              u         u_r        constant direction that a body in PLANAR rotation rotates about i
              H                    pose of frame i in the frame of the parent, at q = 0
Differs from  the paper in: trees; any joint frames, converted to modified Denavit-Hartenberg frames (``modified_dh``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ytheta.robot.frame import Frame, cos_sin
from ytheta.robot.modified_dh import NEARLY_PARALLEL_SINE, Row, to_modified_dh
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Matrix4, Vector3

# Smallest ratio of a value to the sum of the magnitudes of its terms; below it, the value is set to 0.
# Chosen on: rule of thumb.
ROUNDING_TOLERANCE = 5e-15

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class RotationKind(StrEnum):
    """How a body can rotate: not at all (i < r in the paper), about one direction (r <= i < s), or about any."""

    NONE = "none"
    PLANAR = "planar"
    SPATIAL = "spatial"


@dataclass(frozen=True, eq=False)
class JointAxis:
    """A joint: placement = shift(foot) Rz(gamma) Rx(alpha) Rz(offset) shift(z=d), which is H at q = 0.

    ``accelerates_across``: whether the body can be accelerated perpendicular to ``u`` (delta_j in item 1 of Theorem 2).
    ``base_acceleration``: minus gravity, in axes after Rx(alpha), for joints on the base; zero for the others.
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
    rotation: RotationKind
    u: Vector3 | None
    accelerates_across: bool
    base_acceleration: Vector3


def compute_joint_axes(robot: Robot, *, keeps_offsets: bool = False) -> tuple[list[JointAxis], list[Matrix4]]:
    """Compute the axes, and the pseudo-inertias of the links behind them, loads included.

    If ``keeps_offsets`` is false, d of a revolute joint on a body in planar rotation is zero, and ``foot`` is the
    origin of its frame.
    """
    table = to_modified_dh(robot)
    frames = dict(zip((link.name for link in table.original.links), table.frames, strict=True))
    size = max((float(np.linalg.norm(row.placement.matrix[:3, 3])) for row in table.rows), default=0.0)
    gravity = np.array(table.original.gravity_in_base)
    index: dict[str, int] = {}
    axes: list[JointAxis] = []
    inertias: list[Matrix4] = []
    load_poses: dict[str, Matrix4] = {}  # of loads in the frames of the axes that carry them, since loads carry loads
    for row, joint, link in zip(table.rows, table.original.joints, table.robot.links[1:], strict=True):
        H = (frames[joint.parent].inverse() @ joint.placement @ joint.seat @ frames[joint.child]).matrix
        H = load_poses.get(joint.parent, np.eye(4)) @ H
        parent = index.get(joint.parent)
        if joint.moves:
            revolute = joint.kind is JointKind.REVOLUTE
            gamma, alpha, offset, d = _compute_angles_and_offset(row, H)
            planar_parent = parent is not None and axes[parent].rotation is not RotationKind.SPATIAL
            if revolute and planar_parent and not keeps_offsets:
                d = 0.0  # two columns of a planar parent's Omega need fewer operations than one of the child's Omega
            foot = remove_rounding(H[:3, 3] - d * H[:3, 2], 10.0 * size)
            base_acceleration = np.zeros(3)
            if parent is None:
                R = (Frame.turn(Z, gamma) @ Frame.turn(X, alpha)).matrix[:3, :3]
                base_acceleration = remove_rounding(-R.T @ gravity, 10.0 * float(np.linalg.norm(gravity)))
            rotation, u, across = _classify_rotation([*_list_path(axes, parent), (revolute, foot, H)], gravity)
            index[joint.child] = len(axes)
            number = table.original.movable.index(joint)
            angles = (gamma, alpha, offset)
            axes.append(
                JointAxis(parent, number, revolute, *angles, foot, d, H, rotation, u, across, base_acceleration)
            )
            inertias.append(link.inertia.pseudo)
        elif parent is not None:
            index[joint.child], load_poses[joint.child] = parent, H
            inertias[parent] = inertias[parent] + H @ link.inertia.pseudo @ H.T
    return axes, inertias


def list_angle_offsets(axes: Sequence[JointAxis]) -> Float[np.ndarray, " joints"]:
    """Constant angles to be added to q, in the order of the joints."""
    offsets = np.zeros(len(axes))
    for axis in axes:
        offsets[axis.joint] = axis.offset if axis.revolute else 0.0
    return offsets


def remove_rounding(values: np.ndarray, size: np.ndarray | float) -> np.ndarray:
    """Set entries that are only rounding errors to zero. ``size`` is the sum of the magnitudes of their terms."""
    return np.where(abs(values) <= ROUNDING_TOLERANCE * size, 0.0, values)


def _compute_angles_and_offset(row: Row, H: Matrix4) -> tuple[float, float, float, float]:
    """gamma, alpha, offset and d. Nearly parallel axes have d = 0, because their common normal is far away."""
    d = 0.0 if 0.0 < abs(cos_sin(row.alpha)[1]) <= NEARLY_PARALLEL_SINE else row.d
    R = Frame.turn(Z, row.gamma) @ Frame.turn(X, row.alpha) @ Frame.turn(Z, row.theta)
    if abs(R.matrix - H)[:3, :3].max() <= 10 * ROUNDING_TOLERANCE:
        return row.gamma, row.alpha, row.theta, d
    # The angles of the row are rounded more coarsely than is allowed here. If the sine is small, gamma is inaccurate;
    # theta is computed with this gamma and compensates for the error of gamma.
    sine = math.hypot(H[0, 2], H[1, 2])
    parallel = sine <= ROUNDING_TOLERANCE
    gamma = row.gamma if parallel else math.atan2(H[0, 2], -H[1, 2])
    c, s = math.cos(gamma), math.sin(gamma)
    theta = math.atan2(-c * H[0, 1] - s * H[1, 1], c * H[0, 0] + s * H[1, 0])
    alpha = (0.0 if H[2, 2] > 0.0 else math.pi) if parallel else math.atan2(sine, H[2, 2])
    return gamma, alpha, theta, 0.0


def _list_path(axes: Sequence[JointAxis], last: int | None) -> list[tuple[bool, Vector3, Matrix4]]:
    """(revolute, foot, H) of the axes from the base to a body."""
    steps: list[tuple[bool, Vector3, Matrix4]] = []
    while last is not None:
        axis = axes[last]
        steps.append((axis.revolute, axis.foot, axis.H))
        last = axis.parent
    return steps[::-1]


def _classify_rotation(
    steps: Sequence[tuple[bool, Vector3, Matrix4]], gravity: Vector3
) -> tuple[RotationKind, Vector3 | None, bool]:
    """The rotation of the last body of a path, its direction u, and whether the body can be accelerated across u.

    All vectors are in base axes at q = 0. This is enough, because the directions that are compared are constant.
    """
    R, u, rotation = np.eye(3), None, RotationKind.NONE
    accelerations = [gravity]
    for revolute, foot, H in steps:
        if u is not None:
            accelerations.append(R @ foot)
        R = R @ H[:3, :3]
        if not revolute:
            accelerations.append(R[:, 2])
        elif u is None:
            u, rotation = R[:, 2], RotationKind.PLANAR
        elif np.linalg.norm(np.cross(u, R[:, 2])) > 10 * ROUNDING_TOLERANCE:
            return RotationKind.SPATIAL, None, True
    if u is None:
        return rotation, None, True
    across = any(np.linalg.norm(np.cross(u, a)) > 10 * ROUNDING_TOLERANCE * np.linalg.norm(a) for a in accelerations)
    direction = remove_rounding(R.T @ u, 10.0)
    near_one = abs(abs(direction) - 1.0) <= 10 * ROUNDING_TOLERANCE
    return rotation, np.where(near_one, np.sign(direction), direction), across

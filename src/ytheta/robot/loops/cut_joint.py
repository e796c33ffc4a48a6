"""Cut joints: residual, position and rate of the joint at which a loop is cut, for scalars of any kind.

A cut joint has two sides: one frame on its parent link and one on its child link. The poses of both frames are computed
relative to the shared link, the last link that is on the paths from the base to both parent and child. Joints before
the shared link have no influence. The relative pose of both frames is described by::

    separation  origin of the child's frame minus origin of the parent's frame, in the axes of the shared link
    shift       the same vector in the axes of the parent's frame
    rotation    child's frame relative to the parent's frame; in a closed loop, this is the motion of the cut joint

The residual of a loop vanishes if and only if the loop is closed. Let a be the axis of the joint, (a, b1, b2) an
orthonormal basis, and n and angle the axis and the angle of ``rotation``. The entries of the residual are::

    point       separation
    revolute    separation, (a, b1, b2) · (rotation a - a)
    prismatic   (b1, b2) · shift, n sin(angle), 1 - cos(angle)
    fixed       separation, n sin(angle), 1 - cos(angle)

The norm of the residual is called the gap of the loop (metres and radians). The residual has more entries than the
joint has constraints. The entry along a and the entry with the cosine have a zero gradient at closed poses. They are
needed because all other entries vanish also at half turns that the joint does not allow. In planar loops, further
entries are redundant.

Joint positions q, their cosines and their sines are arrays of floats or complex numbers with any leading axes, or
object arrays of CasADi or SymPy scalars without leading axes.

Reference     [walker1988] sec. 2.3, (8), (9): the loop closure equations
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.robot.frame import IDENTITY_ROTATION, ORIGIN, Frame
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    AnyBatchByJoint,
    AnyBatchOfMatrix3,
    AnyBatchOfVector3,
    AnyPerJoint,
    Matrix3,
    Shaped,
    Vector3,
)

_XYZ, _YZX, _ZXY = [0, 1, 2], [1, 2, 0], [2, 0, 1]  # indices of matrix rows and columns


@dataclass(frozen=True, eq=False)
class CutJoint:
    """A cut joint at given joint positions. The module docstring defines ``separation``, ``shift`` and ``rotation``.

    ``axis`` is the joint's axis in the axes of the shared link. ``loop_axes`` maps the index in q of every revolute
    joint of the loop to the axis of that joint, also in the axes of the shared link. The axes of joints on the path to
    the parent are reversed.
    """

    joint: Joint
    separation: AnyBatchOfVector3
    shift: AnyBatchOfVector3
    rotation: AnyBatchOfMatrix3
    axis: AnyBatchOfVector3
    loop_axes: Mapping[int, AnyBatchOfVector3]

    @property
    def residual(self) -> Shaped[np.ndarray, "*batch equations"]:
        """The residual of the loop, which vanishes if and only if the loop is closed."""
        basis = _complete_basis(np.array(self.joint.axis))
        if self.joint.kind is JointKind.POINT:
            return self.separation
        if self.joint.kind is JointKind.REVOLUTE:
            tilt = self.rotation @ basis[0] @ basis.T - np.array([1.0, 0.0, 0.0])
            return np.concatenate([self.separation, tilt], axis=-1)
        turn = np.concatenate([0.5 * self._twice_sine, 1.0 - 0.5 * self._twice_cosine], axis=-1)
        distance = self.shift @ basis[1:].T if self.joint.kind is JointKind.PRISMATIC else self.separation
        return np.concatenate([distance, turn], axis=-1)

    @property
    def sine_cosine(self) -> tuple[Any, Any]:
        """Twice the sine and twice the cosine of the position of a revolute joint."""
        return self._twice_sine @ np.array(self.joint.axis), self._twice_cosine @ np.ones(1)

    @property
    def displacement(self) -> Any:
        """The position of a prismatic joint."""
        return self.shift @ np.array(self.joint.axis)

    def rate(self, joints: int) -> AnyPerJoint:
        """The row r such that r @ qd is the velocity of a revolute cut joint in a closed loop.

        The joint positions must have no leading axes.
        """
        row = np.zeros(joints, dtype=object)
        for k, axis in self.loop_axes.items():
            row[k] = self.axis @ axis
        return row

    @property
    def _twice_sine(self) -> AnyBatchOfVector3:
        """2 n sin(angle)."""
        difference: AnyBatchOfVector3 = self.rotation[..., _ZXY, _YZX] - self.rotation[..., _YZX, _ZXY]
        return difference

    @property
    def _twice_cosine(self) -> Shaped[np.ndarray, "*batch 1"]:
        """2 cos(angle) = trace - 1."""
        diagonal = self.rotation[..., _XYZ, _XYZ]
        return diagonal @ np.ones((3, 1)) - np.ones(1)


def locate_cut_joint(
    robot: Robot, loop: Loop, q: AnyBatchByJoint, cos: AnyBatchByJoint, sin: AnyBatchByJoint
) -> CutJoint:
    """The cut joint of a loop at positions q of ``robot.position_names``, with their cosines and sines."""
    joint = loop.joint
    paths = robot.path(joint.parent), robot.path(joint.child)
    shared = sum(a.name == b.name for a, b in zip(*paths, strict=False))
    indices = {name: k for k, name in enumerate(robot.position_names)}

    def follow(path: Iterable[Joint], last: Frame) -> tuple[AnyBatchOfMatrix3, AnyBatchOfVector3, dict[int, Any]]:
        """Rotation and origin of a frame on the last link of a path, and the axes of the path's revolute joints."""
        batch = q.shape[:-1]
        R, p = np.broadcast_to(np.eye(3), (*batch, 3, 3)), np.zeros((*batch, 3))
        axes = {}
        for step in path:
            R, p = _attach(R, p, step.placement)
            k, axis = indices.get(step.name), R @ np.array(step.axis)
            if k is not None and step.kind is JointKind.REVOLUTE:
                axes[k] = axis
                R = R @ _make_rotation(np.array(step.axis), cos[..., k, None, None], sin[..., k, None, None])
            elif k is not None:
                p = p + q[..., k, None] * axis
            R, p = _attach(R, p, step.seat)
        return *_attach(R, p, last), axes

    R1, p1, parent_axes = follow(paths[0][shared:], joint.placement)
    R2, p2, child_axes = follow(paths[1][shared:], joint.seat.inverse())
    separation = p2 - p1
    return CutJoint(
        joint,
        separation=separation,
        shift=(separation[..., None, :] @ R1)[..., 0, :],
        rotation=np.swapaxes(R1, -1, -2) @ R2,
        axis=R1 @ np.array(joint.axis),
        loop_axes={k: -axis for k, axis in parent_axes.items()} | child_axes,
    )


def _attach(R: AnyBatchOfMatrix3, p: AnyBatchOfVector3, frame: Frame) -> tuple[AnyBatchOfMatrix3, AnyBatchOfVector3]:
    """Rotation and origin of a frame that is fixed to the frame (R, p).

    Multiplications by an identity are skipped, because tracing them takes time.
    """
    if frame.translation != ORIGIN:
        p = p + R @ np.array(frame.translation)
    if frame.rotation != IDENTITY_ROTATION:
        R = R @ np.array(frame.rotation)
    return R, p


def _make_rotation(
    axis: Vector3, cos: Shaped[np.ndarray, "*batch 1 1"], sin: Shaped[np.ndarray, "*batch 1 1"]
) -> AnyBatchOfMatrix3:
    """The rotation about a unit axis."""
    outer = np.outer(axis, axis)
    rotation: AnyBatchOfMatrix3 = outer + cos * (np.eye(3) - outer) + sin * _skew(axis)
    return rotation


def _complete_basis(axis: Vector3) -> Matrix3:
    """An orthonormal basis, as rows, whose first vector is the unit vector ``axis``.

    If ``axis`` is a coordinate axis, so are the other two vectors.
    """
    cross = _skew(axis)
    normal = cross[:, np.argmin(np.abs(axis))]
    normal = normal / np.linalg.norm(normal)
    return np.stack([axis, normal, cross @ normal])


def _skew(vector: Vector3) -> Matrix3:
    """The matrix with skew(x) @ y = x × y; np.cross would dominate the computing time of small batches."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

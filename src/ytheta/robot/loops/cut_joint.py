"""Cut joints: residual, position and rate of the joint at which a loop was cut, for scalars of any kind.

Both sides of a cut joint are followed from the last link that they share, so that the joints before it do not occur::

    gap       origin of the child's side minus origin of the parent's side, in the axes of the shared link
    shift     the same vector in the axes of the parent's side
    rotation  of the child's side seen from the parent's side; the joint's own motion if the loop is closed

The residual of a loop vanishes if and only if the loop is closed. With the joint's axis a, two unit vectors b1, b2 that
complete it to an orthonormal basis, the angle of ``rotation``, and n the axis of that rotation::

    point       gap
    revolute    gap, (a, b1, b2) · (rotation a - a)
    prismatic   (b1, b2) · shift, n sin(angle), 1 - cos(angle)
    fixed       gap, n sin(angle), 1 - cos(angle)

Its norm is the distance that is left, in metres and radians. There are more entries than a joint has constraints: the
entry along a and the one with the cosine have no gradient at a closed pose, but exclude a joint that is turned over.
Planar loops make further entries redundant.

Positions q, with their cosines and sines, are floats or complex numbers with any leading axes, or an object array of
CasADi or SymPy scalars without leading axes.

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

_XYZ, _YZX, _ZXY = [0, 1, 2], [1, 2, 0], [2, 0, 1]  # indices


@dataclass(frozen=True, eq=False)
class CutJoint:
    """A cut joint at given joint positions; see the module docstring.

    ``axis`` is the joint's axis in the axes of the shared link. ``loop_axes`` are those of the loop's revolute joints,
    by their indices in q; the axes of joints on the parent's side are reversed.
    """

    joint: Joint
    gap: AnyBatchOfVector3
    shift: AnyBatchOfVector3
    rotation: AnyBatchOfMatrix3
    axis: AnyBatchOfVector3
    loop_axes: Mapping[int, AnyBatchOfVector3]

    @property
    def residual(self) -> Shaped[np.ndarray, "*batch equations"]:
        """Entries that all vanish if and only if the loop is closed."""
        basis = _complete_basis(np.array(self.joint.axis))
        if self.joint.kind is JointKind.POINT:
            return self.gap
        if self.joint.kind is JointKind.REVOLUTE:
            tilt = self.rotation @ basis[0] @ basis.T - np.array([1.0, 0.0, 0.0])
            return np.concatenate([self.gap, tilt], axis=-1)
        turn = np.concatenate([0.5 * self._twice_sine, 1.0 - 0.5 * self._twice_cosine], axis=-1)
        distance = self.shift @ basis[1:].T if self.joint.kind is JointKind.PRISMATIC else self.gap
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
        """A row over qd, without leading axes: the rate of a revolute joint is rate @ qd if the loop is closed."""
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
    """The cut joint of a loop, from the positions of the movable joints and their cosines and sines."""
    joint = loop.joint
    paths = robot.path(joint.parent), robot.path(joint.child)
    shared = sum(a.name == b.name for a, b in zip(*paths, strict=False))
    places = {movable.name: k for k, movable in enumerate(robot.movable)}

    def follow(path: Iterable[Joint], last: Frame) -> tuple[AnyBatchOfMatrix3, AnyBatchOfVector3, dict[int, Any]]:
        """Rotation and origin of a frame on the last link of a path, and the axes of its revolute joints."""
        batch = q.shape[:-1]
        R, p = np.broadcast_to(np.eye(3), (*batch, 3, 3)), np.zeros((*batch, 3))
        axes = {}
        for step in path:
            R, p = _attach(R, p, step.placement)
            k, axis = places.get(step.name), R @ np.array(step.axis)
            if k is not None and step.kind is JointKind.REVOLUTE:
                axes[k] = axis
                R = R @ _make_rotation(np.array(step.axis), cos[..., k, None, None], sin[..., k, None, None])
            elif k is not None:
                p = p + q[..., k, None] * axis
            R, p = _attach(R, p, step.seat)
        return *_attach(R, p, last), axes

    R1, p1, parent_axes = follow(paths[0][shared:], joint.placement)
    R2, p2, child_axes = follow(paths[1][shared:], joint.seat.inverse())
    gap = p2 - p1
    return CutJoint(
        joint,
        gap=gap,
        shift=(gap[..., None, :] @ R1)[..., 0, :],
        rotation=np.swapaxes(R1, -1, -2) @ R2,
        axis=R1 @ np.array(joint.axis),
        loop_axes={k: -axis for k, axis in parent_axes.items()} | child_axes,
    )


def _attach(R: AnyBatchOfMatrix3, p: AnyBatchOfVector3, frame: Frame) -> tuple[AnyBatchOfMatrix3, AnyBatchOfVector3]:
    """Rotation and origin of a frame that is fixed to the frame (R, p); tracing trivial products would cost time."""
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
    """An orthonormal basis as rows that starts with a unit axis; base vectors if the axis is a base vector."""
    cross = _skew(axis)
    normal = cross[:, np.argmin(np.abs(axis))]
    normal = normal / np.linalg.norm(normal)
    return np.stack([axis, normal, cross @ normal])


def _skew(vector: Vector3) -> Matrix3:
    """The matrix with skew(x) @ y = x × y. On small batches np.cross would take most of the time."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

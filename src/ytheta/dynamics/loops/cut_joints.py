"""Cut joints: what must vanish for a loop to close, and the position and rate of the joint at which it was cut.

Both sides of a cut joint are followed from the last link they share, so that joints before it do not occur at all. With
``one`` the parent's side of the joint and ``other`` the child's, seen from there (see ``robot.closure``)::

    gap  = place of other - place of one            in the axes of the shared link
    turn = rotation of other seen from one          the joint's own motion where the loop is closed

Reference     [walker1988] sec. 2.3, (8), (9): the loop closure equations; six or fewer of their entries are equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.newton_euler import pose
from ytheta.dynamics.mechanism import Mechanism, exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.shapes import AnyMatrix3, AnyVector3, Shaped

Pose = tuple[AnyMatrix3, AnyVector3]


@dataclass(frozen=True, eq=False)
class CutJoint:
    """A cut joint at a pose: the gap in the axes of the shared link, ``shift`` (the same gap) and ``turn`` in its own.

    ``rate`` is a row over qd: rate of the joint = rate @ qd, for revolute ones. It holds where the loop is closed.
    """

    joint: Joint
    gap: AnyVector3
    shift: AnyVector3
    turn: AnyMatrix3
    rate: Shaped[np.ndarray, "joints"]

    @property
    def equations(self) -> list[Any]:
        """Scalars that vanish, with independent gradients, where the loop is closed."""
        axis = exact_array(self.joint.axis)
        if self.joint.kind is JointKind.POINT:
            return list(self.gap)
        if self.joint.kind is JointKind.REVOLUTE:
            return [*self.gap, *dot(_across(axis), dot(self.turn, axis))]
        around = [self.turn[j, i] - self.turn[i, j] for i, j in ((1, 2), (2, 0), (0, 1))]
        if self.joint.kind is JointKind.PRISMATIC:
            return [*dot(_across(axis), self.shift), *around]
        return [*self.gap, *around]

    @property
    def misfit(self) -> list[Any]:
        """Scalars that vanish only where the loop is closed: no joint turned over, no redundant equation forgotten."""
        axis = exact_array(self.joint.axis)
        if self.joint.kind is JointKind.POINT:
            return list(self.gap)
        if self.joint.kind is JointKind.REVOLUTE:
            return [*self.gap, *(dot(self.turn, axis) - axis)]
        around = (self.turn - exact_array(np.eye(3).tolist())).ravel()
        if self.joint.kind is JointKind.PRISMATIC:
            return [*dot(_across(axis), self.shift), *around]
        return [*self.gap, *around]

    @property
    def sine_cosine(self) -> tuple[Any, Any]:
        """Twice the sine and twice the cosine of the position of a revolute joint."""
        turn = self.turn
        sine = array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return dot(exact_array(self.joint.axis)[None], sine)[0], turn[0, 0] + turn[1, 1] + turn[2, 2] - 1

    @property
    def along(self) -> Any:
        """The position of a prismatic joint."""
        return dot(exact_array(self.joint.axis)[None], self.shift)[0]


def cut_joint(mechanism: Mechanism, motion: Motion, loop: Loop) -> CutJoint:
    """One cut joint of a mechanism, its links and loops those of the merged robot."""
    joint = loop.joint
    index = {body.name: k for k, body in enumerate(mechanism.bodies)}
    sides = [mechanism.path(index[name]) if name in index else () for name in (joint.parent, joint.child)]
    shared = next((k for k, (a, b) in enumerate(zip(*sides, strict=False)) if a != b), min(map(len, sides)))
    (one_R, one_p), one_axes = _follow(mechanism, motion, sides[0][shared:], joint.placement)
    (other_R, other_p), other_axes = _follow(mechanism, motion, sides[1][shared:], joint.seat.inverse())
    gap = other_p - one_p
    rate = zeros(mechanism.joints)
    along = dot(one_R, exact_array(joint.axis))
    for sense, axes in ((-1, one_axes), (1, other_axes)):
        for k, axis in axes:
            rate[k] = dot(array([[sense]]), dot(along[None], axis))[0]
    return CutJoint(joint, gap, dot(one_R.T, gap), dot(one_R.T, other_R), rate)


def _follow(
    mechanism: Mechanism, motion: Motion, bodies: tuple[int, ...], last: Frame
) -> tuple[Pose, list[tuple[int, AnyVector3]]]:
    """The pose of a frame on the last of some bodies, and the axes of the revolute joints on the way to it."""
    R, p = exact_array(np.eye(3).tolist()), zeros(3)
    axes: list[tuple[int, AnyVector3]] = []
    for body in (mechanism.bodies[k] for k in bodies):
        if body.revolute and body.joint is not None:
            axes.append((body.joint, dot(R, dot(body.P, body.axis))))
        turn, place = pose(body, motion)
        R, p = dot(R, turn), p + dot(R, place)
    return (dot(R, exact_array(last.rotation)), p + dot(R, exact_array(last.translation))), axes


def _across(axis: AnyVector3) -> Shaped[np.ndarray, "2 3"]:
    """Two unit vectors across a unit axis: base vectors where the axis is one."""
    a = axis.astype(float)
    first = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    first /= np.linalg.norm(first)
    return exact_array([tuple(first.tolist()), tuple(np.cross(a, first).tolist())])

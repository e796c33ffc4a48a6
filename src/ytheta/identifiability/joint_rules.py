"""The rules of Theorem 2: which constants of the composite body behind a joint are identifiable.

Reference     [lin1995] sec. II, Theorem 2; the symbols and the proof of minimality are in ``lin``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import compute_joint_frames
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.vectors import dot, inner
from ytheta.robot.modified_dh import TOLERANCE
from ytheta.shapes import Float, Vector3

BASE_CONSTANTS = ("m", "kx", "ky", "kz", "U11", "U12", "U13", "U22", "U23", "U33")
REVOLUTE_CONSTANTS = ("U33", "U11-U22", "U12", "U13", "U23")


@dataclass(frozen=True, eq=False)
class JointRule:
    """The identifiable constants of the composite body behind one joint.

    ``names``: the constants as in Theorem 2, beginning with the one that multiplies qd^2. ``rotor_merges``: whether
    rotor inertia is identifiable only in a sum with that first constant. ``u_r`` is the axis of joint r in the joint
    frame. ``meeting`` is (r, s) if the first moment has no effect because all axes pass through the intersection of the
    axes of joints r and s; otherwise it is None.
    """

    names: tuple[str, ...]
    rotor_merges: bool
    u_r: Vector3
    meeting: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class JointAxes:
    """The joint frames R, o at q = 0 and gravity g, in base axes, as numbers.

    Angles up to ``tolerance`` (rad) and lengths up to ``tolerance * size`` (m) count as zero; ``size`` is the longest
    offset of the robot.
    """

    R: Float[np.ndarray, "links 3 3"]
    o: Float[np.ndarray, "links 3"]
    g: Vector3
    size: float
    tolerance: float

    @property
    def u(self) -> Float[np.ndarray, "links 3"]:
        """The joint axes."""
        return self.R[:, :, 2]

    def are_parallel(self, joints: Sequence[int]) -> bool:
        """Whether the axes of these joints are parallel to one another."""
        return all(np.linalg.norm(np.cross(self.u[joints[0]], self.u[k])) <= self.tolerance for k in joints)

    def are_perpendicular(self, joints: Sequence[int], j: int) -> bool:
        """Whether the axes of these joints are perpendicular to that of joint j."""
        return all(abs(self.u[k] @ self.u[j]) <= self.tolerance for k in joints)

    def pass_through(self, point: Vector3, joints: Sequence[int]) -> bool:
        """Whether the axes of these joints pass through a point."""
        return all(np.linalg.norm(np.cross(point - self.o[k], self.u[k])) <= self.tolerance * self.size for k in joints)

    def gravity_is_parallel(self, j: int) -> bool:
        """Whether gravity is parallel to the axis of joint j, or zero."""
        return bool(np.linalg.norm(np.cross(self.g, self.u[j])) <= self.tolerance * np.linalg.norm(self.g))

    def gravity_is_perpendicular(self, j: int) -> bool:
        """Whether gravity is perpendicular to the axis of joint j, or zero."""
        return bool(abs(self.g @ self.u[j]) <= self.tolerance * np.linalg.norm(self.g))


def find_joint_axes(mechanism: Mechanism, tolerance: float = TOLERANCE) -> JointAxes:
    """Return the joint axes of a mechanism with numerical geometry."""
    frames = compute_frames_at_zero(mechanism)
    R, o = (np.array([frame[k] for frame in frames], dtype=float) for k in (0, 1))
    return JointAxes(R, o, np.array(mechanism.gravity, dtype=float), find_longest_offset(mechanism), tolerance)


def apply_rules(mechanism: Mechanism, axes: JointAxes) -> Iterator[tuple[int, JointRule]]:
    """Yield the index and the rule of every body that a moving joint carries, and of a floating base.

    The angular velocity and the acceleration of a floating base are arbitrary. All constants of the base are therefore
    identifiable, and each joint has as many identifiable constants as behind two revolute joints that are not parallel.
    """
    for j, body in enumerate(mechanism.bodies):
        if body.free:
            yield j, JointRule(BASE_CONSTANTS, False, np.array([0.0, 0.0, 1.0]))
            continue
        if body.joint is not None and mechanism.robot.floating:
            names = (*REVOLUTE_CONSTANTS, "kx", "ky") if body.revolute else ("m", "kx", "ky", "kz")
            yield j, JointRule(names, False, np.array([0.0, 0.0, 1.0]))
            continue
        before = [k for k in mechanism.path(j)[:-1] if mechanism.bodies[k].joint is not None]
        revolute = [k for k in before if mechanism.bodies[k].revolute]
        prismatic = [k for k in before if not mechanism.bodies[k].revolute]
        if body.joint is not None:
            yield j, (_make_revolute_rule if body.revolute else _make_prismatic_rule)(axes, j, revolute, prismatic)


def _make_revolute_rule(axes: JointAxes, j: int, revolute: list[int], prismatic: list[int]) -> JointRule:
    rotor_merges = axes.are_parallel(revolute) and axes.are_perpendicular(revolute, j)
    u_r = axes.R[j].T @ axes.u[[*revolute, j][0]]
    if axes.are_parallel([*revolute, j]):  # item 1: r <= j < s
        at_rest = axes.are_parallel([*revolute, *prismatic, j]) and axes.pass_through(axes.o[j], revolute)
        delta = not (at_rest and axes.gravity_is_parallel(j))
        return JointRule(("U33", "kx", "ky") if delta else ("U33",), rotor_merges, u_r)
    meeting = None if prismatic or axes.g.any() else _find_meeting(axes, [*revolute, j])
    names = REVOLUTE_CONSTANTS if meeting else (*REVOLUTE_CONSTANTS, "kx", "ky")
    return JointRule(names, rotor_merges, u_r, meeting)  # item 2


def _make_prismatic_rule(axes: JointAxes, i: int, revolute: list[int], prismatic: list[int]) -> JointRule:
    u_r = axes.R[i].T @ axes.u[[*revolute, i][0]]
    if not axes.are_parallel(revolute):  # items 3 and 4: i > s
        return JointRule(("m", "kx", "ky", "kz"), False, u_r)
    sigma = not axes.are_parallel([*revolute, i])
    rotor_merges = not sigma and axes.are_perpendicular(prismatic, i) and axes.gravity_is_perpendicular(i)
    return JointRule(("m", "kappa1", "kappa2") if sigma else ("m",), rotor_merges, u_r)  # items 3 and 5: i < s


def _find_meeting(axes: JointAxes, joints: list[int]) -> tuple[int, int] | None:
    """Return (r, s) if the axes of all these joints meet in one point, else None."""
    r = joints[0]
    s = next(k for k in joints if not axes.are_parallel([r, k]))
    point = axes.o[s] - axes.u[s] * compute_height_above_meeting(axes.u, list(axes.o), r, s, s)
    return (r, s) if axes.pass_through(point, joints) else None


def compute_height_above_meeting(
    u: Float[np.ndarray, "links 3"], o: Sequence[np.ndarray], r: int, s: int, j: int
) -> Any:
    """Return the distance along the axis of joint j from the intersection of the axes of r and s to the origin of j."""
    normal = np.cross(u[r], u[s])
    # The inner product of ``along`` and the offset of s from r is the distance from r's origin to the intersection.
    along = np.cross(u[s], normal) / (normal @ normal)
    return inner(o[j] - o[r], u[j]) - inner(o[s] - o[r], along) * float(u[r] @ u[j])


def compute_frames_at_zero(mechanism: Mechanism) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the joint frames at q = 0: rotation and origin in base axes."""
    frames: list[tuple[np.ndarray, np.ndarray]] = []
    for body, (R, p) in zip(mechanism.bodies, compute_joint_frames(mechanism), strict=True):
        if body.parent is not None:
            R_parent, p_parent = frames[body.parent]
            R, p = dot(R_parent, R), p_parent + dot(R_parent, p)
        frames.append((R, p))
    return frames


def find_longest_offset(mechanism: Mechanism) -> float:
    """Return the longest offset of the geometry, the unit of length for tolerances; 1 if all offsets are zero."""
    offsets = (np.array(offset, dtype=float) for body in mechanism.bodies for offset in (body.p, body.s))
    return max((float(np.linalg.norm(offset)) for offset in offsets), default=0.0) or 1.0

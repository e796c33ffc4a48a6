"""Model of a serial arm in the minimal linear combinations of Lin's procedure.

Identity      w = M theta,   beta = C w,   tau_i = (v_i E_i) · w_i + phi_i
Reference     [lin1995] Theorem 2, (95), (96), (101), (102)
Notation      code   paper   meaning
              w_i    w_i     combinations of joint i, then the drive parameters that are not part of the combinations
              E_i    -       constants of body i per unit of each combination; other constants are zero
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS
from ytheta.dynamics.formulations.composite_bodies import compute_joint_frames
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.identifiability import lin
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parts import CURVE_PARAMETERS, Drive, compute_friction_factors, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    Float,
    JointsBySample,
    Matrix3,
    PerConstant,
    PerSample,
    SamplesByJoint,
    Vector3,
    Vector3BySample,
)

OTHER_ESTIMATORS = "use the estimator weighted, least-squares, sequential, huber or recursive"


@dataclass(frozen=True, eq=False)
class ArmJoint:
    """One joint; ``names`` are the names of w_i and end with those of the drive parameters ``drive``."""

    name: str
    frame: JointFrame
    names: tuple[str, ...]
    E: Float[np.ndarray, "constants combinations"]
    drive: tuple[str, ...]
    friction: Drive

    def compute_columns(
        self, body: BodyMotion, qd: PerSample, qdd: PerSample, direction: PerSample | None
    ) -> Float[np.ndarray, "columns samples"]:
        """Return the columns of A_i (107): those of the combinations, (109), then those of the drive's parameters."""
        own = self.E.T @ compute_constant_columns(self.frame, body)
        return np.concatenate([own, self.compute_drive_columns(qd, qdd, direction)])

    def compute_drive_columns(
        self,
        qd: PerSample,
        qdd: PerSample,
        direction: PerSample | None,
    ) -> Float[np.ndarray, "drive samples"]:
        """Return the columns of the drive's parameters; ``direction``: low-passed sign of velocity, None if unknown."""
        columns = dict(zip(CURVE_PARAMETERS, compute_friction_factors(self.friction, qd).T, strict=True))
        values = columns | {"Ia": qdd, "fo": np.ones_like(qd)}
        if direction is not None:
            values["fc"] = direction
        return np.array([values[p] for p in self.drive]).reshape(-1, len(qd))


@dataclass(frozen=True, eq=False)
class SerialArm:
    """A serial arm.

    Attributes
    ----------
    joints   the joints, from the base to the tip
    places   index of each joint in the columns of a log
    gravity  gravity in the frame of the base, in m/s²
    M, C     matrices of the module docstring
    """

    joints: tuple[ArmJoint, ...]
    places: list[int]
    gravity: Vector3
    M: Float[np.ndarray, "combinations params"]
    C: Float[np.ndarray, "base combinations"]

    @classmethod
    def of(cls, base: BaseParameters) -> SerialArm:
        """Create the arm; raise InputError if the procedure does not accept the robot."""
        robot = base.robot.numeric
        reason = explain_refusal(robot)
        if reason is not None:
            raise InputError(f"lin does not accept this robot: {reason}; {OTHER_ESTIMATORS}")
        rotors = any(name.endswith(".Ia") for name in base.selected)
        combinations = lin.find_minimal_combinations(robot, rotor_inertia=rotors)
        unit = dict(zip(robot.parameter_names, np.eye(len(robot.parameter_names)), strict=True))
        joints: list[ArmJoint] = []
        rows: list[np.ndarray] = []
        rotation, u_r = np.eye(3), None  # u_r: the first revolute axis, at q = 0
        frames = [frame for _, frame in _list_joint_frames(robot)]
        for joint, frame in zip(robot.merged.movable, frames, strict=True):
            rotation = rotation @ frame.R
            u_r = rotation[:, 2] if u_r is None and frame.revolute else u_r
            joint_rows = {each.constant: each.row for each in combinations if each.link == joint.child}
            separate = {p for p in ALL_JOINT_PARAMETERS[1:] if parameter_name(joint.name, p) in base.selected}
            if "fl" in separate:
                raise InputError(
                    f"lin does not accept load-dependent friction, such as that of {joint.name!r}, since it estimates "
                    f"joint by joint, and the torque on which this friction depends is not known; {OTHER_ESTIMATORS}"
                )
            separate |= {"Ia"} & {*joint_rows}
            drive = tuple(p for p in ALL_JOINT_PARAMETERS if p in separate)
            kinds = [name for name in joint_rows if name != "Ia"]
            E = _compute_constants_per_combination(frame, kinds, np.zeros(3) if u_r is None else rotation.T @ u_r)
            drive_names = [parameter_name(joint.name, p) for p in drive]
            names = (*(parameter_name(joint.child, kind) for kind in kinds), *drive_names)
            rows += [np.array(joint_rows[kind], dtype=float) for kind in kinds] + [unit[name] for name in drive_names]
            joints.append(ArmJoint(joint.name, frame, names, E, drive, joint.drive))
        M = np.array(rows)
        C = np.linalg.lstsq(M.T, base.K.T, rcond=None)[0].T
        if not np.allclose(C @ M, base.K, rtol=0.0, atol=1e-9 * abs(base.K).max()):
            raise InputError(f"the base parameters of {robot.name!r} are not those of Theorem 2; {OTHER_ESTIMATORS}")
        places = [robot.actuated.index(joint.name) for joint in joints]
        return cls(tuple(joints), places, np.array(robot.gravity_in_base), M, C)

    def propagate(
        self, q: SamplesByJoint, qd: SamplesByJoint, qdd: SamplesByJoint
    ) -> tuple[list[BodyMotion], JointsBySample, JointsBySample]:
        """Compute the motion of all bodies (step 1); return it with qd and qdd, in the order of the arm's joints."""
        q, qd, qdd = (np.ascontiguousarray(x[:, self.places].T) for x in (q, qd, qdd))
        return propagate_motion([joint.frame for joint in self.joints], self.gravity, q, qd, qdd), qd, qdd

    def find_slice(self, i: int) -> slice:
        """Return the slice of w that contains w_i."""
        first = sum(len(joint.names) for joint in self.joints[:i])
        return slice(first, first + len(self.joints[i].names))


def explain_refusal(robot: Robot) -> str | None:
    """Return the reason why the procedure does not accept the robot, or None if it does."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops, for which Theorem 2 has no rule"
    if robot.floating:
        return f"robot {robot.name!r} has a floating base, but the procedure is for serial arms"
    if robot.couplings:
        return (
            f"robot {robot.name!r} has a coupled joint, {robot.couplings[0].joint!r}, for which Theorem 2 has no rule"
        )
    if robot.motors:
        return f"robot {robot.name!r} has a motor that is not part of a joint, {robot.motors[0].name!r}"
    if robot.forces:
        return f"robot {robot.name!r} has a declared force, {robot.forces[0].name!r}, for which Theorem 2 has no rule"
    parents = [parent for parent, _ in _list_joint_frames(robot)]
    if len({*parents}) < len(parents):
        return f"robot {robot.name!r} has branches, but the procedure is for serial arms"
    return lin.explain_refusal(robot)


def _list_joint_frames(robot: Robot) -> list[tuple[int | None, JointFrame]]:
    """Return for every body with a joint the nearest ancestor with a joint, and the joint frame in that ancestor."""
    arm = build_mechanism(robot)
    placements = [(np.array(R, dtype=float), np.array(p, dtype=float)) for R, p in compute_joint_frames(arm)]
    frames: list[tuple[int | None, JointFrame]] = []
    for j, body in enumerate(arm.bodies):
        if body.joint is None:
            continue
        (R, p), parent = placements[j], body.parent
        while parent is not None and arm.bodies[parent].joint is None:
            R, p = placements[parent][0] @ R, placements[parent][1] + placements[parent][0] @ p
            parent = arm.bodies[parent].parent
        frames.append((parent, JointFrame(body.revolute, R, p)))
    return frames


def _compute_constants_per_combination(
    frame: JointFrame, kinds: list[str], u_r: Vector3
) -> Float[np.ndarray, "constants combinations"]:
    """Return E. Combinations equal constants, except for kappa_1 and kappa_2 of a prismatic joint between r and s."""
    constants = REVOLUTE_CONSTANTS if frame.revolute else PRISMATIC_CONSTANTS
    E = np.zeros((len(constants), len(kinds)))
    for column, kind in enumerate(kinds):
        if kind in constants:
            E[constants.index(kind), column] = 1.0
        else:
            E[1:, column] = compute_kappa_moment(u_r)[:, ("kappa1", "kappa2").index(kind)]
    return E


# Recursion for the torque of one joint from its minimal combinations and those of the joints outside it.
#
# Identity      tau_i = v_i · w_i + phi_i(w_{i+1}, …, w_n)
# Reference     [lin1995] (57)-(70), (94)-(99), (110)
# Accepts       serial arms of revolute and prismatic joints with any axes
# Notation      code      paper         meaning                                                    frame   shape
#               w, wd     omega_i       angular velocity and acceleration                          i       3 x samples
#               a         a_i - g       acceleration of the origin                                 i       3 x samples
#               foot, h   a*_i, h_i     a at displacement zero, and acceleration due to sliding    i       3 x samples
#               mu, zeta  mu, zeta      accumulated force and moment of the outer bodies           i       3 x samples
#               R, b      R, b_i        joint frame in the frame before it, at q = 0; its origin without sliding
#               d         d_i           displacement of a prismatic joint                                  samples
#               fixed     D_i, D~_i     constant part of D; ``slides`` are the parts d_k W_k       i       3 x 3
#               G         G_m           part that the next revolute outer body takes from U_i (40) i       3 x 3
# Differs from  the paper in: joint frames have z along the axis and x in any direction, so that b is a vector; a
#               includes gravity from the start (76); joints before s do not need the formulas (77)-(90) and
#               (100)-(106): constants that occur in no combination are zero, and the vector k of a prismatic joint
#               between r and s is perpendicular to u_r and is computed from kappa_1 and kappa_2


REVOLUTE_CONSTANTS = ("kx", "ky", "U11-U22", "U33", "U12", "U13", "U23")  # (96)
PRISMATIC_CONSTANTS = ("m", "kx", "ky", "kz")  # (95)


@dataclass(frozen=True, eq=False)
class JointFrame:
    """The frame of a joint at q = 0, in the frame of the joint before it."""

    revolute: bool
    R: Matrix3
    p: Vector3

    @property
    def b(self) -> Vector3:
        """Origin without sliding: p; for a prismatic joint, the part of p that is perpendicular to the axis."""
        return self.p if self.revolute else self.p - self.R[:, 2] * (self.R[:, 2] @ self.p)

    def to_parent(self, body: BodyMotion, v: Vector3BySample) -> Vector3BySample:
        """Transform vectors from this frame to the frame of the joint before it."""
        return np.asarray(self.R @ (_rotate_about_z(v, body.cos, body.sin) if self.revolute else v))

    def from_parent(self, cos: PerSample, sin: PerSample, v: Vector3BySample) -> Vector3BySample:
        """Transform vectors to this frame from the frame of the joint before it."""
        rotated = self.R.T @ v
        return _rotate_about_z(rotated, cos, -sin) if self.revolute else rotated


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """The motion of one body; step 1 of the procedure."""

    cos: PerSample
    sin: PerSample
    d: PerSample
    w: Vector3BySample
    wd: Vector3BySample
    foot: Vector3BySample
    h: Vector3BySample
    a: Vector3BySample

    def times(self, v: np.ndarray) -> Vector3BySample:
        """Return Omega v (59)."""
        v = np.broadcast_to(v.reshape(3, -1), self.w.shape)
        return _cross(self.wd, v) + _cross(self.w, _cross(self.w, v))


def propagate_motion(
    frames: Sequence[JointFrame],
    gravity: Vector3,
    q: JointsBySample,
    qd: JointsBySample,
    qdd: JointsBySample,
) -> list[BodyMotion]:
    """Compute the motion of all bodies by (57)-(62)."""
    zeros = np.zeros((3, q.shape[1]))
    a = np.repeat(-gravity[:, None], q.shape[1], axis=1)  # (76)
    before = BodyMotion(zeros[0], zeros[0], zeros[0], zeros, zeros, a, zeros, a)
    bodies: list[BodyMotion] = []
    for frame, x, rate, acceleration in zip(frames, q, qd, qdd, strict=True):
        cos, sin = np.cos(x), np.sin(x)
        w, wd = frame.from_parent(cos, sin, before.w), frame.from_parent(cos, sin, before.wd)
        foot = frame.from_parent(cos, sin, before.a + before.times(frame.b))  # (70)
        w_cross_z = np.stack([w[1], -w[0], zeros[0]])  # w x z
        along_z = np.stack([zeros[0], zeros[0], acceleration])
        if frame.revolute:
            w = w + np.stack([zeros[0], zeros[0], rate])  # (57)
            before = BodyMotion(cos, sin, zeros[0], w, wd + along_z + w_cross_z * rate, foot, zeros, foot)  # (58), (62)
        else:
            d = x + frame.R[:, 2] @ frame.p
            before = BodyMotion(cos, sin, d, w, wd, foot, along_z + 2.0 * w_cross_z * rate, foot)  # (61)
            a = foot + before.times(np.array([0.0, 0.0, 1.0])) * d + before.h  # (62)
            before = BodyMotion(cos, sin, d, w, wd, foot, before.h, a)
        bodies.append(before)
    return bodies


@dataclass(frozen=True, eq=False)
class OuterBodies:
    """Force and moment of the bodies outside a joint, in the joint's frame, and the part of D due to these bodies."""

    mu: Vector3BySample
    zeta: Vector3BySample
    G: Matrix3
    slides: tuple[tuple[PerSample, Matrix3], ...] = ()

    @classmethod
    def none(cls, samples: int) -> OuterBodies:
        return cls(np.zeros((3, samples)), np.zeros((3, samples)), np.zeros((3, 3)))

    def fixed(self) -> Matrix3:
        """Return D~ (99) without the parts of prismatic joints."""
        return self.G - np.diag([self.G[1, 1], self.G[1, 1], 0.0])

    def moment(self, body: BodyMotion, D: Matrix3) -> Vector3BySample:
        """Return Psi psi(D) = D wd + w x (D w), (60)."""

        def times(v: Vector3BySample) -> Vector3BySample:
            return np.asarray(D @ v + sum(d * (W @ v) for d, W in self.slides))

        return times(body.wd) + _cross(body.w, times(body.w))

    def phi(self, frame: JointFrame, body: BodyMotion) -> PerSample:
        """Return phi_i (110)."""
        if not frame.revolute:
            return self.mu[2]
        return np.asarray(self.moment(body, self.fixed())[2] + self.zeta[2])

    def add(self, frame: JointFrame, body: BodyMotion, values: PerConstant) -> OuterBodies:
        """Add the body of a joint with these constants, and transform the sum to the joint before it: step 3.1."""
        slides: tuple[tuple[PerSample, Matrix3], ...] = ()
        if frame.revolute:
            kx, ky, U11_U22, U33, U12, U13, U23 = values
            k = np.array([kx, ky, 0.0])
            D = self.fixed() + np.array([[U11_U22, U12, U13], [U12, 0.0, U23], [U13, U23, U33]])  # (114)
            mu = self.mu + body.times(k)  # (64), (66)
            zeta = self.zeta + _cross(np.broadcast_to(k[:, None], mu.shape), body.a) + self.moment(body, D)  # (65)
            G = np.diag([self.G[1, 1], self.G[1, 1], -U33])  # (43)
        else:
            m, kx, ky, kz = values
            z = np.stack([np.zeros_like(body.d), np.zeros_like(body.d), body.d])
            k = np.broadcast_to(np.array([kx, ky, kz])[:, None], body.h.shape)
            mu = self.mu + m * (body.a - body.foot)  # (64), (66)
            zeta = self.zeta + m * _cross(z, body.foot) + _cross(k, body.h)  # (65)
            W = np.array([[2.0 * kz, 0.0, -kx], [0.0, 2.0 * kz, -ky], [-kx, -ky, 0.0]])  # (92)
            G, slides = self.G, (*self.slides, (body.d, W))
        mu = frame.to_parent(body, mu)
        lever = frame.b[:, None] + (0.0 if frame.revolute else np.outer(frame.R[:, 2], body.d))
        return OuterBodies(
            mu,
            frame.to_parent(body, zeta) + _cross(np.broadcast_to(lever, mu.shape), mu),  # (67)
            frame.R @ G @ frame.R.T,
            tuple((d, frame.R @ W @ frame.R.T) for d, W in slides),
        )


def compute_constant_columns(frame: JointFrame, body: BodyMotion) -> Float[np.ndarray, "constants samples"]:
    """Return v_i for the constants of ``REVOLUTE_CONSTANTS`` or ``PRISMATIC_CONSTANTS``."""
    (wx, wy, wz), (ax, ay, az), (x, y, _) = body.w, body.wd, body.a
    if frame.revolute:
        return np.stack([y, -x, -wx * wy, az, wx * wx - wy * wy, ax - wy * wz, ay + wx * wz])  # (98)
    return np.stack([body.a[2], wx * wz - ay, wy * wz + ax, -wx * wx - wy * wy])  # (97)


def compute_kappa_moment(u: Vector3) -> Float[np.ndarray, "3 2"]:
    """Return the first moments of a prismatic joint's body for unit kappa_1 and unit kappa_2 (86), (87); u is u_r."""
    z = np.array([0.0, 0.0, 1.0])
    return np.column_stack([np.cross(z, u), z - u[2] * u]) / (1.0 - u[2] * u[2])


def _rotate_about_z(v: Vector3BySample, cos: PerSample, sin: PerSample) -> Vector3BySample:
    """Rotate vectors about z."""
    return np.stack([cos * v[0] - sin * v[1], sin * v[0] + cos * v[1], v[2]])


def _cross(a: Vector3BySample, b: Vector3BySample) -> Vector3BySample:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

"""Model of a serial arm in the minimal linear combinations of Lin's procedure.

Identity      w = M theta,   beta = C w,   tau_i = (v_i E_i) · w_i + phi_i
Reference     [lin1995] Theorem 2, (95), (96), (101), (102)
Notation      code   paper   meaning
              w_i    w_i     combinations of joint i, then the drive parameters that are not part of the combinations
              E_i    -       constants of body i per unit of each combination; other constants are zero
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS, parameter_name
from ytheta.dynamics.formulations.composite.inertia_constants import compute_joint_frames
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.errors import InputError
from ytheta.identifiability import lin
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.estimators.lin.recursion import (
    PRISMATIC_CONSTANTS,
    REVOLUTE_CONSTANTS,
    BodyMotion,
    JointFrame,
    compute_constant_columns,
    compute_kappa_moment,
    propagate_motion,
)
from ytheta.robot.friction_curve import CURVE_PARAMETERS, compute_friction_factors
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, JointsBySample, PerSample, SamplesByJoint, Vector3

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

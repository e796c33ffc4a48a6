"""Logs of arms with a payload: exciting motion, and torques by Pinocchio or MuJoCo, which know nothing of ytheta."""

from __future__ import annotations

import mujoco
import numpy as np

from tests.support.pinocchio_peer import peer
from ytheta.logs.log import Log
from ytheta.robot.inertia import Inertia
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.robot import Robot

# A gripper with a part: 2.4 kg, a centre beside the axes, products of inertia.
BODY = Inertia.about_center(
    2.4, (0.03, -0.05, 0.12), ((0.021, 0.002, -0.001), (0.002, 0.016, 0.003), (-0.001, 0.003, 0.011))
)
RATE = 200.0


def make_motion(
    joints: int, *, seed: int = 0, seconds: float = 12.0, speed: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions, velocities and accelerations of sums of sines; ``speed`` multiplies their frequencies."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    q, qd, qdd = np.zeros((3, len(t), joints))
    for frequency in (0.15, 0.4, 0.9):
        w = 2.0 * np.pi * frequency * speed
        size, phase = rng.uniform(0.3, 0.6, joints) / (1.0 + 2.0 * frequency), rng.uniform(0.0, 2.0 * np.pi, joints)
        angle = w * t[:, None] + phase
        q += 2.0 * size * np.sin(angle)
        qd += 2.0 * size * w * np.cos(angle)
        qdd -= 2.0 * size * w**2 * np.sin(angle)
    return t, q, qd, qdd


def make_log(robot: Robot, torque: np.ndarray, motion: tuple[np.ndarray, ...], *, source: str = "made") -> Log:
    """A log of this motion and these torques."""
    t, q, qd, _ = motion
    return Log(robot.actuated, t, q, torque, qd, source=source)


def compute_pinocchio_torque(robot: Robot, motion: tuple[np.ndarray, ...], body: Inertia | None = None) -> np.ndarray:
    """Torques of a robot without drives, to whose last joint Pinocchio itself appends the body in its link frame."""
    import pinocchio as pin

    arm = peer(robot)
    if body is not None:
        last = robot.merged.joints[-1]
        inertia = pin.Inertia(body.mass, np.array(body.center), np.array(body.tensor_about_center))
        seat = last.seat.matrix
        arm.model.appendBodyToJoint(arm.model.njoints - 1, inertia, pin.SE3(seat[:3, :3], seat[:3, 3]))
    return np.array([arm.torque(*state) for state in zip(*motion[1:], strict=True)])


def compute_mujoco_torque(robot: Robot, motion: tuple[np.ndarray, ...], body: Inertia | None = None) -> np.ndarray:
    """Torques by MuJoCo, whose last body gets a child with the mass properties of the payload; friction is added."""
    spec = mujoco.MjSpec.from_string(to_mjcf(robot.numeric.merged))
    if body is not None:
        moments, axes = np.linalg.eigh(np.array(body.tensor_about_center))
        axes *= np.sign(np.linalg.det(axes))
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        spec.body(robot.merged.links[-1].name).add_body(
            name="held", mass=body.mass, ipos=body.center, inertia=moments, iquat=quaternion, explicitinertial=True
        )
    model = spec.compile()
    data = mujoco.MjData(model)
    order = [int(model.joint(joint.name).dofadr[0]) for joint in robot.movable]
    torque = np.zeros((len(motion[0]), model.nv))
    for row, (q, qd, qdd) in zip(torque, zip(*motion[1:], strict=True), strict=True):
        data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_comVel(model, data)
        data.qacc[order] = qdd
        mujoco.mj_rne(model, data, 1, row)
    return torque[:, order] + compute_friction(robot, motion[2])


def compute_friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """Viscous, Coulomb friction and offsets of the drives."""
    drives = [dict(robot.drives)[name] for name in robot.actuated]
    viscous, coulomb, offset = (np.array([getattr(d, k) for d in drives]) for k in ("viscous", "coulomb", "offset"))
    return viscous * qd + coulomb * np.sign(qd) + offset

"""Torques and accelerations of a robot and the Jacobian of its loops by MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from ytheta.robot.kinematics import link_poses
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.robot import Robot


def tree_torque(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Torques of all tree joints without the loops, and the Jacobian of MuJoCo's loop constraints; order of q."""
    robot = robot.numeric.merged
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    data = mujoco.MjData(model)
    order = [int(model.joint(joint.name).dofadr[0]) for joint in robot.movable]
    data.qpos[order], data.qvel[order] = q, qd
    mujoco.mj_forward(model, data)
    data.qacc[order] = qdd
    torque = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 1, torque)
    jacobian = data.efc_J.reshape(-1, model.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    assert len(jacobian) >= 3 * len(robot.loops)
    return torque[order], jacobian[:, order]


@dataclass(frozen=True, eq=False)
class Pushed:
    """A robot without drives at rest, pushed by a wrench; everything by MuJoCo, joints in the order of the tree.

    ``torque`` are weight and wrench as joint torques, and ``jacobian`` belongs to the constraints of the loops.
    """

    mass_matrix: np.ndarray
    torque: np.ndarray
    jacobian: np.ndarray


def push(robot: Robot, q: np.ndarray, frame: str, wrench: np.ndarray) -> Pushed:
    """Apply a wrench, in base axes, at the origin of a named frame, through MuJoCo's ``xfrc_applied``."""
    merged = robot.numeric.merged
    model = mujoco.MjModel.from_xml_string(to_mjcf(merged))
    data = mujoco.MjData(model)
    order = [int(model.joint(joint.name).dofadr[0]) for joint in merged.movable]
    data.qpos[order] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    carriers = {marker.name: marker.link for marker in merged.markers}
    body = model.body(carriers.get(frame, frame)).id
    force, moment = wrench[:3], wrench[3:]
    lever = link_poses(robot, q)[frame][:3, 3] - data.xipos[body]  # MuJoCo's wrench acts at the centre of mass
    data.xfrc_applied[body] = [*force, *(moment + np.cross(lever, force))]
    mujoco.mj_forward(model, data)
    mass_matrix = np.zeros((model.nv, model.nv))
    for column, unit in zip(mass_matrix, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    jacobian = data.efc_J.reshape(-1, model.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    return Pushed(mass_matrix[np.ix_(order, order)], data.qfrc_smooth[order].copy(), jacobian[:, order])

"""Torques of a robot and the Jacobian of its loops by MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np

from ytheta.robot.robot import Robot
from ytheta.robot.writing.mjcf import to_mjcf


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

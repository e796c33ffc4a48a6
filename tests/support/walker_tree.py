"""Walker's equations as printed, in base axes."""

from __future__ import annotations

import numpy as np

from ytheta.dynamics.mechanism import Mechanism, Motion
from ytheta.robot.kinematics import link_poses


def K(a: np.ndarray) -> np.ndarray:
    """K(a) b = a x b."""
    return np.cross(np.eye(3), a)


def walker_inertia(theta: np.ndarray) -> np.ndarray:
    """The 6 x 6 matrix of sec. 2.4."""
    xx, xy, yy, xz, yz, zz = theta[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[-K(theta[1:4]), theta[0] * np.eye(3)], [J, K(theta[1:4])]])


def cross_matrix(v: np.ndarray) -> np.ndarray:
    return np.block([[K(v[:3]), np.zeros((3, 3))], [K(v[3:]), K(v[:3])]])


def printed_torque(mech: Mechanism, motion: Motion, theta: np.ndarray) -> np.ndarray:
    """rho of (13), (15), (18), (19) and (21), everything in base axes and 6 x 6 matrices."""
    robot = mech.robot
    poses = link_poses(robot, motion.q)
    g = np.concatenate([np.zeros(3), mech.gravity.astype(float)])
    base = {robot.base.name: np.zeros(6)}
    v, u, ud, rho = dict(base), dict(base), dict(base), np.zeros(mech.joints)
    axes: dict[str, np.ndarray] = {}
    for joint in robot.joints:
        frame = poses[joint.parent] @ joint.placement.matrix
        z, p = frame[:3, :3] @ joint.axis, frame[:3, 3]
        revolute = joint.kind == "revolute"
        axes[joint.name] = np.concatenate([z, np.cross(p, z)] if revolute else [np.zeros(3), z])
    for k, body in enumerate(mech.bodies):
        joint = robot.joints[k]
        v[body.name], u[body.name], ud[body.name] = v[joint.parent], u[joint.parent], ud[joint.parent]
        if body.joint is not None:
            s, j = axes[joint.name], body.joint
            ud[body.name] = ud[body.name] + s * motion.vd[j] + cross_matrix(v[joint.parent]) @ s * motion.v[j]  # (19)
            v[body.name] = v[body.name] + s * motion.qd[j]
            u[body.name] = u[body.name] + s * motion.v[j]  # (18)
        R, p = poses[body.name][:3, :3], poses[body.name][:3, 3]
        X = np.block([[R, np.zeros((3, 3))], [K(p) @ R, R]])
        inertia = X @ walker_inertia(theta[10 * k : 10 * (k + 1)]) @ np.linalg.inv(X)
        name = body.name
        F = inertia @ ud[name] + cross_matrix(u[name]) @ inertia @ u[name] - inertia @ g  # (21)
        for ancestor in robot.path(name):  # (15)
            if ancestor.moves:
                s = axes[ancestor.name]
                rho[robot.movable.index(ancestor)] += s[:3] @ F[3:] + s[3:] @ F[:3]  # (13)
    return rho

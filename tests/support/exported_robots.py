"""Robots with other inertias and friction, and the torques that Pinocchio and MuJoCo compute from exported files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

import ytheta as yt
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

States = tuple[np.ndarray, np.ndarray, np.ndarray]  # q, qd, qdd

TOLERANCE = 1e-9  # Nm or N, relative to torques of up to about 1000; both sides compute with doubles


def change_bodies(robot: Robot, *, rotor_inertia: bool = True) -> Robot:
    """The robot as an identification returns it: fixed links merged, other bodies, other viscous and dry friction.

    Every body becomes heavier and is displaced, which keeps it physically consistent. Without rotor inertia, URDF can
    express all of it.
    """
    merged = robot.numeric.merged
    inertias = {}
    for k, link in enumerate(merged.links[1:]):
        moved = link.inertia.seen_from(Frame.shift(0.01, -0.02, 0.005 * (k % 3)) @ Frame.from_rpy(0.02 * k, 0.03, 0.0))
        inertias[link.name] = replace(moved, parameters=tuple(1.3 * p for p in moved.parameters))
    order = {joint.name: k for k, joint in enumerate(merged.movable)}

    def change_drive(name: str, drive: Drive) -> Drive:
        k = order.get(name, 0)
        inertia = 0.2 + 0.01 * k if rotor_inertia else 0.0
        return replace(drive, viscous=0.5 + 0.1 * k, coulomb=1.5 + 0.1 * k, rotor_inertia=inertia, gear_ratio=1)

    return merged.with_inertias(inertias).with_drives(change_drive)


def draw_states(count: int, samples: int = 3) -> States:
    q, qd, qdd = np.random.default_rng(5).uniform(-1.5, 1.5, (3, samples, count))
    return q, qd, qdd


def compute_torque(robot: Robot, states: States | None = None) -> np.ndarray:
    """Our torques at all states, in the order of the movable joints."""
    robot = replace(robot, couplings=(), actuated=(), motors=(), forces=(), home=())
    return np.asarray(yt.inverse_dynamics(robot)(*(states or draw_states(len(robot.movable)))))


def compute_pinocchio_torque(path: Path, robot: Robot, states: States | None = None) -> np.ndarray:
    """Torques of a URDF file at all states, in the order of the robot's movable joints, with friction."""
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    joints = [model.joints[model.getJointId(joint.name)] for joint in robot.movable]
    order = [joint.idx_v for joint in joints]
    rows = []
    for q, qd, qdd in zip(*(states or draw_states(len(joints))), strict=True):
        configuration, velocity, acceleration = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for joint, angle in zip(joints, q, strict=True):
            unbounded = joint.nq == 2  # a continuous joint has the coordinates cos and sin
            configuration[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(angle), np.sin(angle)] if unbounded else angle
        velocity[order], acceleration[order] = qd, qdd
        friction = model.damping * velocity + model.friction * np.sign(velocity)
        rows.append((pin.rnea(model, data, configuration, velocity, acceleration) + friction)[order])
    return np.array(rows)


def compute_mujoco_torque(
    path: Path, robot: Robot, names: Mapping[str, str] | None = None, states: States | None = None
) -> np.ndarray:
    """Torques of an MJCF file at all states, in the order of the robot's movable joints, with armature and friction.

    ``names`` are the names in the file of joints that our reader has named.
    """
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    in_file = [model.joint(k).name for k in range(model.njnt)]
    joints = [model.joint(in_file.index((names or {}).get(joint.name, joint.name))) for joint in robot.movable]
    places, order = [int(joint.qposadr[0]) for joint in joints], [int(joint.dofadr[0]) for joint in joints]
    rows = []
    for q, qd, qdd in zip(*(states or draw_states(len(joints))), strict=True):
        data.qpos[places], data.qvel[order] = q, qd
        mujoco.mj_forward(model, data)
        data.qacc[:] = 0.0  # a free base rests
        data.qacc[order] = qdd
        torque = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, torque)
        damping = np.reshape(model.dof_damping, model.nv)
        torque += model.dof_armature * data.qacc + damping * data.qvel + model.dof_frictionloss * np.sign(data.qvel)
        for k in range(model.nu):
            dof, square = int(model.jnt_dofadr[model.actuator_trnid[k, 0]]), model.actuator_gear[k, 0] ** 2
            armature, damping = (np.ravel(each)[k] for each in (model.actuator_armature, model.actuator_damping))
            torque[dof] += square * (armature * data.qacc[dof] + damping * data.qvel[dof])
        rows.append(torque[order])
    return np.array(rows)


def measure_difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, relative to the largest torque if that exceeds 1."""
    return float(abs(one - other).max() / max(1.0, abs(one).max()))

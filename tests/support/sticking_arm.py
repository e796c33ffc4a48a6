"""A two-link arm in MuJoCo whose joints stick: dry friction as a constraint, point-to-point motion with rests."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

import ytheta
from ytheta.logs.log import Log
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.robot import Robot

RATE = 500.0
SUBSTEPS = 4  # steps of the simulation per row; the controller acts at every step
COULOMB, VISCOUS = (4.0, 2.0), (1.5, 0.6)
RESOLUTION = 2e-5  # rad, of the encoders
TORQUE_NOISE = (0.15, 0.08)  # Nm
MOVE, PAUSE = 0.8, 0.7  # s
STIFFNESS, DAMPING = (900.0, 300.0), (60.0, 20.0)


def make_arm(*, friction: bool) -> Robot:
    """An arm of two links that move in a vertical plane."""
    inertia = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/>'
    links = [("upper", 6.0, 0.2, 0.12), ("fore", 3.0, 0.15, 0.05)]
    bodies = "".join(
        f'<link name="{name}"><inertial><origin xyz="{center} 0 0"/><mass value="{mass}"/>{inertia.format(moment)}'
        "</inertial></link>"
        for name, mass, center, moment in links
    )
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
        f'<origin xyz="{offset} 0 0"/><dynamics damping="{viscous}" friction="{coulomb}"/></joint>'
        for name, parent, child, offset, viscous, coulomb in zip(
            ("shoulder", "elbow"), ("base", "upper"), ("upper", "fore"), (0.0, 0.4), VISCOUS, COULOMB, strict=True
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(f'<robot name="arm"><link name="base"/>{bodies}{joints}</robot>')
        robot = ytheta.load(path)
    return robot if friction else robot.with_drives(lambda _, drive: replace(drive, coulomb=0.0, viscous=0.0))


def make_targets(seed: int, moves: int) -> np.ndarray:
    """Poses of a point-to-point motion; now and then a joint keeps its position."""
    rng = np.random.default_rng(seed)
    targets = rng.uniform(-1.5, 1.5, (moves + 1, 2))
    for k in range(1, moves + 1):
        if rng.uniform() < 0.4:
            joint = int(rng.integers(2))
            targets[k, joint] = targets[k - 1, joint]
    return targets


@cache
def record_log(seed: int, moves: int = 24) -> Log:
    """The log of a point-to-point motion with rests under PD control; the controller does not know the friction."""
    robot = make_arm(friction=True)
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot, drives=True))
    model.opt.timestep = 1.0 / (SUBSTEPS * RATE)
    data = mujoco.MjData(model)
    targets, rng = make_targets(seed, moves), np.random.default_rng(100 + seed)
    data.qpos[:] = targets[0]
    steps = int(moves * (MOVE + PAUSE) * RATE * SUBSTEPS)
    t, q, tau = np.arange(steps) * model.opt.timestep, np.empty((steps, 2)), np.empty((steps, 2))
    for k in range(steps):
        move, elapsed = divmod(t[k], MOVE + PAUSE)
        s = min(elapsed / MOVE, 1.0)
        start, end = targets[int(move)], targets[int(move) + 1]
        reference = start + (end - start) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        rate = (end - start) * 30.0 * s * s * (1.0 - s) ** 2 / MOVE
        data.qfrc_applied[:] = np.array(STIFFNESS) * (reference - data.qpos) + np.array(DAMPING) * (rate - data.qvel)
        q[k], tau[k] = data.qpos, data.qfrc_applied
        mujoco.mj_step(model, data)
    t, q, tau = t[::SUBSTEPS], q[::SUBSTEPS], tau[::SUBSTEPS]
    measured = np.round(q / RESOLUTION) * RESOLUTION
    return Log(robot.actuated, t, measured, tau + np.array(TORQUE_NOISE) * rng.normal(size=tau.shape))

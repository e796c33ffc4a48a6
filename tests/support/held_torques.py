"""Arms in MuJoCo whose controller holds every torque for a period, and their logs: torques as they are commanded."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np

import ytheta
from tests.support.estimation_cases import draw_body
from tests.support.form_cases import Fourier
from tests.support.unknown_lengths import make_arm
from ytheta.logs.log import Log
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

PERIOD = 5e-4  # s, of the controller
ROWS = 2  # periods from one row of the log to the next
SECONDS = 8.0
BANDWIDTH = 2.0 * np.pi * 3.0  # rad/s, of the controller
POSITION_NOISE, TORQUE_NOISE = 1e-5, 0.01  # rad or m; relative to the RMS torque


@cache
def make_true_arm(name: str) -> Robot:
    """An arm with symbolic lengths, random bodies and viscous friction."""
    robot = ytheta.load(name) if name == "lu-two-link" else make_arm(name)
    rng = np.random.default_rng(3)
    robot = robot.with_inertias({link.name: draw_body(rng) for link in robot.links[1:]})
    viscous = dict(zip(robot.actuated, rng.uniform(0.2, 1.0, len(robot.actuated)).tolist(), strict=True))
    return robot.with_drives(lambda joint, _: Drive(viscous=viscous[joint]))


@cache
def simulate(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions at the beginning of every period and the torques that are held from then on.

    Runge-Kutta steps of one period: within a step the torque is constant, so they are exact to fourth order. MuJoCo's
    default integrator is of first order and has a delay of its own between velocity and torque.
    """
    robot = make_true_arm(name).numeric.merged
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot, drives=True))
    model.opt.timestep, model.opt.integrator = PERIOD, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(model)
    q, qd, qdd = Fourier(len(robot.movable))(PERIOD * np.arange(round(SECONDS / PERIOD)))
    feedforward = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    inertia = np.diagonal(ytheta.mass_matrix(robot)(q), axis1=1, axis2=2).mean(axis=0)
    data.qpos[:], data.qvel[:] = q[0], qd[0]
    positions, torques = np.empty_like(q), np.empty_like(q)
    for k in range(len(q)):
        feedback = BANDWIDTH**2 * (q[k] - data.qpos) + 2.0 * BANDWIDTH * (qd[k] - data.qvel)
        positions[k], torques[k] = data.qpos, feedforward[k] + inertia * feedback
        data.qfrc_applied[:] = torques[k]
        mujoco.mj_step(model, data)
    return positions, torques


def make_held_log(name: str, seed: int) -> Log:
    """A noisy log; its torques act half a period later than they are recorded."""
    q, tau = (values[::ROWS] for values in simulate(name))
    rng = np.random.default_rng(seed)
    noise = TORQUE_NOISE * np.sqrt(np.mean(tau**2, axis=0))
    t = ROWS * PERIOD * np.arange(len(q))
    return Log(
        make_true_arm(name).actuated,
        t,
        q + POSITION_NOISE * rng.normal(size=q.shape),
        tau + noise * rng.normal(size=tau.shape),
    )

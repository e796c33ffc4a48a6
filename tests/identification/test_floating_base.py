"""Identification of robots with a floating base: wrench on the base by Pinocchio, free flight by MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.example_robots import urdf
from tests.support.paths import ROOT
from tests.support.pinocchio_peer import peer
from ytheta.logs.log import Log
from ytheta.robot.floating import compute_twist, float_base, rotation_vectors_from_quaternions, unwrap_rotation_vectors
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

GO2 = ROOT.parent / "shared" / "robots" / "menagerie" / "unitree_go2" / "go2.xml"


def scale_links(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with inertias that differ by about 20 % from the true ones, for a description that is wrong."""
    inertias = {
        link.name: Inertia(tuple((float(rng.uniform(0.8, 1.2)) * np.array(link.inertia.parameters)).tolist()))
        for link in robot.links
    }
    return robot.with_inertias(inertias)


def base_of(fit: ytheta.Identification) -> ytheta.BaseParameters:
    assert isinstance(fit.base, ytheta.BaseParameters)
    return fit.base


def move_smoothly(robot: Robot, seconds: float, seed: int) -> Log:
    """A log of prescribed motion of base and joints, with the wrench and the torques of Pinocchio."""
    rng, t = np.random.default_rng(seed), np.arange(0.0, seconds, 0.004)
    size = len(robot.actuated)
    q, rate, acceleration = np.zeros((3, len(t), size))
    for _ in range(3):
        a, w, phase = rng.uniform(0.1, 0.3, size), rng.uniform(2.0, 9.0, size), rng.uniform(0.0, 6.0, size)
        angle = np.outer(t, w) + phase
        q += a * np.sin(angle)
        rate += a * w * np.cos(angle)
        acceleration -= a * w * w * np.sin(angle)
    qd, qdd = rate.copy(), acceleration.copy()
    qd[:, :6], qdd[:, :6] = compute_twist(q[:, :6], rate[:, :6], acceleration[:, :6])
    pinocchio = peer(robot)
    tau = np.array([pinocchio.torque(*state) for state in zip(q, qd, qdd, strict=True)])
    return Log(robot.actuated, t, q, tau)


def test_a_force_plate_identifies_base_and_legs() -> None:
    """Rows of the wrench on the base beside joint torques: the base parameters are the true ones."""
    truth = float_base(ytheta.load(urdf("double_pendulum.urdf"))).with_drives(lambda *_: Drive())
    log = move_smoothly(truth, 12.0, 0)
    wrong = scale_links(truth, np.random.default_rng(3))
    fit = ytheta.identify(wrong, log, friction=(), rotor_inertia=False, estimator="weighted", cutoff=15.0)
    beta = base_of(fit).K @ truth.theta
    assert len(fit.base) == 10 + 7 * 2
    share = np.abs(fit.beta - beta) / np.maximum(np.abs(beta), 0.02 * np.abs(beta).max())
    assert share.max() < 2e-3
    assert fit.fit.relative_percent < 0.05
    assert "good" in fit.verdict.grade.value
    before = np.abs(base_of(fit).K @ wrong.theta - beta) / np.maximum(np.abs(beta), 0.02 * np.abs(beta).max())
    assert before.max() > 0.05  # the twin: the description itself is far off
    assert log.tau is not None
    muted = replace(log, tau=np.hstack([np.zeros((len(log), 6)), log.tau[:, 6:]]))
    wrongly = ytheta.identify(wrong, muted, friction=(), rotor_inertia=False, estimator="weighted", cutoff=15.0)
    assert wrongly.fit.relative_percent > 1.0  # a wrench acted, although the log says that none did


def test_default_options_identify_a_floating_robot() -> None:
    """The choice of friction laws by the data concerns the joints alone; a law that is there is found."""
    plain = float_base(ytheta.load(urdf("double_pendulum.urdf"))).with_drives(lambda *_: Drive(viscous=0.02))
    log = move_smoothly(plain, 12.0, 0)
    assert log.tau is not None
    qd = np.gradient(log.q[:, 6:], log.t, axis=0)
    friction = np.sign(qd) * np.sqrt(np.abs(qd)) * log.tau[:, 6:].std(axis=0)
    for root, names in ((0.0, set()), (0.5, {"joint1.fs", "joint2.fs"})):
        fit = ytheta.identify(plain, replace(log, tau=log.tau + np.pad(root * friction, ((0, 0), (6, 0)))))
        assert {name for name in fit.base.names if name.endswith(".fs")} == names
        assert fit.fit.relative_percent < 1.0


def fly(path: Path, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, coordinates and torques of a quadruped in free fall that moves its legs, from MuJoCo."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(path))
    for part in (*spec.geoms, *spec.meshes, *spec.sensors):
        spec.delete(part)
    for joint in spec.joints:
        joint.frictionloss = 0.0
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    shape = (model.nv - 6, 4)
    w, a, phase = 2.0 * np.pi * rng.uniform(0.3, 2.5, shape), rng.uniform(-0.35, 0.35, shape), rng.uniform(0, 6, shape)
    data.qpos[:3], data.qpos[7:], data.qvel[3:6] = 0.0, 0.0, (0.3, -0.2, 0.1)

    def compute_torque(t: float, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        error = (a * np.sin(w * t + phase)).sum(axis=1) - qpos[7:]
        rate_error = (a * w * np.cos(w * t + phase)).sum(axis=1) - qvel[6:]
        torque: np.ndarray = 60.0 * error + 2.5 * rate_error
        return torque

    def control(_: object, state: mujoco.MjData) -> None:
        state.qfrc_applied[6:] = compute_torque(state.time, state.qpos, state.qvel)

    rows = []
    mujoco.set_mjcb_control(control)
    try:
        for k in range(int(seconds / model.opt.timestep)):
            if k % 2 == 0:
                torque = compute_torque(data.time, data.qpos, data.qvel)
                rows.append(np.concatenate([[data.time], data.qpos, np.zeros(6), torque]))
            mujoco.mj_step(model, data)
    finally:
        mujoco.set_mjcb_control(None)
    table = np.array(rows)
    vectors = unwrap_rotation_vectors(rotation_vectors_from_quaternions(table[:, [5, 6, 7, 4]]))
    q = np.hstack([table[:, 1:4], vectors, table[:, 8 : 1 + model.nq]])
    return table[:, 0], q, table[:, 1 + model.nq :]


def test_free_flight_identifies_a_quadruped() -> None:
    """Nothing touches the robot: its base rows are equations with the right side zero."""
    if not GO2.is_file():
        pytest.skip("the shared robots are not beside the checkout (looked for ../shared/robots)")
    truth = ytheta.load(GO2).with_drives(lambda _, drive: replace(drive, coulomb=0.0))
    t, q, tau = fly(GO2, 8.0)
    log = Log(truth.actuated, t, q, tau)
    wrong = scale_links(truth, np.random.default_rng(3))
    fit = ytheta.identify(wrong, log, friction=("viscous",), rotor_inertia=True, estimator="weighted")
    beta = base_of(fit).K @ truth.theta
    assert len(fit.base) == 10 + 7 * 12 + 2 * 12
    base = [k for k, name in enumerate(fit.base.independent) if name.startswith("base.")]
    scale = np.maximum(np.abs(beta), 0.05 * np.abs(beta[base]).max())
    assert len(base) == 10
    assert (np.abs(fit.beta - beta) / scale)[base].max() < 0.02
    assert (np.abs(base_of(fit).K @ wrong.theta - beta) / scale)[base].max() > 0.05
    deviations = np.abs(fit.beta - beta) / np.maximum(fit.std, 1e-12)
    assert np.median(deviations) < 3.0
    assert fit.fit.relative_percent < 0.5
    assert np.isfinite(fit.fit.per_joint_percent).all()
    assert not any("torque of base" in finding.text for finding in fit.findings)

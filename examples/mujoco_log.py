"""Logs of an arm simulated by MuJoCo, and its true parameters: the data that ``make demo`` identifies.

The arm is a robot of the catalog whose inertias differ from its description, and whose drives have rotor inertia,
viscous friction and Coulomb friction. A controller that knows only the description makes the arm track two motions: for
the fit a trajectory that ``ytheta excite`` designed, and for validation a random Fourier series. The logs contain the
signals that a drive reports: time stamps, encoder counts, and a quantized, noisy torque.

Writes   NAME.fit.parquet, NAME.validate.parquet    columns t, q1 …, tau1 …
         NAME.truth.json                            standard parameters by name

    ytheta excite ur10 -o report/ur10.motion.toml
    python -m examples.mujoco_log ur10 --trajectory report/ur10.motion.toml -o report
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import polars as pl

import ytheta as yt
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import Drive, Joint

STEP = 1e-3  # s, step of simulation, controller and log
MAX_FREQUENCY = 0.7  # Hz, of the highest harmonic
MAX_AMPLITUDE = 1.6  # rad, from the middle of the range
SPEED_SHARE = 0.7  # largest speed, relative to the speed limit
BANDWIDTH = 2.0 * np.pi * 20.0  # rad/s, of the controller; with a smaller one, the wrist sticks when it reverses
ENCODER_STEP = 2.0 * np.pi / 2**17  # rad per count
JITTER = 2e-5  # s, standard deviation of the time stamps
TORQUE_NOISE = 0.002  # standard deviation, relative to the torque limit
TORQUE_STEPS = 2**12  # quantization steps between the torque limits
DRIVE = (0.002, 0.03, 0.03)  # rotor inertia in kg m², viscous (Nm s) and Coulomb friction (Nm), per Nm of torque limit


def write_logs(
    name: str, folder: Path, *, trajectory: yt.Trajectory | None = None, seconds: float = 25.0, seed: int = 1
) -> None:
    """Simulate the arm twice, and write the two logs and the true parameters.

    The log for the fit follows the trajectory, or a random Fourier series of ``seconds`` if there is none; the log for
    validation always follows the latter.
    """
    rng = np.random.default_rng(seed)
    nominal = yt.load(name).merged
    true = perturb_robot(nominal, rng)
    folder.mkdir(parents=True, exist_ok=True)
    for purpose in ("fit", "validate"):
        if purpose == "fit" and trajectory is not None:
            reference = np.stack(trajectory(STEP * np.arange(round(trajectory.seconds / STEP))))
        else:
            reference = make_reference(nominal, seconds, rng)
        q, tau = simulate(true, nominal, reference)
        record(true, q, tau, rng).write_parquet(folder / f"{name}.{purpose}.parquet")
    parameters = dict(zip(true.parameter_names, true.theta.tolist(), strict=True))
    truth = {"robot": name, "parameters": parameters}
    (folder / f"{name}.truth.json").write_text(json.dumps(truth, indent=2) + "\n")


def perturb_robot(nominal: yt.Robot, rng: np.random.Generator) -> yt.Robot:
    """Return the robot with drives, and with perturbed inertias that are still physically consistent."""

    def perturb_inertia(inertia: yt.Inertia) -> yt.Inertia:
        change = np.eye(4)
        change[:3, :3] += 0.06 * rng.normal(size=(3, 3))
        change[:3, 3] = 0.01 * rng.normal(size=3)  # m
        return yt.Inertia.from_pseudo(rng.uniform(0.8, 1.2) * change @ inertia.pseudo @ change.T)

    def make_drive(joint: Joint) -> Drive:
        rotor_inertia, viscous, coulomb = (size * joint.limits.effort * rng.uniform(0.7, 1.3) for size in DRIVE)
        return Drive(rotor_inertia=rotor_inertia, viscous=viscous, coulomb=coulomb)

    true = nominal.with_inertias({link.name: perturb_inertia(link.inertia) for link in nominal.links[1:]})
    return replace(true, joints=tuple(replace(joint, drive=make_drive(joint)) for joint in true.joints))


def make_reference(robot: yt.Robot, seconds: float, rng: np.random.Generator) -> np.ndarray:
    """Return q, qd and qdd of one period of a Fourier series that respects the limits and starts and ends at rest."""
    lower, upper, speed = np.array([(j.limits.lower, j.limits.upper, j.limits.velocity) for j in robot.movable]).T
    w = 2.0 * np.pi / seconds * np.arange(1, max(4, round(MAX_FREQUENCY * seconds)) + 1)
    a, b = rng.normal(size=(2, len(w), len(lower)))
    a = project_out(a, w[None])  # so that qd = sum w a is zero at the start …
    b = project_out(b, np.stack([np.ones_like(w), w**2]))  # … and so are q = sum b and qdd = -sum w² b
    angle = np.outer(STEP * np.arange(round(seconds / STEP)), w)
    sin, cos, w = np.sin(angle), np.cos(angle), w[:, None]
    q, qd, qdd = sin @ a + cos @ b, cos @ (w * a) - sin @ (w * b), -sin @ (w**2 * a) - cos @ (w**2 * b)
    reach = np.minimum(MAX_AMPLITUDE, 0.5 * (upper - lower))
    size = np.minimum(reach / abs(q).max(axis=0), SPEED_SHARE * speed / abs(qd).max(axis=0))
    return np.stack([0.5 * (lower + upper) + size * q, size * qd, size * qdd])


def project_out(coefficients: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the nearest coefficients c with rows @ c = 0."""
    return coefficients - np.linalg.pinv(rows) @ (rows @ coefficients)


def simulate(true: yt.Robot, nominal: yt.Robot, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and torques of the arm in MuJoCo, with feedforward torques of the description and PD control."""
    q, qd, _ = reference
    feedforward = yt.inverse_dynamics(nominal)(*reference)
    limits = np.array([joint.limits.effort for joint in nominal.movable])
    links = np.diagonal(yt.mass_matrix(nominal)(q), axis1=1, axis2=2).mean(axis=0)
    inertia = links + DRIVE[0] * limits  # the gains allow for rotor inertia as well
    model = mujoco.MjModel.from_xml_string(to_mjcf(true, drives=True))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:] = q[0]
    positions, torques = np.empty_like(q), np.empty_like(q)
    for k in range(len(q)):
        feedback = inertia * (BANDWIDTH**2 * (q[k] - data.qpos) + 2.0 * BANDWIDTH * (qd[k] - data.qvel))
        torque = np.clip(feedforward[k] + feedback, -limits, limits)
        positions[k], torques[k] = data.qpos, torque
        data.qfrc_applied[:] = torque
        mujoco.mj_step(model, data)
    return positions, torques


def record(robot: yt.Robot, q: np.ndarray, tau: np.ndarray, rng: np.random.Generator) -> pl.DataFrame:
    """Return the log: time stamps with jitter, encoder counts, and quantized torques with noise.

    A torque is held from one reading of the positions to the next, so it acts half a step late. The torque at a time
    stamp is therefore the mean of the torques before and after it. Otherwise, the identified friction would be wrong by
    several standard deviations.
    """
    tau = 0.5 * (tau + np.concatenate([tau[:1], tau[:-1]]))
    t = STEP * np.arange(len(q)) + JITTER * rng.normal(size=len(q))
    limits = np.array([joint.limits.effort for joint in robot.movable])
    step = 2.0 * limits / TORQUE_STEPS
    columns = {
        "q": ENCODER_STEP * np.round(q / ENCODER_STEP),
        "tau": step * np.round((tau + TORQUE_NOISE * limits * rng.normal(size=tau.shape)) / step),
    }
    named = {f"{kind}{k + 1}": values for kind, table in columns.items() for k, values in enumerate(table.T)}
    return pl.DataFrame({"t": t, **named})


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate an arm with MuJoCo, and write logs and its true parameters.")
    parser.add_argument(
        "robot", nargs="?", default="ur10", help="a robot of the catalog with limits, such as ur10 or panda"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="FOLDER")
    parser.add_argument("--trajectory", type=Path, metavar="TOML", help="a trajectory of ytheta excite, for the fit")
    parser.add_argument("--seconds", type=float, default=25.0, help="duration of random motion")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    trajectory = None if arguments.trajectory is None else yt.load_trajectory(arguments.trajectory)
    write_logs(arguments.robot, arguments.output, trajectory=trajectory, seconds=arguments.seconds, seed=arguments.seed)


if __name__ == "__main__":
    main()

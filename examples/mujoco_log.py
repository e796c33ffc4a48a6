"""Logs of an arm that MuJoCo moves, and the truth about it: what ``make demo`` identifies.

The arm is a catalog robot whose bodies are not quite those of its description, in drives with rotor inertia, damping
and dry friction. A controller that knows the description alone makes it follow two Fourier series: one to learn from,
one to judge by. Recorded is what a drive reports: stamps, encoder counts, and a noisy torque in steps.

Writes   NAME.fit.parquet, NAME.validate.parquet    columns t, q1 …, tau1 …
         NAME.truth.json                            standard parameters by name

    python -m examples.mujoco_log ur10 -o report
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
from ytheta.robot.parts import Drive, Joint
from ytheta.robot.writing.mjcf import to_mjcf

STEP = 1e-3  # s, of simulation, controller and log
TOP = 0.7  # Hz, the fastest harmonic
REACH, SPEED = 1.6, 0.7  # rad from the middle at most; of the speed limit
BANDWIDTH = 2.0 * np.pi * 20.0  # rad/s, of the controller; a softer one lets the wrist stick where it turns round
ENCODER = 2.0 * np.pi / 2**17  # rad per count
JITTER = 2e-5  # s, of the stamps
NOISE, TORQUE_STEPS = 0.002, 2**12  # of the torque limit; between the limits
DRIVE = {"rotor_inertia": 0.002, "viscous": 0.03, "coulomb": 0.03}  # kg m², Nm s and Nm, per Nm of the torque limit


def write_logs(name: str, folder: Path, *, seconds: float = 25.0, seed: int = 1) -> None:
    """Make the arm, move it twice, write what was recorded and the truth."""
    rng = np.random.default_rng(seed)
    described = yt.load(name).merged
    true = true_robot(described, rng)
    folder.mkdir(parents=True, exist_ok=True)
    for purpose in ("fit", "validate"):
        wanted = trajectory(described, seconds, rng)
        q, tau = moved(true, described, wanted)
        recorded(true, q, tau, rng).write_parquet(folder / f"{name}.{purpose}.parquet")
    parameters = dict(zip(true.parameter_names, true.theta.tolist(), strict=True))
    truth = {"robot": name, "parameters": parameters}
    (folder / f"{name}.truth.json").write_text(json.dumps(truth, indent=2) + "\n")


def true_robot(described: yt.Robot, rng: np.random.Generator) -> yt.Robot:
    """Bodies heavier or lighter, stretched and shifted, so that they stay bodies; and drives."""

    def body(inertia: yt.Inertia) -> yt.Inertia:
        change = np.eye(4)
        change[:3, :3] += 0.06 * rng.normal(size=(3, 3))
        change[:3, 3] = 0.01 * rng.normal(size=3)  # m
        return yt.Inertia.from_pseudo(rng.uniform(0.8, 1.2) * change @ inertia.pseudo @ change.T)

    def drive(joint: Joint) -> Drive:
        return Drive(**{key: size * joint.limits.effort * rng.uniform(0.7, 1.3) for key, size in DRIVE.items()})

    true = described.with_inertias({link.name: body(link.inertia) for link in described.links[1:]})
    return replace(true, joints=tuple(replace(joint, drive=drive(joint)) for joint in true.joints))


def trajectory(robot: yt.Robot, seconds: float, rng: np.random.Generator) -> np.ndarray:
    """q, qd and qdd of one period of a Fourier series within the limits that starts and ends at rest."""
    lower, upper, speed = np.array([(j.limits.lower, j.limits.upper, j.limits.velocity) for j in robot.movable]).T
    w = 2.0 * np.pi / seconds * np.arange(1, max(4, round(TOP * seconds)) + 1)
    a, b = rng.normal(size=(2, len(w), len(lower)))
    a = without(a, w[None])  # at the start, qd = sum w a …
    b = without(b, np.stack([np.ones_like(w), w**2]))  # … q = sum b, and qdd = -sum w² b
    angle = np.outer(STEP * np.arange(round(seconds / STEP)), w)
    sin, cos, w = np.sin(angle), np.cos(angle), w[:, None]
    q, qd, qdd = sin @ a + cos @ b, cos @ (w * a) - sin @ (w * b), -sin @ (w**2 * a) - cos @ (w**2 * b)
    reach = np.minimum(REACH, 0.5 * (upper - lower))
    size = np.minimum(reach / abs(q).max(axis=0), SPEED * speed / abs(qd).max(axis=0))
    return np.stack([0.5 * (lower + upper) + size * q, size * qd, size * qdd])


def without(coefficients: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The nearest coefficients for which these rows are zero."""
    return coefficients - np.linalg.pinv(rows) @ (rows @ coefficients)


def moved(true: yt.Robot, described: yt.Robot, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and torques of MuJoCo's arm under computed torque of the description and PD."""
    q, qd, _ = wanted
    ahead = yt.inverse_dynamics(described)(*wanted)
    most = np.array([joint.limits.effort for joint in described.movable])
    links = np.diagonal(yt.mass_matrix(described)(q), axis1=1, axis2=2).mean(axis=0)
    inertia = links + DRIVE["rotor_inertia"] * most  # gains are tuned to the drives as well
    model = mujoco.MjModel.from_xml_string(to_mjcf(true, drives=True))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:] = q[0]
    positions, torques = np.empty_like(q), np.empty_like(q)
    for k in range(len(q)):
        feedback = inertia * (BANDWIDTH**2 * (q[k] - data.qpos) + 2.0 * BANDWIDTH * (qd[k] - data.qvel))
        torque = np.clip(ahead[k] + feedback, -most, most)
        positions[k], torques[k] = data.qpos, torque
        data.qfrc_applied[:] = torque
        mujoco.mj_step(model, data)
    return positions, torques


def recorded(robot: yt.Robot, q: np.ndarray, tau: np.ndarray, rng: np.random.Generator) -> pl.DataFrame:
    """What the log holds of it: jittering stamps, encoder counts, torques with noise and in steps.

    A torque is held from one reading of the positions to the next, so that it acts half a step after the first. The
    mean of the two around a stamp is the torque at the stamp; without it, friction is off by some standard deviations.
    """
    tau = 0.5 * (tau + np.concatenate([tau[:1], tau[:-1]]))
    t = STEP * np.arange(len(q)) + JITTER * rng.normal(size=len(q))
    most = np.array([joint.limits.effort for joint in robot.movable])
    step = 2.0 * most / TORQUE_STEPS
    columns = {
        "q": ENCODER * np.round(q / ENCODER),
        "tau": step * np.round((tau + NOISE * most * rng.normal(size=tau.shape)) / step),
    }
    named = {f"{kind}{k + 1}": values for kind, table in columns.items() for k, values in enumerate(table.T)}
    return pl.DataFrame({"t": t, **named})


def main() -> None:
    parser = argparse.ArgumentParser(description="Make logs of an arm with MuJoCo, and the truth about it.")
    parser.add_argument("robot", nargs="?", default="ur10", help="a catalog robot with limits, such as ur10 or panda")
    parser.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=25.0, help="of each of the two motions")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write_logs(given.robot, given.output, seconds=given.seconds, seed=given.seed)


if __name__ == "__main__":
    main()

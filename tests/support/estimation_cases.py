"""Estimation problems with known parameters: smooth motion, torques of links by MuJoCo's inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import mujoco
import numpy as np

import ytheta
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import PIECE_LENGTH, EstimationProblem
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.inertia import Inertia
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.robot import Robot

RATE = 50.0
FRICTION = ("viscous", "coulomb", "offset")


@dataclass(frozen=True, eq=False)
class Case:
    """Base parameters of a described robot, motion with the torques of the true robot, and its true beta."""

    base: ytheta.BaseParameters
    motion: MotionSamples
    truth: np.ndarray

    def problem(
        self,
        noise: np.ndarray | None = None,
        *,
        min_speed: np.ndarray | None = None,
        piece_length: int = PIECE_LENGTH,
        threads: int | None = 1,
        base: ytheta.BaseParameters | None = None,
    ) -> EstimationProblem:
        tau = self.tau if noise is None else self.tau + noise
        source = ArraySource(replace(self.motion, tau=tau), RATE)
        form = _form(base or self.base, None if min_speed is None else tuple(min_speed.tolist()))
        return EstimationProblem(form, (source,), threads=threads, piece_length=piece_length)

    @property
    def tau(self) -> np.ndarray:
        assert self.motion.tau is not None
        return self.motion.tau

    @cached_property
    def Y(self) -> np.ndarray:
        """Regressors of all samples."""
        return _form(self.base, None).kernel(self.motion.q, self.motion.qd, self.motion.qdd)

    def error(self, beta: np.ndarray, truth: np.ndarray | None = None) -> float:
        """The largest torque that the error of a parameter causes, relative to all torque."""
        sizes = np.linalg.norm(self.Y, axis=(0, 1))
        errors = abs(beta - (self.truth if truth is None else truth)) * sizes
        return float(errors.max() / np.linalg.norm(self.tau))


def make_case(
    robot: Robot, samples: int = 400, *, still: Sequence[int] = (), seed: int = 3, rotors: bool = True
) -> Case:
    """Return a case whose true bodies and drives are not those described. ``still``: joints that do not move."""
    rng = np.random.default_rng(seed)
    bodies = {link.name: draw_body(rng) for link in robot.merged.links[1:]}
    count = len(robot.movable)
    drives = rng.uniform(0.2, 1.0, (count, 4)) * (1.0 if rotors else np.array([0.0, 1.0, 1.0, 1.0]))
    base = _base(robot, rotors)
    motion = smooth_motion(count, samples, seed=seed, still=still)
    true_robot = replace(robot.merged, loops=()).with_inertias(bodies)
    tau = mujoco_torque(true_robot, motion.q, motion.qd, motion.qdd)
    columns = np.stack([motion.qdd, motion.qd, np.sign(motion.qd), np.ones_like(motion.qd)], axis=2)
    tau = tau + np.einsum("sjk,jk->sj", columns, drives)
    theta = np.concatenate([*(bodies[link.name].parameters for link in robot.merged.links[1:]), drives.ravel()])
    return Case(base, replace(motion, tau=tau), base.K @ theta)


@cache
def _form(base: ytheta.BaseParameters, min_speed: tuple[float, ...] | None) -> Differential:
    """The form, compiled once per robot."""
    return Differential(base, None if min_speed is None else np.array(min_speed))


@cache
def _base(robot: Robot, rotors: bool) -> ytheta.BaseParameters:
    return ytheta.base_parameters(robot, rotor_inertia=rotors, friction=FRICTION)


def smooth_motion(joints: int, samples: int, *, seed: int = 3, still: Sequence[int] = ()) -> MotionSamples:
    """Sums of sines with exact derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    amplitudes, phases = rng.normal(0.0, 0.4, (5, 1, joints)), rng.uniform(0.0, 6.0, (5, 1, joints))
    amplitudes[:, :, list(still)] = 0.0
    rates = (2.0 * np.pi * np.array([0.12, 0.21, 0.35, 0.5, 0.71]))[:, None, None] * rng.uniform(
        0.9, 1.1, (5, 1, joints)
    )
    waves = rates * t[None, :, None] + phases
    q = (amplitudes * np.sin(waves)).sum(axis=0) + rng.uniform(-0.5, 0.5, joints)
    qd, qdd = (amplitudes * rates * np.cos(waves)).sum(axis=0), -(amplitudes * rates**2 * np.sin(waves)).sum(axis=0)
    return MotionSamples(t, q, qd, qdd, None, None, np.arange(samples))


def mujoco_torque(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """mj_inverse of every sample; all arrays are in the order of ``robot.actuated``."""
    robot = robot.numeric.merged
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    data = mujoco.MjData(model)
    order = [int(model.joint(name).dofadr[0]) for name in robot.actuated]
    tau = np.zeros_like(q)
    for k in range(len(q)):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[k], qd[k], qdd[k]
        mujoco.mj_inverse(model, data)
        tau[k] = data.qfrc_inverse[order]
    return tau


def draw_body(rng: np.random.Generator) -> Inertia:
    """A physically consistent body of point masses."""
    masses, places = rng.uniform(0.2, 1.0, 6), rng.normal(0.0, 0.25, (6, 3))
    center = masses @ places / masses.sum()
    arms = places - center
    tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, arms, strict=True))
    rows = tuple(tuple(float(e) for e in row) for row in np.asarray(tensor))
    return Inertia.about_center(float(masses.sum()), tuple(float(c) for c in center), rows)  # type: ignore[arg-type]

"""Runs of robots whose torque signs or gravity can be described wrongly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import ytheta
from ytheta.dynamics.kernels import regressor
from ytheta.findings import Finding
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot

FRICTION = ("viscous", "coulomb", "offset")


@cache
def _form(robot: Robot, friction: tuple[str, ...], rotor: bool) -> Differential:
    return Differential(base_parameters(robot, rotor_inertia=rotor, friction=friction))


@dataclass(frozen=True, eq=False)
class Run:
    """A robot, its motion, and the parameters to estimate."""

    robot: Robot
    motion: MotionSamples
    rate: float
    friction: tuple[str, ...] = FRICTION
    rotor: bool = False

    def diagnose(
        self, *, wrong: tuple[int, ...] = (), gravity: tuple[float, float, float] | None = None
    ) -> list[Finding]:
        """The findings after the signs of some torques, or the described gravity, were changed."""
        robot = self.robot if gravity is None else replace(self.robot, gravity=gravity)
        signs = np.ones(len(robot.actuated))
        signs[list(wrong)] = -1.0
        assert self.motion.tau is not None
        motion = replace(self.motion, tau=self.motion.tau * signs)
        problem = EstimationProblem(_form(robot, self.friction, self.rotor), (ArraySource(motion, self.rate),))
        return list(diagnose(problem))


def _motion(robot: Robot, friction: float, noise: float, samples: int = 1500, speed: float = 1.0) -> MotionSamples:
    """Fourier motion with the described torque, friction, and white noise of this share."""
    rng = np.random.default_rng(3)
    n, t = len(robot.actuated), np.arange(samples) / 100.0
    omega = speed * rng.uniform(0.5, 2.5, size=(3, n))
    phase = omega[:, None] * t[None, :, None] + rng.uniform(0.0, 6.0, size=(3, 1, n))
    omega = omega[:, None]
    q, qd = 0.4 * np.sin(phase).sum(axis=0), 0.4 * (omega * np.cos(phase)).sum(axis=0)
    qdd = -0.4 * (omega**2 * np.sin(phase)).sum(axis=0)
    tau = regressor(robot)(q, qd, qdd) @ robot.theta + friction * (np.sign(qd) + qd)
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(samples))


def simulate_run(name: str, friction: float = 2.0, noise: float = 0.02) -> Run:
    """Motion of a catalog robot with friction."""
    robot = ytheta.load(name)
    return Run(robot, _motion(robot, friction, noise), 100.0, FRICTION if friction else ())

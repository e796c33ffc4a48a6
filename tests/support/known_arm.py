"""A two-link arm with known base parameters: exact motion, draws of noise, logs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import ytheta
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.equations.autocorrelation import compute_equation_autocorrelation_time
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import create_form
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.estimators.estimator import get_estimator
from ytheta.identification.result import Identification, Origin
from ytheta.logs.log import Log
from ytheta.logs.preparing.motion_sources import ArraySource, LogSource, Source
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot

RATE = 200.0
NOISE = np.array([2.0, 0.3])  # Nm
FRICTION = ("viscous", "coulomb", "offset")


@dataclass(frozen=True, eq=False)
class KnownArm:
    """The differential form of the arm, its exact motion, and its true base parameters."""

    form: Differential
    motion: MotionSamples
    beta: np.ndarray

    @property
    def robot(self) -> Robot:
        return self.form.base.robot

    @property
    def tau(self) -> np.ndarray:
        assert self.motion.tau is not None
        return self.motion.tau

    def log(self, tau: np.ndarray | None = None, *, every: int = 1) -> Log:
        """The motion as a log, with these torques or the true ones; ``every``: keep every so many samples."""
        motion, torque = self.motion, self.tau if tau is None else tau
        return Log(self.robot.actuated, motion.t[::every], motion.q[::every], torque[::every])

    def held_log(self, noise: float) -> Log:
        """A log in which the second joint is held and its encoder shows noise."""
        motion, rng = self.motion, np.random.default_rng(3)
        q = motion.q.copy()
        q[:, 1] = 0.3
        tau = self.form.kernel(q, motion.qd * [1.0, 0.0], motion.qdd * [1.0, 0.0]) @ self.beta
        tau = tau + 0.05 * rng.normal(size=tau.shape)
        return Log(self.robot.actuated, motion.t, q + noise * rng.normal(size=q.shape), tau)

    def draw_source(self, rng: np.random.Generator, cutoff: float | None) -> Source:
        """The motion with new noise on the torque, as arrays, or as a log with a low-pass at ``cutoff``."""
        exact = self.motion
        tau = self.tau + NOISE * rng.normal(size=self.tau.shape)
        if cutoff is None:
            return ArraySource(MotionSamples(exact.t, exact.q, exact.qd, exact.qdd, tau, tau, exact.rows), RATE)
        preparation = choose_preparation(self.log(tau), PreparationSettings(cutoff=cutoff))
        return LogSource(preparation, make_drive_directions(self.robot))

    def identify(self, source: Source, estimator: str = "weighted", form: str = "differential") -> Identification:
        """Identify the arm from a source."""
        problem = EstimationProblem(create_form(form, self.form.base), (source,), threads=1)
        estimate = get_estimator(estimator).fit(problem)
        errors = compute_errors(self.form, (source,), estimate.beta, threads=1)
        origin = Origin((), (), form, estimator, (), None, ())
        time = None
        if form != "differential":
            time = compute_equation_autocorrelation_time(problem, estimate.beta, estimate.hat)
        return Identification(
            self.form.base, estimate.beta, estimate, problem.normal_equations(), errors, None, origin, (), time
        )


@cache
def known_arm() -> KnownArm:
    """The arm, with friction that its description does not have."""
    robot = ytheta.load("lu-two-link").numeric
    base = ytheta.base_parameters(robot, friction=FRICTION)
    rng = np.random.default_rng(0)
    t = np.arange(0.0, 20.0, 1.0 / RATE)
    omega = 2.0 * np.pi * 0.1 * np.arange(1, 8)
    angle = t[:, None, None] * omega[:, None] + rng.uniform(0.0, 6.0, (7, 2))
    size = 0.5 * rng.normal(size=(7, 2))
    q = (size * np.sin(angle)).sum(axis=1)
    qd = (size * omega[:, None] * np.cos(angle)).sum(axis=1)
    qdd = (-size * omega[:, None] ** 2 * np.sin(angle)).sum(axis=1)
    theta = robot.theta.copy()
    for joint in robot.actuated:
        for kind, value in (("fv", 0.5), ("fc", 1.0), ("fo", 0.2)):
            theta[robot.parameter_names.index(f"{joint}.{kind}")] = value
    tau = ytheta.regressor(robot)(q, qd, qdd) @ theta
    return KnownArm(Differential(base), MotionSamples(t, q, qd, qdd, tau, tau, np.arange(len(t))), base.K @ theta)

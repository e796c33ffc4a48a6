"""Robots, exact motion and independent torques for the tests of equation forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot
from tests.support.forced_robots import CABLE, SPRING, with_forces
from tests.support.formulation_cases import fork
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.kernels import momentum_regressor
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import Form
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import Block, Kernel
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

RATE = 500.0
FRICTION = ("viscous", "coulomb", "offset")
WITHOUT_ACCELERATIONS = ("integral", "cumulative", "momentum")


def _smooth_ur10() -> Robot:
    """A UR10 with smooth friction in every other joint."""
    robot = driven_robot("ur10")
    joints = [
        replace(joint, drive=replace(joint.drive, coulomb_speed=0.05 * (k % 2))) for k, joint in enumerate(robot.joints)
    ]
    return replace(robot, joints=tuple(joints))


def _driven_fork() -> Robot:
    robot = fork()
    drive = Drive(0.02, 2.0, 0.7, 0.4, 0.1)
    return replace(robot, joints=tuple(replace(j, drive=drive) if j.moves else j for j in robot.joints))


ROBOTS: dict[str, Callable[[], Robot]] = {
    "two links": lambda: driven_robot("lu-two-link"),
    "ur10": _smooth_ur10,
    "rigid": lambda: ytheta.load("ur10"),
    "branches": _driven_fork,
    "coupled, with forces": lambda: with_forces(coupled_robot(), SPRING, CABLE),
}


@dataclass(frozen=True)
class Fourier:
    """q as a Fourier series of five terms per joint, with exact derivatives."""

    joints: int
    seed: int = 0
    lowest: float = 0.2  # Hz

    def __call__(self, t: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, b = np.random.default_rng(self.seed).normal(size=(2, 5, self.joints)) * 0.25
        w = 2.0 * np.pi * self.lowest * np.arange(1, 6)[:, None]
        angle = np.multiply.outer(t, w)
        sin, cos = np.sin(angle), np.cos(angle)
        q = (a * sin + b * cos).sum(axis=-2)
        return q, (w * (a * cos - b * sin)).sum(axis=-2), -(w**2 * (a * sin + b * cos)).sum(axis=-2)


def torque(robot: Robot, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> np.ndarray:
    """Torque of the links by Pinocchio; drives, couplings and the two forces by their definitions."""
    A, b = robot.coupling_map
    q, qd, qdd = x @ A.T + b, xd @ A.T, xdd @ A.T
    links = peer(robot)
    rho = np.array([links.torque(*sample) for sample in zip(q, qd, qdd, strict=True)])
    drives = [(rho[:, k], qd[:, k], qdd[:, k], joint.drive) for k, joint in enumerate(robot.movable)]
    tau = np.zeros_like(x)  # at first that of motors that are not part of a joint
    for motor in robot.motors:
        k = robot.coordinates.index(motor.name)
        drives.append((tau[:, k], xd[:, k], xdd[:, k], motor.drive))
    for sum_, rate, acceleration, drive in drives:
        ia, fv, fc, fo = drive.parameters
        width = drive.coulomb_speed
        sum_ += ia * acceleration + fv * rate + fo
        sum_ += fc * (rate / np.sqrt(rate**2 + width**2) if width else np.sign(rate))
    if robot.forces:
        spring, cable = (force.value for force in robot.forces)
        bend = (q[:, 1] + 0.67 * q[:, 2]) ** 3 - 0.2 * np.tanh(q[:, 1] + 0.67 * q[:, 2])
        rho[:, 1] += spring * (q[:, 1] - 0.3) + 0.7 * cable * bend
        rho[:, 2] -= cable * bend * np.cos(q[:, 4])
        rho[:, 4] += cable
    return tau + rho @ A


def make_motion(t: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray) -> MotionSamples:
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(len(t)))


@cache
def base_of(name: str) -> BaseParameters:
    return ytheta.base_parameters(ROBOTS[name](), rotor_inertia=True, friction=FRICTION)


@cache
def exact_motion(name: str, seed: int = 0, seconds: float = 10.0) -> MotionSamples:
    """Motion without noise."""
    robot = base_of(name).robot
    t = np.arange(int(seconds * RATE)) / RATE
    state = Fourier(len(robot.actuated), seed)(t)
    return make_motion(t, *state, torque(robot, *state))


def estimation_error(problem: EstimationProblem, beta: np.ndarray | None = None) -> float:
    """The largest error of beta relative to the largest beta, both scaled by the lengths of their columns."""
    truth = problem.base.beta
    scale = np.sqrt(np.diag(problem.normal_equations().matrix(np.ones(len(problem.layout.slices)))))
    beta = LeastSquares().fit(problem).beta if beta is None else beta
    return float(np.max(scale * abs(beta - truth)) / np.max(scale * abs(truth)))


class _NegatedKernel(Kernel):
    """A kernel with the opposite sign."""

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        return (Block(block.first, -block.values) for block in super().blocks(*arrays, size=size))


def negated_momentum_regressor(robot: Robot, base: BaseParameters) -> Kernel:
    """W with the wrong sign, for tests that must fail."""
    kernel = object.__new__(_NegatedKernel)
    kernel.__dict__.update(momentum_regressor(robot, base).__dict__)
    return kernel


@cache
def planar_arm() -> tuple[BaseParameters, MotionSamples]:
    """Base parameters and exact motion of a two-link arm."""
    robot = ytheta.load("lu-two-link")
    t = np.arange(400) / RATE
    state = Fourier(2, 3, lowest=0.5)(t)
    return ytheta.base_parameters(robot), make_motion(t, *state, torque(robot, *state))


def weighted_equations(weight: Callable[[float], float]) -> Callable[[float], np.ndarray]:
    """Weighted columns of Pinocchio's Y, which uses accelerations, and tau beside them, of the planar arm."""
    base, _ = planar_arm()
    links = peer(base.robot)
    columns = [base.robot.parameter_names.index(name) for name in base.independent]
    trajectory = Fourier(2, 3, lowest=0.5)

    def evaluate(t: float) -> np.ndarray:
        q, qd, qdd = trajectory(t)
        return weight(t) * np.column_stack([links.regressor(q, qd, qdd)[:, columns], links.torque(q, qd, qdd)])

    return evaluate


def stacked_rows(form: Form) -> np.ndarray:
    """All equations of the planar arm: regressor and torque beside it, one matrix per window."""
    _, motion = planar_arm()
    matrices = [
        np.concatenate([form.layout.dense(rows.values), rows.tau.T[:, :, None]], axis=2)
        for rows in EstimationProblem(form, (ArraySource(motion, RATE),), piece_length=100).rows()
    ]
    return np.concatenate(matrices)

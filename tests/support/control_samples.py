"""Random states, references and gains for control laws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ytheta.control.controller import Reference, State
from ytheta.control.laws.law import Law
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

# Torques of up to thousands of Nm, from algorithms that round differently.
TORQUE_TOLERANCE: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-9}


def add_friction(robot: Robot) -> Robot:
    drives = [Drive(0.02, 3.0, 0.4 + 0.1 * k, 0.3, 0.1, coulomb_speed=0.05) for k in range(len(robot.joints))]
    joints = [replace(j, drive=d) if j.moves else j for j, d in zip(robot.joints, drives, strict=True)]
    return replace(robot, joints=tuple(joints))


@dataclass(frozen=True, eq=False)
class ControlSample:
    """A motion near home, a reference near it, and gains that are full matrices."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    reference: Reference
    Lambda: np.ndarray
    K: np.ndarray

    @property
    def e(self) -> np.ndarray:
        return self.q - self.reference.q

    @property
    def ed(self) -> np.ndarray:
        return self.qd - self.reference.qd


def random_positive_definite(rng: np.random.Generator, n: int) -> np.ndarray:
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


def home_position(robot: Robot) -> np.ndarray:
    """The actuated coordinates at home."""
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    return np.array([home[name] for name in robot.actuated])


def random_sample(robot: Robot, seed: int = 0) -> ControlSample:
    rng = np.random.default_rng(seed)
    n = len(robot.actuated)
    q, qr = (home_position(robot) + rng.uniform(-0.1, 0.1, n) for _ in range(2))
    qd, qdd, qrd, qrdd = rng.normal(size=(4, n))
    reference = Reference(q=qr, qd=qrd, qdd=qrdd)
    return ControlSample(q, qd, qdd, reference, random_positive_definite(rng, n), random_positive_definite(rng, n))


def evaluate_law(law: Law, s: ControlSample, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the torque and the rate of x, from a step of one second."""
    tau, state = law.step(State(0.0, x), 1.0, s.q, s.qd, s.reference, s.qdd)
    return tau, state.x - x


def perturb(x: np.ndarray, seed: int = 1) -> np.ndarray:
    return x + np.random.default_rng(seed).uniform(-0.2, 0.2, len(x)) * (abs(x) + 0.1)

"""The functions that make the kernels of a robot, and samples to call kernels with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ytheta
from ytheta.dynamics.kernels import AnyKernel
from ytheta.robot.robot import Robot

KERNELS: dict[str, Callable[..., AnyKernel]] = {
    "regressor": ytheta.regressor,
    "inverse dynamics": ytheta.inverse_dynamics,
    "forward dynamics": ytheta.forward_dynamics,
    "mass matrix": ytheta.mass_matrix,
    "gravity": ytheta.gravity,
    "bias": ytheta.bias,
    "Coriolis matrix": ytheta.coriolis_matrix,
    "momentum": ytheta.momentum,
    "energy": ytheta.energy,
}


def draw_samples(robot: Robot, count: int, seed: int = 0) -> list[np.ndarray]:
    """Random positions, in the range in which loops close, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, count, len(robot.actuated)))
    if robot.loops:
        limits = [robot.joint(name).limits for name in robot.actuated]
        low = np.array([max(bound.lower, -1.0) for bound in limits])
        high = np.array([min(bound.upper, 1.5) for bound in limits])
        q = rng.uniform(low, high, q.shape)
    return [q, qd, qdd]


def call(kernel: AnyKernel, arrays: list[np.ndarray]) -> np.ndarray:
    """Call a kernel with as many arrays as it has inputs."""
    return kernel(*arrays[: len(kernel.graph.inputs)])

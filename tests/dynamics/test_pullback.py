"""Gradients of weighted sums of regressor entries and torques, against central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot
from tests.support.kernel_calls import draw_samples
from ytheta.dynamics.kernels import AnyKernel, regressor_pullback, torque_pullback
from ytheta.robot.robot import Robot

STEP = 1e-6
TOLERANCE = 2e-6  # of central differences with this step, relative to the largest derivative


def load_robot(name: str) -> Robot:
    return coupled_robot() if name == "coupled" else ytheta.load(name)


def differentiate(value: Callable[..., np.ndarray], arrays: list[np.ndarray]) -> np.ndarray:
    """Central differences with respect to q, qd and qdd, one joint at a time."""
    rows = np.zeros((len(arrays[0]), 3, arrays[0].shape[1]))
    for order in range(3):
        for joint in range(arrays[0].shape[1]):
            sides = []
            for sign in (1.0, -1.0):
                moved = [array.copy() for array in arrays]
                moved[order][:, joint] += sign * STEP
                sides.append(value(*moved))
            rows[:, order, joint] = (sides[0] - sides[1]) / (2.0 * STEP)
    return rows


def measure_error(kernel: AnyKernel, pullback: AnyKernel, robot: Robot, weights_factor: float = 1.0) -> float:
    arrays = draw_samples(robot, 5)[:3]
    weights = np.random.default_rng(3).normal(size=(5, len(kernel.places)))
    shape = (5, -1)
    numeric = differentiate(lambda *moved: (kernel(*moved).reshape(shape)[:, kernel.places] * weights).sum(1), arrays)
    exact = pullback(*arrays, weights * weights_factor)
    return float(abs(exact - numeric).max() / abs(numeric).max())


@pytest.mark.parametrize("name", ["panda", "stanford", "coupled", "five-bar", "walker"])
def test_derivatives_agree_with_differences(name: str) -> None:
    robot = load_robot(name)
    base = ytheta.base_parameters(robot, friction=("viscous",))
    kernel, pullback = ytheta.regressor(robot, base), regressor_pullback(robot, base)
    assert measure_error(kernel, pullback, robot) < TOLERANCE
    assert measure_error(kernel, pullback, robot, 1.001) > 100 * TOLERANCE
    kernel, pullback = ytheta.inverse_dynamics(robot), torque_pullback(robot)
    assert measure_error(kernel, pullback, robot) < TOLERANCE
    assert measure_error(kernel, pullback, robot, 1.001) > 100 * TOLERANCE

"""A plant and a controller in continuous time, and the tests that this loop itself is one."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import constant, run, sines
from ytheta.control.laws.computed_torque import ComputedTorque


def test_the_loop_is_linear_under_computed_torque() -> None:
    """The closed form of a critically damped error is the oracle; half the damping is its twin."""
    robot = ytheta.load("lu-two-link")
    law = ComputedTorque(robot, stiffness=25.0, damping=10.0)
    done = run(law, sines(0.5, [2.0, 3.0], [0.3, -0.4]), plant=robot, seconds=2.0, offset=0.2)
    expected = 0.2 * (1.0 + 5.0 * done.t) * np.exp(-5.0 * done.t)
    np.testing.assert_allclose(done.error, np.stack([expected] * 2, axis=1), rtol=0.0, atol=1e-8)
    twin = run(ComputedTorque(robot, stiffness=25.0, damping=5.0), done.reference, plant=robot, seconds=2.0, offset=0.2)
    assert abs(twin.error - expected[:, None]).max() > 1e-2


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3])
def test_settling_time(tolerance: float) -> None:
    robot = ytheta.load("lu-two-link")
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    done = run(law, constant([0.3, 0.2]), plant=robot, seconds=2.0, offset=0.2, points=2001)
    expected = 0.2 * (1.0 + 10.0 * done.t) * np.exp(-10.0 * done.t)
    assert done.settled(tolerance) == pytest.approx(float(done.t[np.argmax(expected < tolerance)]), abs=2e-3)

"""A UR10 that tracks a reference with unknown parameters."""

from __future__ import annotations

from functools import cache

import numpy as np

import ytheta
from tests.support.control_loop import sines
from ytheta.dynamics import kernels
from ytheta.robot.robot import Robot

UR10_CENTER = np.array([0.0, -1.0, 1.2, 0.3, 0.8, 0.0])
UR10_REFERENCE = sines(0.5, [1.5, 1.1, 1.9, 2.3, 1.7, 2.9], UR10_CENTER)


@cache
def ur10() -> Robot:
    return ytheta.load("ur10")


def ur10_damping() -> np.ndarray:
    """Sixteen times the inertia of each joint: the gains of the arm would make the light wrist a stiff system."""
    return 16.0 * np.diag(kernels.mass_matrix(ur10()).one(UR10_CENTER))

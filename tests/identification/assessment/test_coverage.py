"""Coverage of the limits, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta as yt
from ytheta.identification.assessment.excitation import measure_coverage
from ytheta.identification.assessment.torque_errors import MotionRange
from ytheta.robot.parts import Limits


def test_shares_of_the_limits() -> None:
    robot = yt.load("lu-two-link")
    limits = (Limits(lower=-2.0, upper=2.0, velocity=4.0, effort=50.0), Limits(lower=-1.0, velocity=3.0))
    joints = iter(limits)
    robot = replace(robot, joints=tuple(replace(j, limits=next(joints)) if j.moves else j for j in robot.joints))
    motion = MotionRange(
        lower=np.array([-1.0, -0.5]),
        upper=np.array([0.0, 0.5]),
        speed=np.array([1.0, 3.0]),
        acceleration=np.array([9.0, 9.0]),
        torque=np.array([40.0, 5.0]),
    )
    coverage = measure_coverage(robot, motion)
    np.testing.assert_allclose(coverage.position, [0.25, np.nan])
    np.testing.assert_allclose(coverage.speed, [0.25, 1.0])
    np.testing.assert_allclose(coverage.torque, [0.8, np.nan])

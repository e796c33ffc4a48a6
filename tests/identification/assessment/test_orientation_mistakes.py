"""Quaternions of a floating base in another order: the mended motion, and the finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import ytheta as yt
from tests.support.diagnosis_runs import Run
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identification.assessment.orientation import INVERSE, SCALAR_FIRST, change_orientation
from ytheta.logs.preparing.prepared_log import MotionSamples

RATE = 100.0
STEP = 1e-4  # s; of central differences, with an error of about its square
T = np.arange(1500) / RATE
RNG = np.random.default_rng(4)
FREQUENCIES, PHASES = RNG.uniform(0.5, 2.5, (2, 9)), RNG.uniform(0.0, 6.0, (2, 9))
ROBOT = yt.float_base(yt.load("lu-two-link"))


def move(t: np.ndarray, count: int, first: int = 0) -> np.ndarray:
    """Smooth functions of time, one in each column."""
    part = slice(first, first + count)
    angles = t[:, None, None] * FREQUENCIES[:, part] + PHASES[:, part]
    return np.asarray(0.4 * np.sin(angles).sum(axis=1))


def differentiate(t: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and twist of a base whose quaternion is multiplied by a matrix, from differences of rotations."""
    before, now, after = (
        Rotation.from_quat(Rotation.from_rotvec(move(time, 3, 3)).as_quat() @ matrix.T)
        for time in (t - STEP, t, t + STEP)
    )
    w = (before.inv() * after).as_rotvec() / (2.0 * STEP)
    v = now.inv().apply(move(t + STEP, 3) - move(t - STEP, 3)) / (2.0 * STEP)
    return np.hstack([move(t, 3), now.as_rotvec()]), np.hstack([v, w])


def make_motion(matrix: np.ndarray) -> MotionSamples:
    """The motion if the quaternion of the base is multiplied by a matrix."""
    q, qd = differentiate(T, matrix)
    qdd = (differentiate(T + STEP, matrix)[1] - differentiate(T - STEP, matrix)[1]) / (2.0 * STEP)
    joints = [move(T + k * STEP, 2, 6) for k in (-1, 0, 1)]
    rates = (joints[2] - joints[0]) / (2.0 * STEP), (joints[2] - 2.0 * joints[1] + joints[0]) / STEP**2
    q, qd, qdd = np.hstack([q, joints[1]]), np.hstack([qd, rates[0]]), np.hstack([qdd, rates[1]])
    tau = inverse_dynamics(ROBOT)(q, qd, qdd)
    return MotionSamples(T, q, qd, qdd, tau, tau, np.arange(len(T)))


@pytest.mark.parametrize("matrix", [SCALAR_FIRST, INVERSE])
def test_the_mended_motion_is_that_of_differences(matrix: np.ndarray) -> None:
    true, wrong = make_motion(np.eye(4)), make_motion(matrix.T)
    mended = change_orientation(wrong.q, wrong.qd, wrong.qdd, matrix)
    for value, expected, unmended in zip(
        mended, (true.q, true.qd, true.qdd), (wrong.q, wrong.qd, wrong.qdd), strict=True
    ):
        np.testing.assert_allclose(value, expected, atol=1e-5)
        assert abs(unmended - expected).max() > 0.1  # the twin


@pytest.mark.parametrize(("matrix", "words"), [(SCALAR_FIRST, "in the order w, x, y, z"), (INVERSE, "is inverted")])
def test_the_mistake_is_named(matrix: np.ndarray, words: str) -> None:
    true = make_motion(np.eye(4))
    assert Run(ROBOT, true, RATE, friction=()).diagnose() == []
    (finding,) = Run(ROBOT, replace(make_motion(matrix.T), tau=true.tau), RATE, friction=()).diagnose()
    assert finding.code == "orientation"
    assert words in finding.text

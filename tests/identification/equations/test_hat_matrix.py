"""Autocovariances of hat matrices against dense hat matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.known_arm import RATE, known_arm
from ytheta.identification.equations.autocorrelation import (
    LAG_COUNT,
    MAX_HAT_PIECES,
    SAMPLES_PER_PIECE,
    compute_hat_autocovariance,
    iterate_values,
    select_tasks,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples

SAMPLES = 500
WEIGHTS = np.array([0.3, 5.0])


def make_problem(min_speed: float | None = None) -> EstimationProblem:
    """The first samples of the known arm; equations of joints slower than ``min_speed`` are left out."""
    motion, tau = known_arm().motion, known_arm().tau[:SAMPLES]
    t, q, qd, qdd = (array[:SAMPLES] for array in (motion.t, motion.q, motion.qd, motion.qdd))
    source = ArraySource(MotionSamples(t, q, qd, qdd, tau, None, np.arange(SAMPLES)), RATE)
    form = replace(known_arm().form, min_speed=None if min_speed is None else np.full(2, min_speed))
    return EstimationProblem(form, (source,), threads=1)


def compute_dense_hats(problem: EstimationProblem, gain: np.ndarray) -> list[np.ndarray]:
    """The hat matrix of each joint's own equations."""
    (task,) = problem.tasks()
    Y = problem.layout.dense(np.concatenate(list(iterate_values(problem, task)), axis=1))
    return [weight * Y[:, j] @ gain @ Y[:, j].T for j, weight in enumerate(WEIGHTS)]


def test_sums_against_dense_hat_matrices() -> None:
    for problem in (make_problem(), make_problem(min_speed=0.4)):
        gain = np.linalg.inv(problem.normal_equations().matrix(WEIGHTS))
        shrunk = np.linalg.inv(problem.normal_equations().matrix(WEIGHTS) + 50.0 * np.eye(len(gain)))
        expected = {}
        for name, each in (("free", gain), ("shrunk", shrunk)):
            hats = compute_dense_hats(problem, each)
            freedom = np.array([np.trace(H) for H in hats])
            expected[name] = np.array([[np.trace(H, lag) for H in hats] for lag in range(LAG_COUNT)])
            h = compute_hat_autocovariance(problem, WEIGHTS, each, freedom)
            np.testing.assert_allclose(h, expected[name], rtol=0.0, atol=1e-8)
        assert expected["free"][0].sum() > len(gain) - 1e-6  # all parameters, as a check of the oracle
        assert abs(expected["free"] - expected["shrunk"]).max() > 0.1  # the twin: another estimate takes away less


def test_long_motion_is_sampled() -> None:
    source = ArraySource(known_arm().motion, RATE)
    problem = EstimationProblem(known_arm().form, (source,) * 9, threads=1)
    pieces = -(-source.lengths[0] // SAMPLES_PER_PIECE)
    assert len(select_tasks(problem, 100)) == 9 * pieces > MAX_HAT_PIECES  # all of them
    assert [task.source for task in select_tasks(problem, 3)] == [0, 4, 8]

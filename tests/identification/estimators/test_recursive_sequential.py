"""The recursive version of sequential least squares, sample by sample, against solving all samples at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.unknown_lengths import RATE, make_case
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.sequential import RecursiveSequential, Sequential
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples

SAMPLES = 400


def run(estimator: RecursiveSequential, noise: float) -> tuple[np.ndarray, EstimationProblem]:
    """Return the parameters after all samples of noisy motion, and the same samples as a problem."""
    case = make_case("RPR")
    motion = case.motion.select(0, SAMPLES)
    assert motion.tau is not None
    tau = motion.tau + noise * np.random.default_rng(0).normal(size=motion.tau.shape)
    form = Differential(case.base)
    state = estimator.init(case.base.robot, form.layout, case.base.beta)
    for Y, sample in zip(form.kernel(motion.q, motion.qd, motion.qdd), tau, strict=True):
        residual, state = estimator.step(state, Y, sample)
    assert residual.shape == (3,)
    return state.beta, EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),), threads=1)


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
def test_all_samples_at_once_give_the_same_estimate(forgetting: float) -> None:
    beta, problem = run(RecursiveSequential(forgetting, initial_spread=1e10), noise=0.5)
    at_once = Sequential(forgetting).fit(problem).beta
    np.testing.assert_allclose(beta, at_once, rtol=1e-5, atol=1e-5)  # the initial spread is not infinite
    assert not np.allclose(beta, Sequential(0.9).fit(problem).beta, rtol=1e-3, atol=1e-3)


def test_exact_motion_gives_exact_parameters() -> None:
    beta, _ = run(RecursiveSequential(initial_spread=1e11), noise=0.0)
    truth = make_case("RPR").truth
    assert abs(beta - truth).max() < 1e-9 * abs(truth).max()
    assert abs(run(RecursiveSequential(initial_spread=1e-2), noise=0.0)[0] - truth).max() > 1e-3


@pytest.mark.parametrize("forgetting", [1.0, 0.95])
def test_spread_of_the_sequential_estimate(forgetting: float) -> None:
    """P_j = L_j L_jᵀ, with L_j from one estimate for each changed torque; older samples count less."""
    case, pick = make_case("RPR"), slice(None, None, 40)
    arrays = (case.motion.t, case.motion.q, case.motion.qd, case.motion.qdd)
    t, q, qd, qdd = (values[pick] for values in arrays)
    tau = case.motion.tau[pick] if case.motion.tau is not None else np.zeros_like(q)
    form = Differential(case.base)

    def fit(torques: np.ndarray) -> Estimate:
        return Sequential(forgetting).fit(_make_problem(form, t, q, qd, qdd, torques))

    exact, joint = fit(tau), 2
    steps = [fit(tau + np.eye(1, tau.size, 3 * k + joint).reshape(tau.shape)).beta - exact.beta for k in range(len(t))]
    expected = np.array(steps).T @ np.array(steps)
    np.testing.assert_allclose(exact.spread[joint], expected, rtol=1e-5, atol=1e-8 * abs(expected).max())
    if forgetting < 1.0:
        assert not np.allclose(Sequential().fit(_make_problem(form, t, q, qd, qdd, tau)).spread[joint], expected)


def _make_problem(form: Differential, *arrays: np.ndarray) -> EstimationProblem:
    t, q, qd, qdd, tau = arrays
    samples = MotionSamples(t, q, qd, qdd, tau, None, np.arange(len(t)))
    return EstimationProblem(form, (ArraySource(samples, RATE),), threads=1)


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match=r"forgetting is 1\.5"):
        RecursiveSequential(1.5)
    with pytest.raises(InputError, match="forgetting is 0"):
        Sequential(0.0)

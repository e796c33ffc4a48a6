"""The recursive version of sequential least squares, sample by sample, against solving all samples at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.unknown_lengths import RATE, make_case
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.recursive_sequential import RecursiveSequential
from ytheta.identification.estimators.sequential import Sequential

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


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match=r"forgetting is 1\.5"):
        RecursiveSequential(1.5)
    with pytest.raises(InputError, match="forgetting is 0"):
        Sequential(0.0)

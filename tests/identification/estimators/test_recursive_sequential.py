"""The recursive version of sequential least squares, sample by sample, against solving all samples at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.unknown_lengths import RATE, make_case
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.sequential import Sequential
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples

SAMPLES = 400


def run(forgetting: float, noise: float, samples: int = SAMPLES) -> tuple[np.ndarray, EstimationProblem]:
    """Return the parameters after all samples of noisy motion, and the same samples as a problem."""
    case = make_case("RPR")
    motion = case.motion.select(0, samples)
    assert motion.tau is not None
    tau = motion.tau + noise * np.random.default_rng(0).normal(size=motion.tau.shape)
    Y = yt.regressor(case.base.robot, case.base)
    estimator = yt.RecursiveSequential(forgetting)
    state = estimator.init(case.base)
    for q, qd, qdd, torques in zip(motion.q, motion.qd, motion.qdd, tau, strict=True):
        residual, state = estimator.step(state, Y.one(q, qd, qdd), torques)
    assert residual.shape == (3,)
    form = Differential(case.base)
    return state.beta, EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),), threads=1)


def solve_stacked(problem: EstimationProblem, forgetting: float) -> np.ndarray:
    """Solve (38) with stacked, weighted equations and NumPy's least squares."""
    rows = list(problem.rows())
    tau, layout = np.concatenate([each.tau for each in rows], axis=1), problem.layout
    values = np.concatenate([each.values for each in rows], axis=1)
    root_weights = forgetting ** (0.5 * np.arange(tau.shape[1])[::-1])
    beta, solved, start = np.zeros(layout.base_count), np.zeros(layout.base_count, dtype=bool), len(values)
    for joint in reversed(range(len(layout.columns))):
        columns = layout.columns[joint]
        start -= len(columns)
        U = np.zeros((tau.shape[1], layout.base_count))
        U[:, columns] = values[start : start + len(columns)].T
        own = np.isin(np.arange(layout.base_count), columns) & ~solved
        right_side = tau[joint] - U[:, solved] @ beta[solved]
        beta[own] = np.linalg.lstsq(root_weights[:, None] * U[:, own], root_weights * right_side, rcond=None)[0]
        solved |= own
    return beta


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("samples", [60, SAMPLES])
def test_every_sample_gives_the_estimate_of_all_samples_so_far(forgetting: float, samples: int) -> None:
    beta, problem = run(forgetting, 0.5, samples)
    scale = abs(beta).max()
    np.testing.assert_allclose(beta, solve_stacked(problem, forgetting), rtol=1e-10, atol=1e-10 * scale)
    # The normal equations of few samples with forgetting lose half of the digits: their condition number is squared.
    tolerance = 1e-10 if forgetting == 1.0 or samples == SAMPLES else 1e-8
    np.testing.assert_allclose(beta, Sequential(forgetting).fit(problem).beta, rtol=tolerance, atol=tolerance * scale)
    assert not np.allclose(beta, Sequential(0.9).fit(problem).beta, rtol=1e-3, atol=1e-3)  # the twin


def test_exact_motion_gives_exact_parameters() -> None:
    truth = make_case("RPR").truth
    assert abs(run(1.0, 0.0)[0] - truth).max() < 1e-10 * abs(truth).max()


def test_what_no_sample_identifies_keeps_its_initial_value() -> None:
    base = yt.base_parameters(yt.load("lu-puma4"))
    initial = np.arange(1.0, 1.0 + len(base))
    estimator = yt.RecursiveSequential()
    state = estimator.init(base, initial)
    np.testing.assert_array_equal(state.beta, initial)
    Y = yt.regressor(base.robot, base).one(*np.random.default_rng(0).normal(size=(3, 4))).copy()
    Y[:, -2] = 0.0  # as of a parameter that this sample does not show
    residual, state = estimator.step(state, Y, np.ones(4))
    np.testing.assert_allclose(residual, 1.0 - Y @ initial, rtol=1e-12)
    np.testing.assert_allclose(Y @ state.beta, np.ones(4), rtol=1e-9)  # one sample is met exactly
    assert state.beta[-2] == initial[-2]
    assert state.beta[-1] != initial[-1]


def test_wrong_samples_are_refused() -> None:
    base = yt.base_parameters(yt.load("lu-two-link"))
    estimator = yt.RecursiveSequential()
    state = estimator.init(base)
    Y, tau = np.zeros((2, len(base))), np.zeros(2)
    with pytest.raises(InputError, match=r"one for each of the base parameters"):
        estimator.init(base, np.zeros(len(base) + 1))
    with pytest.raises(InputError, match=r"give Y with 2 rows and"):
        estimator.step(state, Y[:, 1:], tau)
    with pytest.raises(InputError, match="is not finite"):
        estimator.step(state, Y, np.array([0.0, np.nan]))
    with pytest.raises(InputError, match="row 1 of Y has entries for parameters"):
        estimator.step(state, Y + 1.0, tau)


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
        yt.RecursiveSequential(1.5)
    with pytest.raises(InputError, match="forgetting is 0"):
        Sequential(0.0)

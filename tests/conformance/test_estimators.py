"""One list over all estimators: recovery, blocks and threads, what is not seen, calibrated covariances, Table I."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import FRICTION, Case, case, smooth
from tests.support.ha_scara import SYMMETRIC
from ytheta.errors import UnknownNameError
from ytheta.identifiability import ha
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.estimate import Estimate, Estimator
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.estimators.registry import AUTO, ESTIMATORS, estimator
from ytheta.identification.estimators.sequential import Sequential
from ytheta.robot.inertia import Inertia

ROBOTS = ("ur10", "stanford", "panda")
every = pytest.mark.parametrize("name", ESTIMATORS)


@cache
def catalog(name: str, samples: int = 400, still: tuple[int, ...] = ()) -> Case:
    return case(ytheta.load(name), samples, still=still)


@cache
def lighter() -> ytheta.BaseParameters:
    robot = replace(ytheta.load("stanford"), gravity=(0.0, 0.0, -9.0))
    return ytheta.base_parameters(robot, rotor_inertia=True, friction=FRICTION)


def white(known: Case, size: float, seed: int) -> np.ndarray:
    """Noise of a different size for each joint."""
    deviations = size * np.linspace(0.5, 2.0, known.tau.shape[1])
    return deviations * np.random.default_rng(seed).normal(size=known.tau.shape)


# --- the list -------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("robot", ROBOTS)
def test_exact_data_give_exact_parameters(name: str, robot: str) -> None:
    known = catalog(robot)
    found = estimator(name).fit(known.problem())
    assert isinstance(estimator(name), Estimator)
    assert estimator(name).name == name
    assert known.error(found.beta) < 1e-6  # measured: 1e-12
    assert known.error(known.base.beta) > 1e-2  # the description is no help
    assert found.unseen.shape == (len(known.base), 0)
    np.testing.assert_allclose(found.used.sum(), len(known.base), rtol=1e-6)
    assert not found.notes


@every
def test_a_wrong_model_does_not_recover(name: str) -> None:
    """The twin: gravity of the model a twelfth less."""
    known = catalog("stanford")
    base = lighter()
    assert base.independent == known.base.independent
    assert known.error(estimator(name).fit(known.problem(base=base)).beta) > 1e-3


@every
def test_blocks_and_threads_do_not_matter(name: str) -> None:
    known = catalog("stanford")
    noise = white(known, 0.5, 1)
    noise[::17] += 20.0
    min_speed = np.full(6, 0.05)
    one = estimator(name).fit(known.problem(noise, min_speed=min_speed))
    assert known.error(one.beta) > 1e-9
    other = estimator(name).fit(known.problem(noise, min_speed=min_speed, size=90, threads=2))
    assert known.error(one.beta, other.beta) < 1e-9
    np.testing.assert_allclose(other.spread, one.spread, rtol=1e-7, atol=1e-9 * abs(one.spread).max())
    assert other.rounds == one.rounds
    different = estimator(name).fit(known.problem(white(known, 0.5, 2), min_speed=min_speed))
    assert known.error(one.beta, different.beta) > 1e-9  # the twin


@every
@pytest.mark.parametrize("robot", ["ur10", "stanford"])
def test_what_is_not_seen_stays_as_described(name: str, robot: str) -> None:
    """The last joint stands still: nothing is learnt of its rotor and of its friction, and all else is right."""
    known = catalog(robot, still=(5,))
    found = estimator(name).fit(known.problem())
    last = known.base.robot.actuated[-1]
    dead = [known.base.names.index(f"{last}.{p}") for p in ("Ia", "fv", "fc")]
    units = np.eye(len(known.base))[:, dead]
    spanned = found.unseen @ np.linalg.lstsq(found.unseen, units, rcond=None)[0]
    np.testing.assert_allclose(spanned, units, atol=1e-9)
    np.testing.assert_array_equal(found.beta[dead], known.base.beta[dead])
    assert not found.spread[:, dead].any()
    np.testing.assert_allclose(known.Y @ found.beta, known.tau, atol=1e-6 * abs(known.tau).max())
    assert found.used.sum() < len(known.base)
    moving = estimator(name).fit(catalog(robot).problem())
    assert moving.unseen.shape[1] == 0
    assert moving.beta[dead[0]] != known.base.beta[dead[0]]


def pooled(known: Case, fit: Callable[[EstimationProblem], Estimate], times: int, scale: float = 1.0) -> float:
    """Mean of (beta - truth)ᵀ cov⁻¹ (beta - truth) per parameter over many noises: 1 where covariances are right."""
    variances = (scale * np.linspace(0.5, 2.0, known.tau.shape[1])) ** 2
    total = 0.0
    for seed in range(times):
        found = fit(known.problem(white(known, 1.0, seed)))
        wrong = found.beta - known.truth
        sizes = np.sqrt(np.diag(found.covariance(variances)))
        whitened = np.linalg.solve(found.covariance(variances) / np.outer(sizes, sizes), wrong / sizes)
        total += float(wrong / sizes @ whitened)
    return total / times / len(known.base)


@every
def test_covariances_are_calibrated(name: str) -> None:
    """Pooled chi-square: 24 x 22 squares, so 1 with a standard deviation of 0.06."""
    known = catalog("ha-scara", 300)
    assert abs(pooled(known, estimator(name).fit, 24) - 1.0) < 0.25
    assert abs(pooled(known, estimator(name).fit, 4, scale=0.7) - 1.0) > 0.5  # the twin: less noise than there is


@pytest.mark.parametrize("fit", [LeastSquares(), Sequential(), Recursive(), Recursive(forgetting=0.97)])
def test_spread_is_that_of_a_linear_estimate(fit: Estimator) -> None:
    """P_j = L_j L_jᵀ, column by column of L: one torque after the other a little larger."""
    known = catalog("ha-scara", 40)
    middle = fit.fit(known.problem())
    samples, joints = known.tau.shape
    for j in (0, joints - 1):
        L = np.zeros((len(known.base), samples))
        for k in range(samples):
            nudge = np.zeros((samples, joints))
            nudge[k, j] = 1.0
            L[:, k] = fit.fit(known.problem(nudge)).beta - middle.beta
        np.testing.assert_allclose(L @ L.T, middle.spread[j], rtol=0.0, atol=1e-8 * abs(middle.spread[j]).max())
        assert abs(L @ L.T - middle.spread[1]).max() > 1e-2 * abs(middle.spread[j]).max()  # the twin: another joint


# --- names ----------------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert list(ESTIMATORS) == ["least-squares", "weighted", "sequential", "huber", "recursive", "lin"]
    assert estimator("auto") is ESTIMATORS[AUTO] is ESTIMATORS["weighted"]
    with pytest.raises(UnknownNameError, match=r"no estimator 'hubr'; did you mean 'huber'\?"):
        estimator("hubr")
    with pytest.raises(UnknownNameError, match="there are: auto, huber, least-squares"):
        estimator("zzz")


# --- Table I of Ha, Ko and Kwon --------------------------------------------------------------------------------------

TABLE = np.array([5.0, 1.0, 1.0, 2.5, 1.0, 0.3, 0.7, 0.7, 3.0, 0.3, 0.3, 0.5, 0.3, 0.3])


def printed_model(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """U of (59), (60), as printed."""
    U = np.zeros((len(q), 4, 14))
    (v1, v2, v3, v4), (a1, a2, a3, a4), C2, S2 = qd.T, qdd.T, np.cos(q[:, 1]), np.sin(q[:, 1])
    U[:, 0, 0], U[:, 0, 3], U[:, 0, 11] = a1, a2, a4
    U[:, 0, 4] = -2 * v1 * v2 * S2 - v2**2 * S2 + (2 * a1 + a2) * C2
    U[:, 0, 5] = -2 * v1 * v2 * C2 - v2**2 * C2 - (2 * a1 + a2) * S2
    U[:, 1, 3], U[:, 1, 4], U[:, 1, 5] = a1 + a2, a1 * C2 + v1**2 * S2, -a1 * S2 + v1**2 * C2
    U[:, 1, 11], U[:, 2, 8], U[:, 3, 11] = a4, a3 - 9.8, a1 + a2 + a4
    for joint, (first, rate) in enumerate(zip((1, 6, 9, 12), (v1, v2, v3, v4), strict=True)):
        U[:, joint, first], U[:, joint, first + 1] = rate, np.sign(rate)
    return U


@pytest.mark.parametrize("name", ["sequential", "lin", "least-squares"])
def test_table_1_without_measurement_errors(name: str) -> None:
    """Torques of the printed model with the true values of the table; a robot that knows no mass finds them."""
    scara = ytheta.load("ha-scara")
    grouped = ha.regroup(scara, zero=SYMMETRIC)
    ignorant = scara.with_inertias({link.name: Inertia() for link in scara.links})
    base = ytheta.base_parameters(ignorant, friction=("viscous", "coulomb"))
    motion = smooth(4, 400)
    U = printed_model(motion.q, motion.qd, motion.qdd)

    def identified(truth: np.ndarray) -> np.ndarray:
        source = ArraySource(replace(motion, tau=U @ truth), 100.0)
        beta = estimator(name).fit(EstimationProblem(Differential(base), (source,))).beta
        names, lengths = scara.parameter_names, {name: float(value or 0.0) for name, value in scara.lengths}
        X = np.zeros((sum(grouped.counts), len(names)))
        for row, each in zip(X, (c for own in grouped.combinations for c in own), strict=True):
            for parameter, powers, factor in each.terms:
                worth = math.prod(lengths[symbol] ** power for symbol, power in powers)
                row[names.index(parameter)] += float(factor) * worth
        unit = np.eye(len(names))
        forms = np.concatenate([base.K, unit[[names.index(p) for p in SYMMETRIC]]])
        C = np.linalg.lstsq(forms.T, X.T, rcond=None)[0].T
        np.testing.assert_allclose(C @ forms, X, atol=1e-12)
        found = iter(C[:, : len(base)] @ beta)
        friction = [[beta[base.names.index(f"joint{i}.{p}")] for p in ("fv", "fc")] for i in (1, 2, 3, 4)]
        return np.concatenate([[*(next(found) for _ in range(n)), *friction[i]] for i, n in enumerate(grouped.counts)])

    np.testing.assert_allclose(identified(TABLE), TABLE, rtol=1e-9)
    other = TABLE * np.linspace(0.9, 1.1, 14)
    np.testing.assert_allclose(identified(other), other, rtol=1e-9)
    assert not np.allclose(identified(other), TABLE, rtol=1e-3)

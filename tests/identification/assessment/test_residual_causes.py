"""Causes of residuals: each is planted in the logs of a simulated arm, and none is named in logs without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.simulated_robots import FrictionLaw, Motion, load_description, make_motion, make_true_robot, record
from scipy.ndimage import gaussian_filter1d

import ytheta as yt
from ytheta.identification.assessment.residual_analysis import (
    Cause,
    JointResiduals,
    ResidualCause,
    compute_explained_share,
    explain_residual,
)

JOINT = 3  # of the arm; it has torques that the other joints hardly feel
DELAY = 0.03  # s
Plant = Callable[[Motion, np.ndarray], np.ndarray]


def leave(motion: Motion, tau: np.ndarray) -> np.ndarray:
    return np.zeros(len(motion.q)) * tau


def delay(motion: Motion, tau: np.ndarray) -> np.ndarray:
    return np.interp(motion.t - DELAY, motion.t, tau) - tau


def bend(motion: Motion, tau: np.ndarray) -> np.ndarray:
    curvature = np.gradient(np.gradient(gaussian_filter1d(tau, 8), motion.t), motion.t)
    return 0.2 * curvature * tau.std() / curvature.std()


def stribeck(motion: Motion, tau: np.ndarray) -> np.ndarray:
    speed = motion.qd[:, JOINT] / abs(motion.qd[:, JOINT]).max()
    return 0.3 * tau.std() * np.sign(speed) * np.exp(-((speed / 0.15) ** 2))


def twist(motion: Motion, tau: np.ndarray) -> np.ndarray:
    return 0.5 * tau.std() * np.sin(5.0 * motion.q[:, JOINT])


@cache
def find_causes(plant: Plant, *, rotor_inertia: bool = True) -> dict[str, ResidualCause]:
    """Identify an arm from logs in which the torque of one joint was changed, and return the causes by joint."""
    rng = np.random.default_rng(77)
    description = load_description("ur10")
    truth = make_true_robot(description, rng, rotors=True, law=FrictionLaw.PLAIN)
    logs = []
    for _ in range(2):
        motion = make_motion(description, rng, rich=True)
        log = record(truth, motion, rng, colour_time=0.02)
        assert log.tau is not None
        tau = log.tau.copy()
        tau[:, JOINT] += plant(motion, truth.compute_torque(motion)[:, JOINT])
        logs.append(replace(log, tau=tau))
    result = yt.identify(description, logs[0], validate=logs[1], estimator="weighted", rotor_inertia=rotor_inertia)
    return {each.joint: each for each in result.residual_causes}


@pytest.mark.parametrize(
    ("plant", "cause"),
    [(delay, Cause.LAG), (bend, Cause.FLEXIBLE), (stribeck, Cause.FRICTION), (twist, Cause.POSITION)],
)
def test_a_planted_cause_is_named(plant: Plant, cause: Cause) -> None:
    """It is named for its joint and not for joints that do not have it; twin: nothing is named in the clean logs."""
    causes = list(find_causes(plant).values())
    assert causes[JOINT].cause is cause
    assert causes[JOINT].share > 0.5
    assert causes[JOINT].text
    assert cause not in [each.cause for k, each in enumerate(causes) if k != JOINT]
    assert {each.cause for each in find_causes(leave).values()} == {Cause.UNEXPLAINED}


def test_the_lag_is_measured() -> None:
    """The delay that is named is the one that was planted."""
    text = list(find_causes(delay).values())[JOINT].text
    assert "ms late" in text
    assert float(text.split()[3]) == pytest.approx(1e3 * DELAY, rel=0.15)


def test_a_missing_rotor_is_named() -> None:
    causes = find_causes(leave, rotor_inertia=False).values()
    assert any(each.cause is Cause.INERTIA and "rotor inertia is missing" in each.text for each in causes)


def make_data(residual: np.ndarray, qd: np.ndarray) -> JointResiduals:
    zeros = np.zeros(len(qd))
    return JointResiduals(zeros, qd, zeros, zeros, zeros, zeros, residual, regressor=qd[:, None])


def test_a_joint_at_rest_is_named() -> None:
    """Half of the time the joint rests, and only then there is a residual; twin: the residual is the same always."""
    rng = np.random.default_rng(1)
    qd = np.where(np.arange(2000) // 250 % 2 == 0, 1.0, 0.0)
    noise = rng.normal(size=2000)
    at_rest = explain_residual("q1", make_data(np.where(qd == 0.0, noise, 0.01 * noise), qd))
    assert at_rest.cause is Cause.REST
    assert "rests 50 % of the time" in at_rest.text
    assert explain_residual("q1", make_data(noise, qd)).cause is Cause.UNEXPLAINED
    assert explain_residual("q1", make_data(np.zeros(2000), qd)).cause is Cause.UNEXPLAINED


def test_a_cause_is_named_if_the_model_expresses_every_lag() -> None:
    """The rate of the predicted torque is zero or a column of the model, so that no delay can be measured."""
    t = np.linspace(0.0, 20.0, 2000)
    q, qd = np.sin(3.0 * t) + 0.5 * np.sin(7.7 * t), 3.0 * np.cos(3.0 * t) + 3.85 * np.cos(7.7 * t)
    data = replace(make_data(np.abs(q), qd), q=q)
    for rate in (np.zeros(2000), qd):
        explained = explain_residual("q1", replace(data, predicted_rate=rate))
        assert explained.cause is Cause.POSITION
        assert explained.text == "it has a torque that depends on its position"
    late = explain_residual("q1", replace(data, predicted_rate=np.abs(q) / -0.02))  # the twin: a lag of 20 ms
    assert late.cause is Cause.LAG
    assert late.text == "its torque is 20 ms late"


def test_only_the_other_blocks_count() -> None:
    """A column with other signs in the other blocks explains nothing; one with the same signs explains all."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=1000)
    assert compute_explained_share(values[:, None], values) == pytest.approx(1.0)
    halves = values.copy()
    halves[250:500] *= -1.0
    halves[750:] *= -1.0
    assert compute_explained_share(halves[:, None], values) == pytest.approx(-3.0)

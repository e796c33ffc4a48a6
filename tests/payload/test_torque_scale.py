"""Torques whose scale is wrong: the mass is as uncertain as their scale. Random light payloads: always a body."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

import ytheta as yt
from tests.support.payload_cases import BODY, compute_pinocchio_torque, make_log, make_motion
from ytheta.identification.assessment.verdict import Grade
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive

SCALE, DRAWS, SEED = 0.05, 40, 29
NOISE = 0.3  # Nm


@cache
def load_arm() -> yt.Robot:
    """The UR10 without drives: its torques have no friction."""
    return yt.load("ur10").with_drives(lambda _name, _drive: Drive())


@cache
def load_planar_arm() -> yt.Robot:
    """Two joints, quickly identified."""
    return yt.load("lu-two-link").numeric.with_drives(lambda _name, _drive: Drive())


def test_the_mass_is_as_uncertain_as_the_scale_of_the_torques() -> None:
    """95 % intervals of the mass hold in 90 to 99 % of the draws; the twin takes the scale for exact.

    A log with and one without payload have the same wrong scale. The draws are evenly spread over its distribution,
    from a random first one, so that few of them are enough.
    """
    arm, rng = load_planar_arm(), np.random.default_rng(SEED)
    motions = [make_motion(2, seed=seed, seconds=8.0) for seed in (20, 21)]
    empty, full = (
        compute_pinocchio_torque(arm, motion, body) for motion, body in zip(motions, (None, BODY), strict=True)
    )
    scores, twins = [], []
    for share in (np.arange(DRAWS) + rng.random()) / DRAWS:
        scale = 1.0 + SCALE * norm.ppf(share)
        torques = [scale * torque + NOISE * rng.normal(size=torque.shape) for torque in (empty, full)]
        logs = [make_log(arm, torque, motion) for torque, motion in zip(torques, motions, strict=True)]
        model = yt.identify(arm, logs[0], estimator="weighted", friction=(), rotor_inertia=False, cutoff=10.0)
        estimate, exact = (yt.identify_payload(model, logs[1], torque_scale=each) for each in (SCALE, 0.0))
        scores.append((estimate.mass - BODY.mass) / estimate.std[0])
        twins.append((exact.mass - BODY.mass) / exact.std[0])
    assert 0.90 <= np.mean(np.abs(scores) < 1.96) <= 0.99, f"seed {SEED}"
    assert np.mean(np.abs(twins) < 1.96) < 0.7, f"seed {SEED}"


def test_the_verdict_names_the_scale() -> None:
    """The twin: with calibrated sensors the payload is good, and nothing is said of the scale."""
    arm, motion = load_arm(), make_motion(6, seed=3)
    log = make_log(arm, compute_pinocchio_torque(arm, motion, BODY), motion)
    usual, calibrated = (yt.identify_payload(arm, log, torque_scale=scale) for scale in (SCALE, 0.0))
    assert usual.verdict.grade is Grade.USABLE
    assert "± 0.12 kg of it because the scale of the torques is only known to 5 %" in usual.verdict.sentence
    assert usual.std[0] == pytest.approx(SCALE * BODY.mass, rel=0.01)
    assert usual.to_dict()["mass_std_of_torque_scale"] == pytest.approx(SCALE * BODY.mass, rel=0.01)
    assert calibrated.verdict.grade is Grade.GOOD
    assert "scale" not in calibrated.verdict.sentence


def test_a_known_mass_is_known_whatever_the_scale() -> None:
    """The moments of its mass are not; the twin: without a wrong scale they are as certain as the torques."""
    arm, motion = load_arm(), make_motion(6, seed=3)
    log = make_log(arm, compute_pinocchio_torque(arm, motion, BODY), motion)
    wrong, right = (yt.identify_payload(arm, log, mass=BODY.mass, torque_scale=scale) for scale in (SCALE, 0.0))
    assert wrong.std[0] == right.std[0] == wrong.scale_std == 0.0
    np.testing.assert_allclose(wrong.std[1:4], SCALE * abs(np.array(BODY.center)), rtol=0.05)
    assert (right.std[1:4] < 0.1 * wrong.std[1:4]).all()


def test_a_light_payload_is_always_a_body() -> None:
    """A description alone, and masses down to zero. The twin: many of the free estimates are no bodies."""
    arm, rng = load_arm(), np.random.default_rng(SEED)
    motion = make_motion(6, seed=20, seconds=6.0)
    arm_torque = compute_pinocchio_torque(arm, motion)
    free = []
    for k in range(20):
        mass = 0.0 if k % 2 else float(rng.uniform(0.0, 0.02))
        moment = 1e-3 * mass
        tensor = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
        x, y, z = rng.uniform(-0.1, 0.1, 3).tolist()
        body = Inertia.about_center(mass, (x, y, z), tensor)
        torque = arm_torque + NOISE * rng.normal(size=arm_torque.shape)
        if mass:
            torque += compute_pinocchio_torque(arm, motion, body) - arm_torque
        estimate = yt.identify_payload(arm, make_log(arm, torque, motion))
        free.append(bool(Inertia(tuple(estimate.fit.posterior.theta.tolist())).consistency()))
        assert estimate.mass > 0.0, f"seed {SEED}"
        assert estimate.inertia_in_link.consistency(), estimate.verdict.sentence
        assert np.linalg.eigvalsh(estimate.inertia_in_link.pseudo).min() >= 0.0
        assert np.isfinite(estimate.std).all()
        if abs(estimate.fit.posterior.theta[0]) < 2.0 * estimate.std[0]:
            assert "can be distinguished from nothing: its mass is below" in estimate.verdict.sentence
        assert not estimate.verdict.solved or mass > 0.0
    assert not all(free)

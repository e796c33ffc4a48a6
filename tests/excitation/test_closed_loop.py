"""The loop closed: a design, a plant that follows it with friction and noise, and an identification."""

from __future__ import annotations

import numpy as np

import ytheta as yt
from tests.support.designed_motion import (
    COULOMB_SPEED,
    FRICTION,
    NOISE,
    RATE,
    design_motion,
    design_two_link,
    make_arm,
)
from tests.support.pinocchio_peer import peer
from ytheta.robot.parts import Drive

DRAWS = 8  # of the noise
MAX_RATIO = 1.3  # of standard deviations, identified and expected


def follow(seed: int, noise: float = NOISE) -> yt.Log:
    """Return the log of an arm with friction that follows the design, with noisy torques."""
    plant = make_arm(Drive(viscous=0.3, coulomb=0.4, coulomb_speed=COULOMB_SPEED))
    sensors = yt.Sensors(q=yt.Sensor(noise=1e-6), tau=yt.Sensor(noise=noise))
    trajectory = design_motion().trajectory
    return yt.simulate(plant, "computed-torque", reference=trajectory, rate=RATE, sensors=sensors, rng=seed).log()


def identify(log: yt.Log, average_periods: str | None = None) -> yt.Identification:
    return yt.identify(
        make_arm(),
        log,
        estimator="weighted",
        friction=FRICTION,
        rotor_inertia=False,
        average_periods=average_periods,
    )


def compare(identification: yt.Identification) -> np.ndarray:
    """Return the identified standard deviations relative to those that the design expects."""
    excitation = design_motion()
    rows = [identification.names.index(name) for name in excitation.base.names]
    return identification.std[rows] / excitation.std


def test_standard_deviations_are_those_that_the_design_expects() -> None:
    excitation = design_motion()
    plant = make_arm(Drive(viscous=0.3, coulomb=0.4, coulomb_speed=COULOMB_SPEED))
    truth = excitation.base.with_robot(plant).beta
    results = [identify(follow(seed)) for seed in range(DRAWS)]
    ratios = np.array([compare(result) for result in results])
    assert 1.0 / MAX_RATIO < np.median(ratios) < MAX_RATIO
    assert (np.median(ratios, axis=0) < MAX_RATIO).mean() > 0.9  # nearly every parameter
    rows = [results[0].names.index(name) for name in excitation.base.names]
    errors = (np.array([result.beta[rows] for result in results]) - truth) / excitation.std
    assert 1.0 / MAX_RATIO < np.sqrt(np.mean(errors**2)) < MAX_RATIO  # so far are estimates from the truth


def test_more_noise_is_noticed() -> None:
    """The twin: with twice the noise, the standard deviations are not those of the design."""
    assert np.median(compare(identify(follow(0, 2.0 * NOISE)))) > MAX_RATIO


def test_repeated_periods_are_averaged() -> None:
    log = follow(0)
    averaged, all_samples = identify(log, "auto"), identify(log)
    (finding,) = [each for each in averaged.findings if "periods of" in each.text]
    assert "2 periods of 10 s were averaged" in finding.text
    np.testing.assert_allclose(compare(averaged) / compare(all_samples), 1.0, atol=0.15)
    assert abs(averaged.beta - all_samples.beta).max() > 0.0


def test_the_spread_of_50_identifications_is_the_expected_one() -> None:
    """Torques of Pinocchio along the design, 50 draws of their noise; each is identified."""
    excitation, robot = design_two_link(), yt.load("lu-two-link")
    t = np.arange(0.0, excitation.seconds, 1.0 / excitation.rate)
    motion, oracle = excitation.trajectory.evaluate(t), peer(robot)
    tau = np.array([oracle.torque(*row) for row in zip(motion.q, motion.qd, motion.qdd, strict=True)])
    rng = np.random.default_rng(7)
    estimates, stated = [], []
    for _ in range(50):
        noisy = tau + excitation.noise * rng.normal(size=tau.shape)
        log = yt.Log(t=t, q=motion.q, tau=noisy, joints=robot.actuated)
        fit = yt.identify(robot, log, estimator="weighted", friction=(), rotor_inertia=False)
        assert fit.names == excitation.base.names
        estimates.append(fit.beta)
        stated.append(fit.std)
    obtained = np.std(estimates, axis=0, ddof=1)
    errors = np.mean(estimates, axis=0) - excitation.base.beta
    assert (abs(errors) < 4.0 * obtained / np.sqrt(50)).all()
    for std in (obtained, np.median(stated, axis=0)):
        ratio = std / excitation.std
        assert ((ratio > 1.0 / MAX_RATIO) & (ratio < MAX_RATIO)).all()
        assert not (
            (0.5 * ratio > 1.0 / MAX_RATIO) & (0.5 * ratio < MAX_RATIO)
        ).any()  # of a design for twice the noise

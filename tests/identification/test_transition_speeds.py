"""Transition speeds of Coulomb friction: planted gradual ones are found, sharp ones stay sharp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import simulate_case
from ytheta.identification.transition_speeds import _choose_multiples
from ytheta.robot.parts import Drive

RATIO = 1e-3  # of the lowest transition speed, relative to the highest speed of the log


def identify(share: float) -> tuple[dict[str, float], np.ndarray]:
    """Transition speeds of the model, and the highest speeds; ``share`` is the true one, relative to the highest."""
    case = simulate_case("lu-two-link", 0)
    motion = case.motion
    highest = abs(motion.qd).max(axis=0)
    speeds = dict(zip(case.truth.actuated, (share * highest).tolist(), strict=True))

    def change(name: str, drive: Drive) -> Drive:
        return replace(drive, coulomb=3.0 * drive.coulomb, coulomb_speed=speeds[name]) if name in speeds else drive

    truth = case.truth.with_drives(change)
    tau = yt.inverse_dynamics(truth)(motion.q, motion.qd, motion.qdd)
    tau = tau + 0.01 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    log = yt.Log(truth.actuated, motion.t, motion.q, tau)
    fit = yt.identify(case.description, log, friction=("viscous", "coulomb", "offset", "smooth"))
    return {name: drive.coulomb_speed for name, drive in fit.robot.drives if name in speeds}, highest


def test_a_gradual_transition_is_found() -> None:
    found, highest = identify(0.05)
    for speed, top in zip(found.values(), highest, strict=True):
        assert speed / top == pytest.approx(0.05, rel=0.5)


def test_a_sharp_transition_stays_sharp() -> None:
    """The twin."""
    found, highest = identify(0.0)
    for speed, top in zip(found.values(), highest, strict=True):
        assert speed / top == pytest.approx(RATIO, rel=0.2)


def test_the_largest_gain_is_interpolated() -> None:
    exponents = 0.5 * np.log(10.0) * np.arange(5)
    peaks = np.array([1.7, 3.0, 0.4])
    gains = 50.0 - 20.0 * (exponents[:, None] - peaks) ** 2
    gains = gains - gains[0]
    gains[:, 2] = np.minimum(gains[:, 2], 4.0)  # not enough for another speed than the lowest
    np.testing.assert_allclose(_choose_multiples(gains), [np.exp(1.7), np.exp(3.0), 1.0], rtol=1e-9)

"""Recorded velocity is used for the joints at which it is neither wrong nor worse than differentiated position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.sine_logs import ANGULAR_FREQUENCIES, make_sine_log
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.preparing.recorded_velocity import VelocityComparison, compare_velocities
from ytheta.logs.preparing.resample import choose_grid


def test_each_velocity_is_trusted_or_not() -> None:
    log = make_sine_log(noise=1e-5)
    assert log.qd is not None
    wrong = log.qd * np.array([1.0, 1.07, 1.0])
    wrong[:, 2] = np.roll(wrong[:, 2], 25)  # late by 50 ms
    prepared = prepare_log(replace(log, qd=wrong))
    assert prepared.settings.velocity == (True, False, False)
    (repaired,) = (finding for finding in prepared.findings if finding.severity is Severity.REPAIRED)
    assert repaired.names == ("b", "c")
    assert "for these joints velocity is computed from position" in repaired.text
    np.testing.assert_allclose(
        prepared.motion.qd,
        ANGULAR_FREQUENCIES * np.cos(np.outer(prepared.motion.t, ANGULAR_FREQUENCIES)),
        rtol=0.0,
        atol=1e-2,
    )
    assert prepare_log(replace(log, qd=None)).settings.velocity == (False, False, False)


def test_recorded_velocity_gives_better_accelerations_if_positions_are_coarse() -> None:
    log = make_sine_log(noise=1e-5)
    log = replace(log, q=np.round(log.q, 2))
    errors = {}
    for source in ("recorded", "position"):
        motion = prepare_log(log, PreparationSettings(cutoff=10.0, velocity=source)).motion
        errors[source] = np.std(motion.qdd + ANGULAR_FREQUENCIES**2 * np.sin(np.outer(motion.t, ANGULAR_FREQUENCIES)))
    assert errors["recorded"] < 0.1 * errors["position"]


def compare(log: Log, cutoff: float = 10.0) -> tuple[VelocityComparison, ...]:
    return compare_velocities(log, choose_grid(log)[0], cutoff)


def make_noisy_log(
    position_noise: float, velocity_noise: float, delay: float = 0.0, scale: float = 1.0, seconds: float = 20.0
) -> Log:
    """Sines with white noise, and velocities that are late."""
    rng, clean = np.random.default_rng(4), make_sine_log(seconds)
    qd = scale * ANGULAR_FREQUENCIES * np.cos(np.outer(clean.t - delay, ANGULAR_FREQUENCIES))
    noise = rng.normal(size=(2, *qd.shape))
    return replace(clean, q=clean.q + position_noise * noise[0], qd=qd + velocity_noise * noise[1])


@pytest.mark.parametrize("delay", [-0.01, 0.0, 0.005, 0.02])
@pytest.mark.parametrize("scale", [0.95, 1.0, 1.1])
def test_delay_and_scale_are_measured_in_spite_of_noise(delay: float, scale: float) -> None:
    for each in compare(make_noisy_log(1e-4, 1e-3, delay, scale)):
        # The window spreads a slow sine over several lines, which changes its mean squared frequency by a few percent.
        assert each.delay == pytest.approx(delay, rel=0.03, abs=2e-4)
        assert each.scale == pytest.approx(scale, abs=3e-3)  # a delay also turns the phase: cos(w delay) = 0.998
        assert each.is_scaled is (scale != 1.0)


def test_the_noise_of_both_sources_is_that_of_their_accelerations() -> None:
    """White noise n per Hz gives the acceleration w^2 n from velocity, and w^4 n from positions, up to the cut-off."""
    cutoff, rate, position_noise, velocity_noise = 10.0, 500.0, 1e-4, 5e-3
    comparisons = compare(make_noisy_log(position_noise, velocity_noise, seconds=200.0), cutoff)
    f = np.linspace(0.0, 5.0 * cutoff, 20_000)
    gain = 1.0 / (1.0 + (f / cutoff) ** 8) ** 2
    for each, w0 in zip(comparisons, ANGULAR_FREQUENCIES, strict=True):
        motion = w0**4 / 2.0  # mean squared acceleration of a sine
        for noise, sigma, power in ((each.position_noise, position_noise, 4), (each.recorded_noise, velocity_noise, 2)):
            expected = np.trapezoid(gain * (2 * np.pi * f) ** power, f) * sigma**2 / (rate / 2.0) / motion
            assert noise == pytest.approx(np.sqrt(expected), rel=0.05)


@pytest.mark.parametrize(
    ("position_noise", "velocity_noise", "delay", "scale", "uses_recorded"),
    [
        (1e-3, 1e-3, 0.0, 1.0, True),
        (1e-6, 1e-1, 0.0, 1.0, False),  # noisier than differentiated positions
        (1e-6, 1e-6, 0.02, 1.0, False),  # late, and positions are accurate
        (1e-3, 1e-6, 0.001, 1.0, True),  # hardly late, and positions are noisy
        (1e-3, 1e-6, 0.0, 1.1, False),  # wrong by a factor, although positions are noisy
    ],
)
def test_the_better_source_is_chosen(
    position_noise: float, velocity_noise: float, delay: float, scale: float, uses_recorded: bool
) -> None:
    """The oracle is the error of the acceleration, or for a wrong factor its bias."""
    log = make_noisy_log(position_noise, velocity_noise, delay, scale)
    chosen = prepare_log(log, PreparationSettings(cutoff=10.0))
    assert chosen.settings.velocity == (uses_recorded,) * 3
    errors = {}
    for source in ("recorded", "position"):
        motion = prepare_log(log, PreparationSettings(cutoff=10.0, velocity=source)).motion
        truth = -(ANGULAR_FREQUENCIES**2) * np.sin(np.outer(motion.t, ANGULAR_FREQUENCIES))
        bias = abs((motion.qdd * truth).sum() / (truth**2).sum() - 1.0)
        errors[source] = bias if scale != 1.0 else float(np.std(motion.qdd - truth))
    assert bool(errors["recorded"] < errors["position"]) is uses_recorded


def test_the_choice_is_said_in_words() -> None:
    late = choose_preparation(make_noisy_log(1e-6, 1e-6, delay=0.01), PreparationSettings(cutoff=10.0))
    (finding,) = (each for each in late.findings if each.code == LogFindingCode.VELOCITY)
    assert "b: 9.9 ms late" in finding.text
    assert "velocity is computed from position" in finding.text
    good = choose_preparation(make_noisy_log(1e-3, 1e-3), PreparationSettings(cutoff=10.0))
    (finding,) = (each for each in good.findings if each.code == LogFindingCode.VELOCITY)
    assert "recorded velocity is used for 3 of 3 joints" in finding.text


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(InputError, match="unknown velocity 'measured'"):
        choose_preparation(make_sine_log(), PreparationSettings(velocity="measured"))


def test_missing_recorded_velocity_is_refused() -> None:
    with pytest.raises(InputError, match="velocity was not recorded"):
        choose_preparation(replace(make_sine_log(), qd=None), PreparationSettings(velocity="recorded"))


@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_a_joint_that_does_not_move_is_not_compared(noise: float) -> None:
    """Its velocity is only noise, of which nothing can be said."""
    log = make_sine_log(noise=1e-5)
    assert log.qd is not None
    q, qd, rng = log.q.copy(), log.qd.copy(), np.random.default_rng(0)
    q[:, 2], qd[:, 2] = 0.3 + noise * rng.normal(size=len(q)), noise * rng.normal(size=len(q))
    preparation = choose_preparation(replace(log, q=q, qd=qd))
    assert preparation.settings.velocity == (True, True, False)
    assert not any(finding.severity is Severity.REPAIRED for finding in preparation.findings)
    assert not any("nan" in finding.text for finding in preparation.findings)
    assert any("c: it does not move" in finding.text for finding in preparation.findings)

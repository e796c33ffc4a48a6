"""The delay of torques: known delays, arms in MuJoCo whose torques are held, and what becomes of the delay."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import ytheta as yt
from tests.support.held_torques import PERIOD, make_held_log, make_true_arm
from tests.support.unknown_lengths import forget_lengths, make_case
from ytheta.identifiability.regrouping import Regrouping
from ytheta.identification import torque_delay
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.robot.parts import Drive

NO_DELAY = yt.PreparationSettings(torque_delay=0.0)
AUTO = yt.PreparationSettings()
SEEDS = range(4)


def identify_held(
    name: str, seed: int, *, known: bool, settings: yt.PreparationSettings
) -> tuple[Identification, np.ndarray]:
    """Return a fit and the true parameters; the description has no friction and, if unknown, no lengths."""
    truth = make_true_arm(name)
    description = (truth if known else forget_lengths(truth)).with_drives(lambda _name, _drive: Drive())
    log = make_held_log(name, seed)
    fit = yt.identify(
        description, log, settings=settings, friction=("viscous",), rotor_inertia=False, estimator="weighted"
    )
    base = fit.base.with_robot(truth)
    return fit, base.values if isinstance(base, Regrouping) else base.beta


@cache
def compute_deviations(*, known: bool, settings: yt.PreparationSettings) -> np.ndarray:
    """Return (estimate - truth) / std of all parameters, of three arms with several seeds of noise."""
    fits = [
        identify_held(name, seed, known=known, settings=settings)
        for name in ("lu-two-link", "ha-scara", "RPR")
        for seed in SEEDS
    ]
    return np.concatenate([(fit.beta - truth) / fit.std for fit, truth in fits])


@pytest.mark.parametrize("known", [True, False])
def test_intervals_contain_the_truth_if_torques_are_held(known: bool) -> None:
    """More misses than the bound have a chance of 0.1 %, if each of the intervals contains the truth with 95 %."""
    deviations = compute_deviations(known=known, settings=AUTO)
    bound = binom.ppf(0.999, len(deviations), 0.05)
    assert np.count_nonzero(abs(deviations) > 1.96) <= bound
    assert 0.7 < np.sqrt(np.mean(deviations**2)) < 1.2  # nor are the intervals much too wide
    twin = compute_deviations(known=known, settings=NO_DELAY)  # torques as they were recorded
    assert np.count_nonzero(abs(twin) > 1.96) > 2 * bound


def test_the_delay_is_half_a_period_and_a_note_states_it() -> None:
    fit, _ = identify_held("ha-scara", 0, known=False, settings=AUTO)
    delay = fit.origin.torque_delay
    assert delay.value == pytest.approx(-0.5 * PERIOD, abs=3.0 * delay.std)
    assert 3.0 * delay.std < 0.5 * PERIOD
    (note,) = (finding for finding in fit.findings if finding.code == FitFindingCode.TORQUE_DELAY)
    assert "ms before the motion" in note.text
    plain, _ = identify_held("ha-scara", 0, known=False, settings=NO_DELAY)  # the twin
    assert plain.origin.torque_delay.std == 0.0
    assert plain.fit.relative_percent > fit.fit.relative_percent


def delay_torques(log: Log, delays: np.ndarray | float) -> Log:
    """Return a log whose torques were recorded later, by one time or by one for each joint; by cubic splines."""
    from scipy.interpolate import CubicSpline

    assert log.tau is not None
    times = log.t[:, None] - np.broadcast_to(delays, len(log.joints))
    tau = [CubicSpline(log.t, column)(when) for column, when in zip(log.tau.T, times.T, strict=True)]
    return replace(log, tau=np.stack(tau, axis=1))


@pytest.mark.parametrize("delay", [0.0, 0.0021, -0.0063])
def test_a_known_delay_is_found_and_undone(delay: float) -> None:
    """Torques of Pinocchio, moved by a time that is not a multiple of a sample."""
    case = make_case("RPR")
    log = delay_torques(case.make_log(noise=0.02, seed=1), delay)
    fit = yt.identify(case.robot, log, estimator="weighted", friction=("viscous", "coulomb", "offset"))
    found = fit.origin.torque_delay
    assert found.value == pytest.approx(delay, abs=4.0 * found.std)
    assert (found.value != 0.0) is (delay != 0.0)
    motion = prepare_log(log, replace(fit.origin.settings[0], velocity="auto")).motion
    exact = prepare_log(case.make_log(), replace(fit.origin.settings[0], velocity="auto", torque_delay=0.0)).motion
    late = prepare_log(log, replace(fit.origin.settings[0], velocity="auto", torque_delay=0.0)).motion  # the twin
    assert motion.tau is not None
    assert exact.tau is not None
    assert late.tau is not None
    error, twin = (np.sqrt(np.mean((tau - exact.tau) ** 2)) for tau in (motion.tau, late.tau))
    assert error < 0.03
    assert twin > 3.0 * error or not delay


def test_joints_that_contradict_each_other_make_the_delay_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case("RPR")
    log = delay_torques(case.make_log(noise=0.02, seed=1), np.array([0.002, 0.004, 0.006]))
    delay = yt.identify(case.robot, log, estimator="weighted").origin.torque_delay
    assert 0.0 < delay.value < 0.006
    monkeypatch.setattr(torque_delay, "_compute_birge_ratio", lambda *_: 1.0)  # the twin
    certain = yt.identify(case.robot, log, estimator="weighted").origin.torque_delay
    assert delay.std > 4.0 * certain.std


def test_predictions_have_the_delay_of_the_model(tmp_path: Path) -> None:
    fit, _ = identify_held("RPR", 0, known=True, settings=AUTO)
    log, path = make_held_log("RPR", 1), fit.save(tmp_path / "arm.model.toml")
    predictions = [yt.predict(model, log) for model in (fit, path, yt.read_model(path))]
    for prediction in predictions:
        assert prediction.preparation.settings.torque_delay == fit.origin.torque_delay.value != 0.0
    errors = predictions[0].errors
    plain = yt.predict(fit, log, settings=yt.PreparationSettings(cutoff=fit.origin.cutoff, torque_delay=0.0)).errors
    assert errors is not None
    assert plain is not None
    assert errors.relative_percent < plain.relative_percent
    data = fit.to_dict()
    assert (data["torque_delay"], data["torque_delay_std"]) == (
        fit.origin.torque_delay.value,
        fit.origin.torque_delay.std,
    )


def test_delays_that_are_no_seconds_are_refused() -> None:
    with pytest.raises(yt.errors.InputError, match="torque_delay"):
        prepare_log(make_held_log("RPR", 0), yt.PreparationSettings(torque_delay=12.0))

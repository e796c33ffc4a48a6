"""From a log to motion: blocks, gaps, trimming, trust in velocities, periods; and the errors of misuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.periods import find_period
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import MotionSamples, prepare_log, prepare_pieces, prepare_span
from ytheta.logs.preparing.resample import choose_grid

RATE = 500.0
OMEGA = 2 * np.pi * np.array([0.3, 0.5, 0.45])
FIELDS = ("t", "q", "qd", "qdd", "tau", "raw_tau", "rows")


def _log(seconds: float = 20.0, noise: float = 0.0, seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    q = np.sin(np.outer(t, OMEGA))
    qd = OMEGA * np.cos(np.outer(t, OMEGA))
    tau = 4.0 * q + 2.0 * qd

    def noisy(x: np.ndarray) -> np.ndarray:
        return x + noise * rng.normal(size=x.shape)

    return Log(joints=("a", "b", "c"), t=t, q=noisy(q), qd=noisy(qd), tau=noisy(tau))


def _together(parts: list[MotionSamples]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS}


@pytest.mark.parametrize("derivative", ["central", "spline"])
@pytest.mark.parametrize("velocity", ["recorded", "position"])
def test_motion_is_the_true_one(derivative: str, velocity: str) -> None:
    prepared = prepare_log(_log(noise=1e-6), PreparationSettings(cutoff=10.0, derivative=derivative, velocity=velocity))
    motion = prepared.motion
    phase = np.outer(motion.t, OMEGA)
    np.testing.assert_allclose(motion.q, np.sin(phase), rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(motion.qd, OMEGA * np.cos(phase), rtol=0.0, atol=3e-3)
    middle = slice(20, -20)  # the ends are settled to a hundredth only
    np.testing.assert_allclose(motion.qdd[middle], -(OMEGA**2) * np.sin(phase)[middle], rtol=0.0, atol=2e-2)
    assert motion.tau is not None
    np.testing.assert_allclose(motion.tau, 4 * motion.q + 2 * OMEGA * np.cos(phase), rtol=0.0, atol=5e-3)
    assert prepared.rate == pytest.approx(RATE / prepared.settings.decimate)  # type: ignore[operator]
    np.testing.assert_allclose(np.diff(motion.t), 1.0 / prepared.rate, rtol=1e-9)


@pytest.mark.parametrize("derivative", ["central", "spline"])
@pytest.mark.parametrize("jitter", [False, True])
@pytest.mark.parametrize("decimate", [1, 7])
def test_blocks_equal_the_whole(derivative: str, jitter: bool, decimate: int) -> None:
    log = _log(30.0, noise=1e-4)
    if jitter:
        log = replace(log, t=log.t + np.random.default_rng(1).uniform(0.0, 0.9, len(log)) / RATE)
    settings = PreparationSettings(cutoff=8.0, derivative=derivative, velocity=(True, False, True), decimate=decimate)
    whole = _together(list(prepare_pieces(log, settings, size=10**6)))
    small = _together(list(prepare_pieces(log, settings, size=1000)))
    for name in FIELDS:
        scale = np.abs(whole[name]).max()
        np.testing.assert_allclose(small[name], whole[name], rtol=0.0, atol=1e-9 * scale, err_msg=name)


def test_a_piece_holds_no_more_than_the_samples_kept() -> None:
    chosen = choose_preparation(_log(30.0), PreparationSettings(cutoff=8.0, decimate=7))
    motion = prepare_span(chosen, *next(chosen.pieces(1000)))
    for name in ("t", "q", "qd", "qdd", "tau", "raw_tau", "rows"):
        array = getattr(motion, name)
        assert (array if array.base is None else array.base).nbytes == array.nbytes, name


def test_blocks_without_margins_would_differ() -> None:
    chosen = choose_preparation(_log(30.0, noise=1e-4), PreparationSettings(cutoff=8.0, decimate=1))
    pieces = list(chosen.pieces(1000))
    whole = _together([prepare_span(chosen, *piece) for piece in pieces])
    bare = [(segment, replace(span, start=span.first, stop=span.last)) for segment, span in pieces]
    twin = _together([prepare_span(chosen, *piece) for piece in bare])
    assert np.abs(twin["qdd"] - whole["qdd"]).max() > 1e-2 * np.abs(whole["qdd"]).max()


def test_nothing_leaks_across_a_gap() -> None:
    """Cutting the log or replacing what lies beyond the gap changes nothing before it; joining the segments does."""
    log = _log()
    settings = PreparationSettings(cutoff=10.0, velocity="position", decimate=1)
    cut = replace(log, segments=((0, 4000), (4000, 10000)))
    poison = cut.q.copy()
    poison[4000:] += 100.0
    alone = prepare_log(log.rows(0, 4000), settings).motion
    for gapped, equal in ((replace(cut, q=poison), True), (replace(log, q=poison), False)):
        prepared = prepare_log(gapped, settings)
        first = prepared.motion.qdd[: len(alone)]
        assert bool(np.abs(first - alone.qdd).max() < 1e-9) is equal
    prepared = prepare_log(cut, settings)
    assert len(prepared.segments) == 2
    assert prepared.segments[0] == (0, len(alone))
    assert prepared.segments[1][1] == len(prepared.motion)
    # What the filter spoils is cut at all four ends.
    ends = [prepared.motion.rows[i] for a, b in prepared.segments for i in (a, b - 1)]
    trimmed = round(prepared.settings.trim * RATE)  # type: ignore[operator]
    assert ends == [trimmed, 4000 - trimmed - 1, 4000 + trimmed, 10000 - trimmed - 1]


def test_settled_settings_treat_another_log_alike() -> None:
    fit = prepare_log(_log(noise=1e-5))
    assert "auto" not in (fit.settings.cutoff, fit.settings.velocity, fit.settings.decimate, fit.settings.trim)
    other = prepare_log(_log(30.0, noise=1e-3, seed=3), fit.settings)
    assert other.settings == fit.settings
    assert other.rate == fit.rate
    assert {finding.code for finding in fit.findings} >= {"cut-off", "velocity", "samples"}


def test_velocities_are_trusted_joint_by_joint() -> None:
    log = _log(noise=1e-5)
    assert log.qd is not None
    wrong = log.qd * np.array([1.0, 1.07, 1.0])
    wrong[:, 2] = np.roll(wrong[:, 2], 25)  # late by 50 ms
    prepared = prepare_log(replace(log, qd=wrong))
    assert prepared.settings.velocity == (True, False, False)
    (told,) = (finding for finding in prepared.findings if finding.severity is Severity.REPAIRED)
    assert told.names == ("b", "c")
    assert "taken from position there" in told.text
    np.testing.assert_allclose(
        prepared.motion.qd, OMEGA * np.cos(np.outer(prepared.motion.t, OMEGA)), rtol=0.0, atol=1e-2
    )
    assert prepare_log(replace(log, qd=None)).settings.velocity == (False, False, False)


def test_recorded_velocity_makes_better_accelerations_where_positions_are_coarse() -> None:
    log = _log(noise=1e-5)
    log = replace(log, q=np.round(log.q, 2))
    errors = {}
    for source in ("recorded", "position"):
        motion = prepare_log(log, PreparationSettings(cutoff=10.0, velocity=source)).motion
        errors[source] = np.std(motion.qdd + OMEGA**2 * np.sin(np.outer(motion.t, OMEGA)))
    assert errors["recorded"] < 0.1 * errors["position"]


def _periodic(periods: float, noise: float) -> Log:
    t = np.arange(round(periods * 4.0 * RATE)) / RATE
    base = 2 * np.pi / 4.0
    q = np.stack([np.sin(base * t) + 0.5 * np.sin(3 * base * t), np.cos(2 * base * t) + np.sin(base * t)], axis=1)
    rng = np.random.default_rng(9)
    errors = noise * rng.normal(size=(2, *q.shape))
    return Log(joints=("a", "b"), t=t, q=q + errors[0], tau=5.0 * q + errors[1])


def test_averaging_periods_divides_noise_by_the_root_of_their_number() -> None:
    log = _periodic(9.2, 1e-2)
    settings = PreparationSettings(cutoff=10.0, decimate=1)
    plain, mean = prepare_log(log, settings), prepare_log(log, replace(settings, average_periods=4.0))
    assert len(mean.motion) == round(4.0 * RATE)
    clean = _periodic(9.2, 0.0)
    truth = prepare_log(clean, replace(settings, average_periods=4.0)).motion.qdd
    noise = np.std(mean.motion.qdd - truth)
    usual = np.std(plain.motion.qdd - prepare_log(clean, settings).motion.qdd)
    assert usual / noise == pytest.approx(3.0, rel=0.2)
    assert any("9 periods" in finding.text for finding in mean.findings)
    # One period has no ends: its derivative is as good there as anywhere.
    np.testing.assert_allclose(truth[0], truth[-1], rtol=0.0, atol=0.2)


def test_the_period_is_found() -> None:
    log = _periodic(2.57, 1e-3)
    grid, _ = choose_grid(log)
    assert find_period(log, grid) == pytest.approx(4.0, abs=2e-3)
    assert prepare_log(log, PreparationSettings(average_periods="auto")).settings.average_periods == pytest.approx(
        4.0, abs=2e-3
    )
    once = log.rows(0, 3000)
    assert find_period(once, grid) is None
    with pytest.raises(InputError, match="does not repeat"):
        choose_preparation(once, PreparationSettings(average_periods="auto"))
    with pytest.raises(InputError, match="are shorter than two periods"):
        choose_preparation(once, PreparationSettings(average_periods=4.0))


def test_a_given_period_must_be_one() -> None:
    log = _periodic(5.3, 1e-3)
    for period in (4.0, 4.005, 8.0):
        assert prepare_log(log, PreparationSettings(average_periods=period)).settings.average_periods == period
    for period in (3.3, 6.0, 0.01):  # in 0.01 s the arm has hardly moved, which is no repetition
        with pytest.raises(InputError, match=f"does not repeat itself after {period:g} s"):
            choose_preparation(log, PreparationSettings(average_periods=period))


def test_short_segments_are_left_out_and_said() -> None:
    log = replace(_log(), segments=((0, 50), (50, 10000)))
    prepared = prepare_log(log, PreparationSettings(cutoff=5.0))
    assert len(prepared.segments) == 1
    assert any(finding.code == "segments" and finding.severity is Severity.WARNING for finding in prepared.findings)
    pieces = replace(_log().rows(0, 200), segments=((0, 100), (100, 200)))
    with pytest.raises(
        InputError, match="gaps cut the log into 2 segments of at most 100 samples; no segment is longer"
    ):
        prepare_log(pieces, PreparationSettings(cutoff=5.0))
    with pytest.raises(InputError, match="raise the cut-off, trim less or record longer"):
        prepare_log(_log().rows(0, 100), PreparationSettings(cutoff=5.0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (PreparationSettings(cutoff="high"), "cutoff is 'high'; give a number or \"auto\""),
        (PreparationSettings(cutoff=400.0), "at most 225 Hz"),
        (PreparationSettings(derivative="exact"), "unknown derivative 'exact'"),
        (PreparationSettings(velocity="guess"), "unknown velocity 'guess'"),
        (PreparationSettings(velocity=(True,)), "1 entries for 3 joints"),
        (PreparationSettings(decimate=0), "decimate is 0"),
        (PreparationSettings(decimate="some"), "decimate is 'some'"),
        (PreparationSettings(trim="none"), "trim is 'none'"),
    ],
)
def test_misuse_is_told(settings: PreparationSettings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_preparation(_log(), settings)


def test_recorded_velocity_must_be_there() -> None:
    with pytest.raises(InputError, match="velocity was not recorded"):
        choose_preparation(replace(_log(), qd=None), PreparationSettings(velocity="recorded"))

"""The cut-off rule on signals whose band and noise are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import (
    MAX_CUTOFF_RATIO,
    MAX_JUDGED_BAND_RATIO,
    MAX_RIGID_FREQUENCY,
    MIN_BAND_RATIO,
    CutoffChoice,
    choose_cutoff,
)
from ytheta.logs.preparing.resample import choose_grid

JOINTS = ("a", "b", "c")


def make_multisine_log(top: float, noise: float, rate: float = 1000.0, seconds: float = 40.0, seed: int = 0) -> Log:
    """Multisines with eight lines up to ``top`` Hz, and white noise on the positions."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    f = np.linspace(top / 8, top, 8)
    q = np.stack([np.sin(2 * np.pi * np.outer(t, f) + rng.uniform(0, 6.28, 8)) @ (1.0 / f) for _ in JOINTS], axis=1)
    return Log(joints=JOINTS, t=t, q=q / np.abs(q).max() + noise * rng.normal(size=q.shape))


def choose_for(log: Log) -> CutoffChoice:
    return choose_cutoff(log, choose_grid(log)[0])


def get_band(choice: CutoffChoice) -> float:
    assert choice.band is not None
    return choice.band


@pytest.mark.parametrize("noise", [0.0, 1e-6, 5e-6])
@pytest.mark.parametrize("top", [0.3, 0.6])
def test_slow_motion_is_fitted_at_ten_hertz_and_judged_at_ten_bands(top: float, noise: float) -> None:
    choice = choose_for(make_multisine_log(top, noise))
    assert choice.band == pytest.approx(top, abs=0.3)  # the resolution of a window
    assert choice.cutoff == MAX_RIGID_FREQUENCY
    assert choice.judged == pytest.approx(MAX_JUDGED_BAND_RATIO * get_band(choice))
    assert choice.minimum == pytest.approx(MIN_BAND_RATIO * get_band(choice))
    assert f"{choice.cutoff:.3g} Hz" in choice.finding.text
    assert choose_for(make_multisine_log(2.0, noise)).judged == MAX_RIGID_FREQUENCY  # the twin that is faster


def test_beyond_ten_hertz_the_cutoff_is_two_bands() -> None:
    assert choose_for(make_multisine_log(2.0, 1e-6)).cutoff == MAX_RIGID_FREQUENCY
    fast = choose_for(make_multisine_log(6.0, 1e-6))
    assert fast.band == pytest.approx(6.0, abs=0.3)
    assert fast.cutoff == pytest.approx(MIN_BAND_RATIO * get_band(fast))


def test_at_the_cutoff_noise_is_a_tenth_of_the_acceleration() -> None:
    rate, noise = 200.0, 3e-4
    log = make_multisine_log(0.6, noise, rate)
    choice = choose_for(log)
    assert choice.cutoff == choice.limit < MAX_RIGID_FREQUENCY
    # White noise: sigma^2 / (rate / 2) per Hz, times (2 pi f)^4, integrated up to f.
    passed = noise * np.sqrt((2 * np.pi) ** 4 * choice.cutoff**5 / 5 / (rate / 2))
    clean = make_multisine_log(0.6, 0.0, rate)
    motion = np.median(np.std(np.gradient(np.gradient(clean.q, axis=0), axis=0) * rate**2, axis=0))
    assert passed / motion == pytest.approx(0.1, rel=0.3)


def test_more_noise_never_raises_the_cutoff_nor_removes_motion() -> None:
    choices = [choose_for(make_multisine_log(0.6, noise, 200.0)) for noise in (1e-6, 1e-4, 1e-3, 1e-2)]
    cutoffs = [choice.cutoff for choice in choices]
    assert cutoffs == sorted(cutoffs, reverse=True)
    assert all(choice.cutoff >= MIN_BAND_RATIO * get_band(choice) for choice in choices)


def test_joints_at_rest_do_not_count() -> None:
    log = make_multisine_log(0.6, 1e-6)
    rest = log.q.copy()
    rest[:, :2] = 1e-6 * np.random.default_rng(5).normal(size=(len(log), 2))
    assert choose_for(Log(joints=JOINTS, t=log.t, q=rest)).band == pytest.approx(choose_for(log).band, abs=0.1)


@pytest.mark.parametrize(("rate", "cutoff"), [(200.0, MAX_RIGID_FREQUENCY), (10.0, MAX_CUTOFF_RATIO * 10.0)])
@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_an_arm_at_rest_has_no_band(noise: float, rate: float, cutoff: float) -> None:
    moving = make_multisine_log(0.6, noise, rate)
    rest = 0.5 + noise * np.random.default_rng(6).normal(size=moving.q.shape)
    choice = choose_for(Log(joints=JOINTS, t=moving.t, q=rest))
    assert choice.band is None
    assert choice.cutoff == cutoff
    assert "there is no motion" in choice.finding.text
    assert choose_for(moving).band is not None  # the twin that moves


@pytest.mark.parametrize("rate", [1.0, 1e-3, 1e-9])
def test_low_rates_have_a_cutoff_too(rate: float) -> None:
    log = make_multisine_log(0.6, 1e-6, 20.0)
    choice = choose_for(Log(joints=JOINTS, t=log.t * 20.0 / rate, q=log.q))
    assert 0.0 < choice.cutoff <= MAX_CUTOFF_RATIO * rate * (1.0 + 1e-9)


def test_the_cause_of_short_segments_is_named() -> None:
    log = make_multisine_log(1.0, 0.0, rate=100.0, seconds=0.98)
    segments = tuple((a, a + 49) for a in range(0, 98, 49))
    split = Log(
        joints=JOINTS,
        t=log.t,
        q=log.q,
        segments=segments,
        findings=(Finding(LogFindingCode.MISSING, Severity.REPAIRED, ""),),
    )
    with pytest.raises(
        InputError, match="missing rows split the log into 2 segments of at most 49 samples; the longest"
    ):
        choose_for(split)
    with pytest.raises(InputError) as whole:
        choose_for(log.select_rows(0, 49))
    assert "split the log" not in str(whole.value)


def test_the_rate_bounds_the_cutoff() -> None:
    log = make_multisine_log(2.0, 0.0, rate=20.0)
    choice = choose_for(log)
    assert choice.cutoff == MAX_CUTOFF_RATIO * 20.0
    assert "the maximum for a sampling rate of 20 Hz" in choice.finding.text


def test_the_cutoff_does_not_depend_on_the_length_of_a_log() -> None:
    short, long = (
        choose_for(make_multisine_log(0.5, 1e-5, 200.0, 40.0)),
        choose_for(make_multisine_log(0.5, 1e-5, 200.0, 1200.0)),
    )
    assert long.cutoff == pytest.approx(short.cutoff, rel=0.1)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(InputError, match="too few to choose a cut-off"):
        choose_for(make_multisine_log(1.0, 0.0, rate=100.0, seconds=0.5))


# Cut-offs chosen by hand: TX40 by decimation to 50 Hz; LWR4+ is so slow that anything from 2 Hz on is right.
@pytest.mark.parametrize(
    ("name", "hand", "factor"),
    [
        ("tx40/tx40_joint", 20.0, 2.0),
        ("lwr4/lwr4_run1", 5.0, 3.0),
        ("panda/panda_gaz2019", 10.0, 2.1),
        ("ur10e/ur10e_train_30s_12harm", 8.0, 2.0),
        ("dvrk_mtm/mtm_train_one", 5.4, 2.0),
        ("kr300/kr300_run_a", 8.0, 2.0),
    ],
)
def test_cutoffs_of_real_logs_agree_with_those_of_engineers(
    shared_data: Path, name: str, hand: float, factor: float
) -> None:
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(shared_data / f"{name}.parquet")
    names = [column for column in table.columns if column.startswith("q") and not column.startswith("qd")]
    torques = [column for column in table.columns if column.startswith("tau")]
    log = Log(
        joints=tuple(names),
        t=table["t"].to_numpy(),
        q=table.select(names).to_numpy(),
        tau=table.select(torques).to_numpy(),
    )
    assert hand / factor < choose_for(log).cutoff < hand * factor

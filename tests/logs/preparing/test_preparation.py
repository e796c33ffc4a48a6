"""Settings of a preparation: chosen from the log, reusable, and refused if wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.sine_logs import ANGULAR_FREQUENCIES, make_sine_log
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_log


def test_chosen_settings_treat_another_log_alike() -> None:
    fit = prepare_log(make_sine_log(noise=1e-5))
    assert "auto" not in (fit.settings.cutoff, fit.settings.velocity, fit.settings.decimate, fit.settings.trim)
    other = prepare_log(make_sine_log(30.0, noise=1e-3, seed=3), fit.settings)
    assert other.settings == fit.settings
    assert other.rate == fit.rate
    assert {finding.code for finding in fit.findings} >= {"cut-off", "velocity", "samples"}


def test_short_segments_are_left_out_with_a_warning() -> None:
    log = replace(make_sine_log(), segments=((0, 50), (50, 10000)))
    prepared = prepare_log(log, PreparationSettings(cutoff=5.0))
    assert len(prepared.segments) == 1
    assert any(finding.code == "segments" and finding.severity is Severity.WARNING for finding in prepared.findings)
    pieces = replace(make_sine_log().select_rows(0, 200), segments=((0, 100), (100, 200)))
    with pytest.raises(
        InputError, match="gaps split the log into 2 segments of at most 100 samples; no segment is longer"
    ):
        prepare_log(pieces, PreparationSettings(cutoff=5.0))
    with pytest.raises(InputError, match="raise the cut-off, trim less or record longer"):
        prepare_log(make_sine_log().select_rows(0, 100), PreparationSettings(cutoff=5.0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (PreparationSettings(cutoff="high"), "cutoff is 'high'; give a positive number of Hz, or \"auto\""),
        (PreparationSettings(trim=-1.0), "trim is -1; give a non-negative number of seconds"),
        (PreparationSettings(average_periods=0.0), "average_periods is 0; give the length of one period"),
        (PreparationSettings(cutoff=400.0), "at most 225 Hz"),
        (PreparationSettings(derivative="exact"), "unknown derivative 'exact'"),
        (PreparationSettings(velocity="guess"), "unknown velocity 'guess'"),
        (PreparationSettings(velocity=(True,)), "1 entries for 3 joints"),
        (PreparationSettings(decimate=0), "decimate is 0"),
        (PreparationSettings(decimate="some"), "decimate is 'some'"),
        (PreparationSettings(trim="none"), "trim is 'none'"),
    ],
)
def test_wrong_settings_are_refused(settings: PreparationSettings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_preparation(make_sine_log(), settings)


@pytest.mark.parametrize(
    ("decimate", "words"),
    [
        (1, "every sample"),
        (2, "every 2nd sample"),
        (3, "every 3rd sample"),
        (11, "every 11th sample"),
        (15, "every 15th sample"),
        (21, "every 21st sample"),
    ],
)
def test_the_number_of_kept_samples_is_reported(decimate: int, words: str) -> None:
    preparation = choose_preparation(make_sine_log(), PreparationSettings(cutoff=5.0, decimate=decimate))
    (finding,) = (finding for finding in preparation.findings if finding.code == LogFindingCode.SAMPLES)
    assert words in finding.text
    kept = sum(len(range(span.core_start, span.core_stop, decimate)) for _, span in preparation.iterate_pieces())
    assert finding.fields["kept"] == kept


def test_held_rows_of_an_unchecked_log_are_dropped() -> None:
    log = make_sine_log()
    source = np.arange(len(log))
    source[3::8] -= 1
    assert log.qd is not None
    assert log.tau is not None
    held = replace(log, q=log.q[source], qd=log.qd[source], tau=log.tau[source])
    prepared = prepare_log(held, PreparationSettings(cutoff=50.0, velocity="position"))
    assert LogFindingCode.HELD in {finding.code for finding in prepared.findings}
    truth = -(ANGULAR_FREQUENCIES**2) * np.sin(np.outer(prepared.motion.t, ANGULAR_FREQUENCIES))
    error = np.abs(prepared.motion.qdd - truth)[20:-20].max()
    assert error < 0.1 * np.abs(truth).max()

"""Logs that a model was identified from do not count twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm, true_arm, write_log
from tests.support.payload_cases import BODY
from ytheta.payload.result import PayloadEstimate
from ytheta.payload.verdict import PayloadFindingCode


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("payload")
    fit, _ = identified_arm(folder)
    fit.save(folder / "arm.model.toml")
    write_log(folder / "full.npz", true_arm(folder).with_load(BODY, name="held"), seed=4, noise=0.05)
    return folder


def list_notes(estimate: PayloadEstimate) -> list[str]:
    return [finding.statement for finding in estimate.findings if finding.code == PayloadFindingCode.LOG]


def test_a_log_that_the_model_knows_is_not_used_twice(folder: Path) -> None:
    model, full = folder / "arm.model.toml", folder / "full.npz"
    plain, known, new = (
        yt.identify_payload(model, full, unloaded=unloaded, torque_scale=0.0)
        for unloaded in (None, folder / "a.npz", folder / "b.npz")
    )
    (finding,) = [each for each in known.findings if each.code == PayloadFindingCode.LOG]
    assert finding.source.endswith("a.npz")
    assert known.std == pytest.approx(plain.std)
    assert known.unloaded == (str(folder / "a.npz"),)
    assert new.std[0] < plain.std[0]
    assert not [each for each in new.findings if each.code == PayloadFindingCode.LOG]


def test_logs_are_known_by_their_content_not_by_their_name(folder: Path) -> None:
    """A log of another day with the same name is used; the same log with another name is not."""
    other = folder / "day2"
    other.mkdir()
    copy, new = other / "copy.npz", other / "a.npz"
    shutil.copy(folder / "a.npz", copy)
    shutil.copy(folder / "b.npz", new)
    fit = yt.identify(yt.load(folder / "true.toml"), folder / "a.npz")
    for model in (folder / "arm.model.toml", fit):
        of_copy, of_new = (
            yt.identify_payload(model, folder / "full.npz", unloaded=each, torque_scale=0.0) for each in (copy, new)
        )
        (finding,) = [each for each in of_copy.findings if each.code == PayloadFindingCode.LOG]
        assert finding.source == str(copy)
        assert not [each for each in of_new.findings if each.code == PayloadFindingCode.LOG]
        assert of_new.std[0] < of_copy.std[0]


@pytest.mark.parametrize("saved", [False, True])
def test_only_the_rows_that_the_model_does_not_know_are_used(folder: Path, saved: bool) -> None:
    """The model was identified from the first 60 % of a log. The twin: the whole log, whose rows would count twice."""
    fit = yt.identify(yt.load(folder / "true.toml"), folder / "a.npz", hold_out=40.0)
    model = fit.save(folder / "part.model.toml") if saved else fit
    log = yt.read_log(folder / "a.npz", fit.robot)
    first = len(log) - round(0.4 * len(log))
    rest = log.select_rows(first, len(log))
    whole, new, twin = (
        yt.identify_payload(model, folder / "full.npz", unloaded=each, torque_scale=0.0)
        for each in (folder / "a.npz", [yt.Log(rest.joints, rest.t, rest.q, rest.tau, rest.qd)], _forget_rows(log))
    )
    assert list_notes(whole) == [
        f"the model was identified from rows 0:{first} of this log, and its covariance contains what the data say"
    ]
    assert list_notes(new) == list_notes(twin) == []
    np.testing.assert_allclose(whole.std, new.std, rtol=1e-9)
    assert twin.std[0] < 0.99 * whole.std[0]


def _forget_rows(log: yt.Log) -> yt.Log:
    """Return a log of which nothing but its values is known."""
    return yt.Log(log.joints, log.t, log.q, log.tau, log.qd)

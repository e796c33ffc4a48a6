"""Findings about the model and the logs of a payload."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm, true_arm, write_log
from tests.support.payload_cases import BODY
from ytheta.payload.findings import PayloadFindingCode


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("payload")
    fit, _ = identified_arm(folder)
    fit.save(folder / "arm.model.toml")
    write_log(folder / "full.npz", true_arm(folder).with_load(BODY, name="held"), seed=4, noise=0.05)
    return folder


def test_a_log_that_the_model_knows_is_not_used_twice(folder: Path) -> None:
    model, full = folder / "arm.model.toml", folder / "full.npz"
    plain, known, new = (
        yt.identify_payload(model, full, unloaded=unloaded) for unloaded in (None, folder / "a.npz", folder / "b.npz")
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
        of_copy, of_new = (yt.identify_payload(model, folder / "full.npz", unloaded=each) for each in (copy, new))
        (finding,) = [each for each in of_copy.findings if each.code == PayloadFindingCode.LOG]
        assert finding.source == str(copy)
        assert not [each for each in of_new.findings if each.code == PayloadFindingCode.LOG]
        assert of_new.std[0] < of_copy.std[0]


def test_a_description_is_no_source_of_standard_deviations(folder: Path) -> None:
    of_description, of_model = (
        yt.identify_payload(model, folder / "full.npz") for model in (folder / "true.toml", folder / "arm.model.toml")
    )
    (finding,) = [each for each in of_description.findings if each.code == PayloadFindingCode.MODEL]
    assert finding.is_warning
    assert not of_description.has_covariance
    assert not [each for each in of_model.findings if each.code == PayloadFindingCode.MODEL]
    assert of_model.has_covariance

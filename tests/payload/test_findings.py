"""Findings about the model of a payload."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm, true_arm, write_log
from tests.support.payload_cases import BODY
from ytheta.payload.verdict import PayloadFindingCode


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("payload")
    fit, _ = identified_arm(folder)
    fit.save(folder / "arm.model.toml")
    write_log(folder / "full.npz", true_arm(folder).with_load(BODY, name="held"), seed=4, noise=0.05)
    return folder


def test_a_description_is_no_source_of_standard_deviations(folder: Path) -> None:
    of_description, of_model = (
        yt.identify_payload(model, folder / "full.npz") for model in (folder / "true.toml", folder / "arm.model.toml")
    )
    (finding,) = [each for each in of_description.findings if each.code == PayloadFindingCode.MODEL]
    assert finding.is_warning
    assert not of_description.has_covariance
    assert not [each for each in of_model.findings if each.code == PayloadFindingCode.MODEL]
    assert of_model.has_covariance

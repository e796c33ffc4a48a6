"""An estimated payload as text and as plain data."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.payload_cases import BODY
from ytheta.payload.result import PayloadEstimate


@pytest.fixture(scope="module")
def estimate(tmp_path_factory: pytest.TempPathFactory) -> PayloadEstimate:
    folder = tmp_path_factory.mktemp("payload")
    robot = true_arm(folder)
    log = write_log(folder / "full.csv", robot.with_load(BODY, name="held"), noise=0.05)
    return yt.identify_payload(robot, log, mass=2.4)


def test_the_text_contains_values_units_and_the_verdict(estimate: PayloadEstimate) -> None:
    text = str(estimate)
    assert "mass" in text
    assert f"frame {estimate.frame}" in text
    assert estimate.verdict.sentence in text.replace("\n", " ")
    assert "full.csv" in text
    assert Path(estimate.logs[0]).name == "full.csv"


def test_the_data_are_those_of_the_value(estimate: PayloadEstimate) -> None:
    data = estimate.to_dict()
    assert data["std"]["inertia"][0][1] == data["std"]["inertia"][1][0] == pytest.approx(estimate.std[5])
    assert data["std"]["inertia"][2][1] == pytest.approx(estimate.std[8])
    assert data["inertia"] == estimate.inertia.tolist()
    assert repr(estimate).startswith("PayloadEstimate(2.4 ± 0 kg")

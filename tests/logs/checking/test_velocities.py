"""Recorded velocities that are not the derivative of the positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.log_defects import (
    Defect,
    assert_only_defect,
    modify,
    scale,
)
from tests.support.log_files import get_finding, load_shared_robot
from ytheta.findings import Severity
from ytheta.logs.preparing.preparation import choose_preparation
from ytheta.logs.reading.read import read_log

DEFECTS = {
    "gain": Defect(modify(qd=scale(2, 1.18)), "velocity", Severity.WARNING),
    "sign": Defect(modify(qd=scale(2, -1.0)), "velocity", Severity.WARNING),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])


def test_three_velocities_of_the_dvrk_are_too_large(shared_data: Path) -> None:
    log = read_log(shared_data / "dvrk_mtm/mtm_train_one.parquet", load_shared_robot(shared_data, "dvrk_mtm"))
    finding = get_finding(log, "velocity")
    assert [joint for joint in log.joints if joint in finding.text] == ["joint_5", "joint_6", "joint_7"]
    assert "for these joints velocity is computed from position" in finding.text
    others = [other for other in choose_preparation(log).findings if other.code == "velocity"]
    assert not any(joint in other.text for joint in finding.names for other in others)
    unchecked = replace(log, findings=())
    others = [other for other in choose_preparation(unchecked).findings if other.code == "velocity"]
    assert any("joint_7" in other.text for other in others)

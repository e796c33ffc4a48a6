"""Held rows are dropped, and the log is split after many of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.log_defects import (
    CLEAN,
    Defect,
    assert_only_defect,
    hold_rows,
)
from tests.support.log_files import get_finding, load_shared_robot
from ytheta.findings import Severity
from ytheta.logs.reading.read import read_log

DEFECTS = {
    "some rows": Defect(hold_rows(CLEAN, [200, 201, 202, 900, 1500]), "held", Severity.REPAIRED, dropped=5),
    "many rows": Defect(hold_rows(CLEAN, list(range(400, 420))), "held", Severity.REPAIRED, dropped=20, segments=2),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])


def test_the_dvrk_log_holds_an_eighth_of_its_rows(shared_data: Path) -> None:
    log = read_log(shared_data / "dvrk_mtm/mtm_train_one.parquet", load_shared_robot(shared_data, "dvrk_mtm"))
    finding = get_finding(log, "held")
    assert "13 %" in finding.text
    assert finding.fields["rows"] == 5999 - len(log)

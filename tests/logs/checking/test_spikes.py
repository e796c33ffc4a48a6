"""Spikes in torques, positions and velocities are dropped."""

from __future__ import annotations

import pytest

from tests.support.log_defects import (
    Defect,
    assert_only_defect,
    modify,
    put,
)
from ytheta.findings import Severity

DEFECTS = {
    "torque": Defect(modify(tau=put((1234, 3), 90.0)), "spike", Severity.REPAIRED, dropped=1),
    "position": Defect(modify(q=put((1234, 3), 2.5)), "spike", Severity.REPAIRED, dropped=1),
    "velocity": Defect(modify(qd=put((1234, 3), 25.0)), "spike", Severity.REPAIRED, dropped=1),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_nothing_else(name: str) -> None:
    assert_only_defect(DEFECTS[name])

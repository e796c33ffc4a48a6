"""The procedure as a whole, where its parts must agree with each other."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.recorded_logs import load_recorded_robot, read_recorded_logs

from ytheta.identification.identify import identify
from ytheta.identification.procedure import run

CUTOFFS = (4.8, 5.0)  # Hz; with the first, the torques never agree


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_load_friction_holds_with_the_torque_of_the_estimate_itself(
    cutoff: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a run of the KR300, whose motion does not tell the torques of links and of friction apart."""
    robot = load_recorded_robot("KR300")
    if robot is None:
        pytest.skip("the log of the KR300 is not in ../shared/data")
    log = read_recorded_logs("KR300", robot)["A"].select_times(4.95, np.inf)
    fit = identify(robot, log, cutoff=cutoff)
    assert fit.consistency_cost is not None
    assert fit.fit.relative_percent < 1.2 * fit.consistency_cost.estimate_percent
    monkeypatch.setattr(run, "MAX_LOAD_ERROR_RATIO", np.inf)  # the twin: as chosen
    twin = identify(robot, log, cutoff=cutoff)
    assert twin.consistency_cost is not None
    assert twin.fit.relative_percent > 3.0 * twin.consistency_cost.estimate_percent

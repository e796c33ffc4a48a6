"""Findings about the runs of a simulation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.simulate_cases import PUMA, simulate_varied_puma
from ytheta.control import ControllerSettings
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.simulation.result import SimulationFindingCode


def find(simulation: yt.Simulation, code: SimulationFindingCode) -> list[str]:
    return [finding.text for finding in simulation.findings if finding.code is code]


def test_torques_at_their_limits() -> None:
    robot = yt.load("ur10")
    stiff = yt.simulate(robot, ControllerSettings(gains={"damping": 1000.0}), seconds=0.3)
    (text,) = find(stiff, SimulationFindingCode.TORQUE_LIMIT)
    assert "is at its limit in" in text
    (finding,) = (each for each in stiff.findings if each.code is SimulationFindingCode.TORQUE_LIMIT)
    assert finding.severity is Severity.WARNING
    assert finding.names[0] in robot.actuated
    assert find(yt.simulate(robot, seconds=0.3), SimulationFindingCode.TORQUE_LIMIT) == []


def test_estimated_friction_of_a_robot_without_friction() -> None:
    settings = ControllerSettings(friction=("viscous",))
    assert find(yt.simulate(PUMA, settings, seconds=0.1), SimulationFindingCode.NO_FRICTION)
    assert not find(yt.simulate(PUMA, seconds=0.1), SimulationFindingCode.NO_FRICTION)


def test_runs_that_diverge_have_no_log(tmp_path: Path) -> None:
    finished = simulate_varied_puma(3)
    assert finished.findings[-1].code is not SimulationFindingCode.DIVERGED
    runs = replace(finished.runs, diverged_at=np.array([np.inf, 0.25, np.inf]))
    simulation = replace(finished, runs=runs)
    assert find(simulation, SimulationFindingCode.NO_LOG) == ["run 1 diverged; its log is not written"]
    last = simulation.findings[-1]
    assert last.code is SimulationFindingCode.DIVERGED
    assert last.fields == {"runs": [1], "t": [0.25]}
    assert last.text == "run 1 diverged at t = 0.25 s; choose smaller gains or a higher rate"
    paths = simulation.save(tmp_path / "log-{run}.csv")
    assert isinstance(paths, tuple)
    assert [path.name for path in paths] == ["log-0.csv", "log-2.csv"] == sorted(p.name for p in tmp_path.iterdir())
    for path, run in zip(paths, (0, 2), strict=True):
        np.testing.assert_allclose(yt.read_log(path, PUMA).q, simulation.runs.read_q[run], rtol=0.0, atol=1e-12)
    first = replace(finished, runs=replace(runs, diverged_at=np.array([0.25, 0.5, np.inf])))
    with pytest.raises(InputError, match=r"first.csv is not written: run 0 diverged at t = 0.25 s and has no log"):
        first.save(tmp_path / "first.csv")
    assert first.save_finished(tmp_path / "first.csv") == ()
    assert not (tmp_path / "first.csv").exists()
    assert find(first, SimulationFindingCode.NO_LOG) == ["runs 0, 1 diverged; their logs are not written"]


def test_runs_that_do_not_track() -> None:
    far = yt.simulate(PUMA, "pd-gravity", seconds=0.2, variation=yt.Variation(start_offset=1.0))
    assert far.findings[-1].code is SimulationFindingCode.NOT_TRACKING
    assert far.findings[-1].fields == {"runs": [0]}
    assert "as large as the motion itself" in far.findings[-1].text


def test_logs_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    simulation = simulate_varied_puma(3)
    with pytest.raises(InputError, match="must have the extension"):
        simulation.save(tmp_path / "log.txt")
    with pytest.raises(InputError, match="cannot be written"):
        simulation.save(tmp_path / "nowhere" / "log.csv")
    many = yt.simulate(PUMA, "computed-torque", seconds=0.01, runs=101)
    with pytest.raises(InputError, match="write at most 100 logs"):
        many.save(tmp_path / "log-{run}.csv")
    assert many.save(tmp_path / "log.csv") == tmp_path / "log.csv"
    with pytest.raises(InputError, match=r"z-\{x\}.csv: \{x\} means nothing here; write \{run\}"):
        many.save(tmp_path / "z-{x}.csv")

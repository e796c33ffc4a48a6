"""Torques with the wrong sign and gravity along the wrong axis are found; correct descriptions give no findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.diagnosis_runs import Run, simulate_run
from ytheta.findings import Finding, Severity
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.reading.read import read_log
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia

UPWARD, SIDEWAYS = (0.0, 0.0, 9.81), (9.81, 0.0, 0.0)
LOGS = {
    "ur10e": ("ur10e/ur10e.urdf", "ur10e/ur10e_train_30s_12harm.parquet", [634, 3510], PreparationSettings(cutoff=8.0)),
    "ur10e ptp": ("ur10e/ur10e.urdf", "ur10e/ur10e_ptp10.parquet", [699, 4200], PreparationSettings(cutoff=8.0)),
    "panda": ("panda/panda_arm.urdf", "panda/panda_gaz2019.parquet", None, PreparationSettings(cutoff=10.0)),
    "lwr4": ("lwr4/lwr4.urdf", "lwr4/lwr4_run1.parquet", None, PreparationSettings(cutoff=5.0, trim=0.5)),
    "kr300": ("kr300/kr300.urdf", "kr300/kr300_run_b.parquet", None, PreparationSettings(cutoff=8.0, trim=0.2)),
    "tx40": ("tx40/tx40.urdf", "tx40/tx40_joint.parquet", [400, 37400], PreparationSettings(cutoff=50.0)),
}


@pytest.fixture(scope="module")
def recorded(shared_data: Path, request: pytest.FixtureRequest) -> Run:
    model, log, rows, settings = LOGS[request.param]
    robot = ytheta.load(str(shared_data / model))
    mapping = {} if rows is None else {"rows": rows}
    prepared = prepare_log(read_log(shared_data / log, robot, mapping=mapping), settings)
    rotor = not request.param.startswith(("panda", "lwr4"))
    return Run(robot, prepared.motion, prepared.rate, rotor=rotor)


def _list_codes(findings: list[Finding]) -> list[str]:
    assert all(finding.severity is Severity.WARNING for finding in findings)
    return [finding.code for finding in findings]


def _get_signs(findings: list[Finding]) -> list[float]:
    (signs,) = (finding.fields["signs"] for finding in findings if finding.code == "torque sign")
    return list(signs)


@pytest.mark.parametrize("recorded", LOGS, indirect=True)
def test_correct_descriptions_of_recorded_arms_give_no_findings(recorded: Run) -> None:
    assert recorded.diagnose() == []


@pytest.mark.parametrize("recorded", ["ur10e", "panda", "lwr4"], indirect=True)
def test_wrong_signs_of_recorded_arms_are_found(recorded: Run) -> None:
    n = len(recorded.robot.actuated)
    # Friction and described torque explain too little of the last joint of the LWR4+.
    last = [] if recorded.robot.actuated[0].startswith("lwr") else [(n - 1,)]
    for wrong in [(0,), (2,), *last, tuple(range(n))]:
        findings = recorded.diagnose(wrong=wrong)
        assert _list_codes(findings) == ["torque sign"], wrong
        assert [k for k, sign in enumerate(_get_signs(findings)) if sign < 0.0] == list(wrong)


@pytest.mark.parametrize("recorded", ["ur10e", "ur10e ptp", "panda", "lwr4"], indirect=True)
def test_wrong_gravity_of_recorded_arms_is_found(recorded: Run) -> None:
    for gravity, name in ((SIDEWAYS, "+x"), (UPWARD, "+z")):
        findings = recorded.diagnose(gravity=gravity)
        assert _list_codes(findings) == ["gravity"], gravity
        assert "but along −z in the log" in findings[0].text
        assert f"gravity is along {name} of the base" in findings[0].text
        assert "set gravity = [0, 0, -9.81]" in findings[0].text


@pytest.mark.parametrize(("friction", "noise"), [(0.0, 0.0), (0.0, 0.03), (2.0, 0.03)])
def test_wrong_signs_and_gravity_of_simulated_arms_are_found(friction: float, noise: float) -> None:
    run = simulate_run("ur10", friction, noise)
    assert run.diagnose() == []
    for wrong in [(1,), (0, 2), (0, 1, 2, 3, 4, 5)]:
        findings = run.diagnose(wrong=wrong)
        assert _list_codes(findings) == ["torque sign"]
        assert [k for k, sign in enumerate(_get_signs(findings)) if sign < 0.0] == list(wrong)
    assert _list_codes(run.diagnose(gravity=UPWARD)) == ["gravity"]


def test_findings_have_values_and_a_remedy() -> None:
    run = simulate_run("ur10")
    (finding,) = run.diagnose(wrong=(1,))
    assert finding.names == (run.robot.actuated[1],)
    assert finding.fields["mistake"] == "torque sign"
    assert finding.fields["mended_error_percent"] < 1.0 < 10.0 < finding.fields["error_percent"]
    assert "write [sign] tau = [1, -1, 1, 1, 1, 1] in the mapping" in finding.text
    (finding,) = run.diagnose(wrong=(0, 1, 2, 3, 4, 5))
    assert finding.text.startswith("all torques have the wrong sign: ")
    (finding,) = run.diagnose(gravity=SIDEWAYS)
    assert "set gravity = [0, 0, -9.81]" in finding.text


def test_gravity_is_compared_in_the_frame_of_the_base() -> None:
    """If mounting and gravity are both reversed, the log does not contradict the description."""
    upright = simulate_run("ur10")
    half_turn = Frame.from_rpy(np.pi, 0.0, 0.0)
    assert replace(upright, robot=replace(upright.robot, mounting=half_turn, gravity=UPWARD)).diagnose() == []
    assert _list_codes(replace(upright, robot=replace(upright.robot, mounting=half_turn)).diagnose()) == ["gravity"]


def test_without_described_masses_scales_cannot_be_found() -> None:
    """The twin: only the described masses show the unit of the torques."""
    run = simulate_run("ur10")
    assert run.motion.tau is not None
    scaled = replace(run, motion=replace(run.motion, tau=1e3 * run.motion.tau))
    assert _list_codes(scaled.diagnose()) == ["torque scale"]
    massless = run.robot.with_inertias({link.name: Inertia() for link in run.robot.links})
    assert replace(scaled, robot=massless).diagnose() == []

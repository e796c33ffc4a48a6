"""Inspection: closed loops, limits, accepted formulations, operation counts, number of base parameters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.toml_robots import TWO
from tests.support.vendor_urdfs import gen3
from ytheta.dynamics.graphs import regressor_graph
from ytheta.dynamics.operation_counts import MAX_COUNTED_JOINTS
from ytheta.findings import Severity
from ytheta.inspection import Inspection, InspectionFindingCode
from ytheta.native import count_operations
from ytheta.robot.parts import Limits, Motor


@pytest.fixture(scope="module")
def walker() -> Inspection:
    return yt.inspect(yt.load("walker"), at={"q5": 0.8, "q7": 1.3})


def test_loops_are_closed_at_the_given_positions(walker: Inspection) -> None:
    assert walker.closure is not None
    assert walker.closure.closed
    assert (walker.closure.coordinates["q5"], walker.closure.coordinates["q7"]) == (0.8, 1.3)
    assert walker.to_dict()["loop_table"][0]["coordinates"]["q5"] == 0.8
    assert yt.inspect(yt.load("panda")).closure is None
    with pytest.raises(yt.errors.InputError, match="'at' closes loops, but robot 'panda' has none; leave it out"):
        yt.inspect(yt.load("panda"), at={"panda_joint1": 0.1})
    with pytest.raises(yt.errors.ClosureError, match="cannot close at this pose"):
        yt.inspect(yt.load("walker"), at={"q5": 5.0})


def test_an_uncertain_number_of_base_parameters_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(gen3().replace("3.1416", "3.14157"))
    inspection = yt.inspect(yt.load(file, snap=0.0))
    assert "the number of base parameters is not certain" in inspection.base_findings[0].text
    assert inspection.findings[-1] == inspection.base_findings[0]
    assert yt.inspect(yt.load(file)).base_findings == ()  # the twin: with exact angles


def test_positions_outside_the_limits_are_notes(walker: Inspection) -> None:
    assert walker.findings == ()
    (finding,) = yt.inspect(walker.robot, at={"q5": 0.6}).findings
    assert (finding.code, finding.severity, finding.names) == (
        InspectionFindingCode.OUTSIDE_LIMITS,
        Severity.NOTE,
        ("q5",),
    )
    assert finding.fields == {"position": 0.6, "lower": 0.62, "upper": 0.92}
    assert finding.text == "q5 = 0.6 is outside its limits 0.62 … 0.92"


def test_limits_of_cut_joints_are_checked_too(walker: Inspection) -> None:
    first, second = walker.robot.loops
    position = next(state.position for state in walker.closure.loops if state.name == first.name)  # type: ignore[union-attr]
    for lower, names in ((position - 0.1, []), (position + 0.1, [first.name])):
        limited = replace(first, joint=replace(first.joint, limits=Limits(lower=lower)))
        inspection = yt.inspect(replace(walker.robot, loops=(limited, second)), at={"q5": 0.8, "q7": 1.3})
        assert [finding.names[0] for finding in inspection.findings] == names
        assert json.dumps(inspection.to_dict(), allow_nan=False)  # the upper limit is infinite


def test_limits_of_motors_are_checked_too() -> None:
    """A motor that turns twice as far as a joint, with limits on both sides of its position."""
    robot = yt.load("five-bar")
    for upper, names in ((4.1, []), (3.9, ["motor"])):
        motor = Motor("motor", Limits(upper=upper), turns_with=(("left", 2.0),))
        inspection = yt.inspect(replace(robot, motors=(motor,)), at={"left": 2.0})
        assert [finding.names[0] for finding in inspection.findings] == names
        assert [finding.fields["position"] for finding in inspection.findings] == [4.0] * len(names)


def test_formulations_are_accepted_or_explained(walker: Inspection) -> None:
    assert walker.formulations == yt.formulations(walker.robot)
    assert walker.formulations["spatial_tree"] is None
    assert "has closed loops; use spatial_tree" in str(walker.formulations["lagrange"])
    assert set(walker.operations) == {"spatial_tree"}
    assert set(walker.not_counted) == set(walker.formulations) - set(walker.operations)


def test_operations_are_those_of_the_graphs() -> None:
    inspection = yt.inspect(yt.load("lu-two-link"))
    for name, cost in inspection.operations.items():
        count = count_operations(regressor_graph(inspection.robot, formulation=name))
        assert cost == {"multiplications": count.multiplications, "additions": count.additions}
    assert len(inspection.operations) > 2
    assert inspection.findings == ()
    assert inspection.base_count == len(yt.base_parameters(inspection.robot))


def test_findings_of_the_reader_are_included() -> None:
    robot = yt.load("puma560")
    assert len(robot.findings) == 2
    inspection = yt.inspect(robot)
    assert inspection.findings == robot.findings
    assert [finding["names"] for finding in inspection.to_dict()["findings"]] == [["link1"], ["link3"]]


def test_unset_lengths_leave_costs_unknown(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace("l1 = 0.4", 'l1 = "unset"'))
    inspection = yt.inspect(yt.load(tmp_path / "two.toml"))
    assert (inspection.operations, inspection.inverse_dynamics, inspection.base_count) == ({}, {}, None)
    assert "with --length l1=VALUE or robot.with_lengths(l1=VALUE)" in " ".join(str(inspection).split())
    known = yt.inspect(inspection.robot.with_lengths(l1=0.4))
    assert known.base_count is not None
    assert known.operations


def test_an_inspection_shows_itself(walker: Inspection) -> None:
    assert repr(walker) == "Inspection(Robot('walker', 7 joints, 3 actuated, 2 loops), 19 base parameters)"
    assert "closes at q1 = " in str(walker)
    assert "cheapest inverse dynamics" in str(walker)
    assert walker.to_dict().keys() >= walker.robot.to_dict().keys()


def test_all_formulations_of_inverse_dynamics_are_counted(walker: Inspection) -> None:
    """The cheapest first; Lin's recursion also as the paper counts, if it accepts the robot."""
    stanford = yt.inspect(yt.load("stanford"))
    assert list(stanford.inverse_dynamics) == ["minimal_newton_euler", "composite_newton_euler", "newton_euler"]
    assert stanford.lin1995_operations == {"multiplications": 163, "additions": 153}
    assert stanford.to_dict()["lin1995_operations"] == stanford.lin1995_operations
    assert "composite_newton_euler, 150 multiplications, 115 additions (as Lin 1995 counts: 163 and 153)" in str(
        stanford
    )
    assert (list(walker.inverse_dynamics), walker.lin1995_operations) == (["newton_euler"], None)


def make_chain(joints: int) -> str:
    inertial = (
        '<inertial><mass value="1"/><origin xyz="0.1 0.02 0.03"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    parts = [
        f'<link name="l{k}">{inertial}</link><joint name="j{k}" type="continuous"><parent link="l{k - 1}"/>'
        f'<child link="l{k}"/><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 {k % 2} {1 - k % 2}"/></joint>'
        for k in range(1, joints + 1)
    ]
    return f'<robot name="chain"><link name="l0"/>{"".join(parts)}</robot>'


def test_what_grows_too_fast_is_not_counted_for_large_robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 300 joints took 113 s and 3.4 GB."""
    path = tmp_path / "chain.urdf"
    path.write_text(make_chain(MAX_COUNTED_JOINTS + 1))
    for called in ("base_parameters", "regressor_graph"):
        monkeypatch.setattr(
            f"ytheta.{'inspection' if called[0] == 'b' else 'dynamics.operation_counts'}.{called}", None
        )
    inspection = yt.inspect(yt.load(path))
    assert inspection.base_count is None
    assert not inspection.operations
    assert "accepted, but not counted for more than 100 joints" in inspection.not_counted.values()
    assert inspection.inverse_dynamics
    (finding,) = inspection.base_findings
    assert finding.code is InspectionFindingCode.LARGE
    assert "of 101 joints take long, and are not counted here; count them with ytheta base" in finding.text
    monkeypatch.undo()
    path.write_text(make_chain(13))  # the twin
    assert yt.inspect(yt.load(path)).base_count

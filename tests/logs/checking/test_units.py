"""Time that is not in seconds and angles in degrees are recognised, with the line that corrects them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.log_defects import (
    CLEAN,
    ROBOT,
    assert_refused,
    modify,
    put,
)
from tests.support.log_files import ARM, ARM_LOG, codes_above_notes, load_shared_robot, make_log, name_columns
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.checking.units import check_time_unit
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.reading.read import read_log
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot

ERRORS: dict[str, tuple[Log, tuple[str, ...]]] = {
    "degrees": (replace(CLEAN, q=np.degrees(CLEAN.q), qd=None), ("degrees", "[scale]")),
    "degrees with velocity": (modify(q=put(..., np.degrees(CLEAN.q))), ("0.01745", "positions", "degrees")),
    "velocity in degrees": (modify(qd=lambda qd: qd.__imul__(180 / np.pi)), ("57.29", "velocities", "degrees")),
    "milliseconds": (modify(t=lambda t: t.__imul__(1e3)), ("1000", 't = "ms"')),
}


@pytest.mark.parametrize("name", ERRORS)
def test_logs_that_would_give_wrong_results_are_refused(name: str) -> None:
    log, words = ERRORS[name]
    assert_refused(log, *words)


def get_refusal_message(log: Log, robot: Robot = ROBOT, *, time_unit_known: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        check_log(log, robot, time_unit_known=time_unit_known)
    return str(caught.value)


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize(("factor", "word"), [(1e3, "ms"), (1e6, "us"), (1e9, "ns")])
@pytest.mark.parametrize("rate", [50.0, 1000.0, 5000.0])
def test_wrong_units_of_time_are_recognised(rate: float, factor: float, word: str, velocity: bool) -> None:
    """Only the right unit is named, with and without recorded velocity; the log in seconds has no findings."""
    log = make_log(ROBOT, rate=rate, rows=int(10 * rate))
    log = log if velocity else replace(log, qd=None)
    assert codes_above_notes(check_log(log, ROBOT)) == set()
    wrong = get_refusal_message(replace(log, t=factor * log.t))
    assert re.findall(r't = "(\w+)" in a mapping', wrong) == [word]
    assert "low for an arm" not in wrong


@pytest.mark.parametrize(("factor", "word"), [(1e3, "ms"), (1e9, "ns")])
def test_jumps_between_recordings_do_not_hide_the_unit_of_time(factor: float, word: str) -> None:
    """Two recordings, of which the second begins elsewhere one unit of time later."""
    log = replace(make_log(ROBOT, rate=100.0, rows=1000), qd=None)
    t, q = factor * log.t, log.q.copy()
    t[500:] += t[499] + 1.0 - t[500]
    q[500:] = q[499] - (q[500:] - q[500]) + 0.5  # all joints jump
    joined = replace(log, t=t, q=q, segments=((0, 500), (500, 1000)))
    assert re.findall(r't = "(\w+)" in a mapping', get_refusal_message(joined)) == [word]


def test_joints_that_move_between_recordings_alone_have_no_speed() -> None:
    log = replace(make_log(ROBOT, rate=10.0, rows=1000), qd=None)
    q = np.where(np.arange(1000)[:, None] < 500, 0.0, 0.5) * np.ones(log.q.shape[1])
    held = replace(log, q=q, segments=((0, 500), (500, 1000)))
    assert check_time_unit(held, ROBOT) == []


def test_slow_motion_or_a_low_rate_alone_is_accepted() -> None:
    log = replace(make_log(ROBOT), qd=None)
    slow = replace(log, t=20.0 * log.t)  # at 5 Hz, a minute for a crossing
    assert "units" not in codes_above_notes(check_log(slow, ROBOT))
    hours = replace(log, t=1e3 * log.t)
    assert "milliseconds" in get_refusal_message(hours)
    assert codes_above_notes(check_log(hours, ROBOT, time_unit_known=True)) == {"sampling"}
    fine = np.arange(400_000) / 100.0  # an hour at 100 Hz, as slow
    q = np.stack([np.interp(fine, hours.t, column) for column in hours.q.T], axis=1)
    assert "units" not in codes_above_notes(check_log(Log(ROBOT.actuated, fine, q), ROBOT))


def test_real_logs_in_milliseconds_are_recognised(shared_data: Path) -> None:
    for name, folder in (("tx40_joint", "tx40"), ("panda_gaz2019", "panda"), ("lwr4_run1", "lwr4")):
        robot, path = load_shared_robot(shared_data, folder), shared_data / folder / f"{name}.parquet"
        with pytest.raises(InputError, match='t = "ms"'):
            read_log(path, robot, mapping={"scale": {"t": 1000.0}})
        read_log(path, robot, mapping={"scale": {"t": "s"}})


def test_one_joint_in_degrees_is_recognised() -> None:
    robot = ytheta.load("lu-two-link")
    log = make_log(robot)
    degrees = replace(log, q=log.q * np.array([180.0 / np.pi, 1.0]))
    for wrong in (replace(degrees, qd=None), degrees):
        assert 'q = ["degrees", "radians"] in a mapping' in get_refusal_message(wrong, robot)
    both = replace(log, q=np.degrees(log.q), qd=None)
    assert 'q = "degrees" in a mapping' in get_refusal_message(both, robot)
    counts = get_refusal_message(replace(log, q=1e5 * log.q, qd=None), robot)
    assert "too large" in counts
    assert "encoder counts" in counts
    assert "seem to be in degrees" not in counts


def test_a_sliding_joint_is_not_in_degrees() -> None:
    robot = ytheta.load("lu-two-link")
    first, second, *others = robot.joints
    sliding = replace(robot, joints=(first, replace(second, kind=JointKind.PRISMATIC), *others))
    log = make_log(sliding)
    degrees = replace(log, q=log.q * np.array([180.0 / np.pi, 1.0]), qd=None)
    assert 'q = ["degrees", "metres"] in a mapping' in get_refusal_message(degrees, sliding)


def test_stated_units_are_accepted() -> None:
    turning = replace(CLEAN, q=20.0 * CLEAN.q, qd=None)
    assert "degrees" in get_refusal_message(turning)
    assert codes_above_notes(check_log(turning, ROBOT, position_unit_known=True)) == {"limits"}


@pytest.mark.parametrize(("in_degrees", "other"), [("q", "qd"), ("qd", "q")])
def test_degrees_of_only_one_quantity(in_degrees: str, other: str) -> None:
    """The advice for a log that was read with ``degrees``, followed to the letter, gives the log."""
    log = make_log(ROBOT)
    assert log.qd is not None
    assert log.tau is not None
    table = {"t": log.t, "q": log.q, "qd": log.qd, "tau": log.tau}
    table[in_degrees] = np.degrees(table[in_degrees])
    noun = {"q": "positions", "qd": "velocities"}
    words = f"only the {noun[in_degrees]} seem to be in degrees, not the {noun[other]}: without --degrees"
    advice = f'[scale] {in_degrees} = "degrees" and {other} = "radians"'
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        read_log(table, ROBOT, degrees=True)
    assert advice in str(caught.value)
    followed = read_log(table, ROBOT, mapping={"scale": {in_degrees: "degrees", other: "radians"}})
    np.testing.assert_allclose(followed.q, log.q, rtol=1e-12)
    with pytest.raises(InputError) as caught:  # the twin: without the option, the quantity itself is named
        read_log(table, ROBOT)
    assert f'{noun[in_degrees]} seem to be in degrees: write [scale] {in_degrees} = "degrees"' in str(caught.value)


# --- declared units ---------------------------------------------------------------------------------------------------


def find_units(table: dict[str, np.ndarray], robot: Robot, **options: Any) -> list[Finding]:
    log = read_log(table, robot, **options)
    return [finding for finding in log.findings if finding.code == LogFindingCode.UNITS]


def test_radians_that_were_declared_as_degrees_are_reported() -> None:
    columns = name_columns(ARM_LOG)
    (finding,) = find_units(columns, ARM, degrees=True)
    assert "could be radians" in finding.statement
    assert "--degrees" in finding.remedy
    mapping = {"scale": {"q": "degrees", "qd": "degrees"}}
    assert len(find_units(columns, ARM, mapping=mapping)) == 1
    correct = {name: np.degrees(values) if name.startswith("q") else values for name, values in columns.items()}
    assert find_units(correct, ARM, degrees=True) == []
    with pytest.raises(InputError, match="degrees"):  # not declared
        find_units({name: values for name, values in correct.items() if not name.startswith("qd")}, ARM)


def make_gantry(*, factor: float) -> tuple[Robot, dict[str, np.ndarray]]:
    """A robot with a rail of 1 m and a revolute joint, and a log with the rail's positions times a factor."""
    limits = Limits(lower=0.0, upper=1.0)
    joints = (replace(ARM.joints[0], kind=JointKind.PRISMATIC, limits=limits), *ARM.joints[1:])
    t = np.arange(600) / 100.0
    rail = 0.5 + 0.4 * np.sin(t)
    table = {"t": t, "q1": factor * rail, "q2": np.cos(2.0 * t), "tau1": np.sin(t), "tau2": np.cos(t)}
    return replace(ARM, joints=joints), table


def test_millimetres_are_reported() -> None:
    robot, table = make_gantry(factor=1000.0)
    with pytest.raises(
        InputError, match=r"in millimetres \(joint1 100 to 900, limits 0 to 1 m\); write \[scale\] q = "
    ):
        find_units(table, robot)
    assert find_units(table, robot, mapping={"scale": {"q": ["mm", "radians"]}}) == []
    (finding,) = find_units(table, robot, mapping={"scale": {"q": ["metres", "radians"]}})
    assert finding.severity is Severity.WARNING
    for factor in (1.0, 1.2):  # within the limits, and beyond them, but not in millimetres
        robot, table = make_gantry(factor=factor)
        assert find_units(table, robot) == []


def test_a_count_of_samples_may_be_no_time() -> None:
    """Whole steps of 1 are milliseconds at 1 kHz, or samples at any rate: the remedy names both."""
    log = make_log(ROBOT, rows=3000, rate=100.0)
    counted = replace(log, t=np.arange(3000.0), qd=None)
    with pytest.raises(InputError, match=r't = "ms".*if it counts samples, give the sampling rate instead: --rate'):
        check_log(counted, ROBOT)
    with pytest.raises(InputError, match="milliseconds") as caught:
        check_log(replace(counted, t=np.arange(3000.0) * 10.0), ROBOT)
    assert "counts samples" not in str(caught.value)

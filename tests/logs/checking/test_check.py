"""The checker: a clean log is clean, each defect put into it is found and only that one, and safe repairs are made."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.log_files import kinds, made_log, shared_robot
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.check import check_log
from ytheta.logs.checking.repeated_motion import find_repeated_motion
from ytheta.logs.checking.row_edits import RowEdits, apply_edits, row_indices
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import choose_preparation
from ytheta.logs.reading.read import read_log
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint

ROBOT = ytheta.load("ur10")
CLEAN = made_log(ROBOT)


def changed(**arrays: Callable[[np.ndarray], object]) -> Log:
    """The clean log with some arrays changed in place."""
    copies: dict[str, Any] = {}
    for name, change in arrays.items():
        copies[name] = np.array(getattr(CLEAN, name))
        change(copies[name])
    return replace(CLEAN, **copies)


def put(rows: object, values: object) -> Callable[[np.ndarray], None]:
    def change(array: np.ndarray) -> None:
        array[rows] = values  # type: ignore[call-overload]

    return change


def finding(log: Log, kind: str) -> Finding:
    (found,) = (finding for finding in log.findings if finding.code == kind)
    return found


def refused(log: Log, *words: str, strict: bool = False) -> None:
    with pytest.raises(InputError) as caught:
        check_log(log, ROBOT, strict=strict)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def held(log: Log, rows: list[int]) -> Log:
    """A log in which some rows repeat the row before."""
    source = np.arange(len(log))
    for row in rows:
        source[row] = source[row - 1]
    assert log.qd is not None
    assert log.tau is not None
    return replace(log, q=log.q[source], qd=log.qd[source], tau=log.tau[source])


# --- the clean log ---------------------------------------------------------------------------------------------------


def test_a_clean_log_is_clean_and_not_copied() -> None:
    log = check_log(CLEAN, ROBOT, strict=True)
    assert [(finding.code, finding.severity) for finding in log.findings] == [("sampling", Severity.NOTE)]
    assert log.q is CLEAN.q
    assert log.segments == ((0, len(CLEAN)),)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rate", [50.0, 1000.0])
def test_other_clean_logs_are_clean(rate: float, seed: int) -> None:
    log = made_log(ROBOT, rate=rate, seed=seed, rows=int(20 * rate))
    assert kinds(check_log(log, ROBOT)) == set()
    assert log.tau is not None
    rounded = replace(log, q=np.round(log.q, 4), tau=np.round(log.tau, 2), qd=None)
    assert kinds(check_log(rounded, ROBOT)) == set()


def test_rests_and_friction_without_noise_are_clean() -> None:
    """A noise-free simulation stops and goes, holds its torque exactly, and its friction changes sign in one step."""
    t = np.arange(6000) / 500.0
    phase = np.clip(np.mod(t, 3.0), 0.0, 2.0) / 2.0
    s = (10 * phase**3 - 15 * phase**4 + 6 * phase**5) * np.where(np.mod(t, 6.0) < 3.0, 1, -1)
    s += np.where(np.mod(t, 6.0) < 3.0, 0.0, 1.0)
    sizes = np.linspace(0.5, 1.5, 6)
    q = s[:, None] * sizes
    qd = np.gradient(q, t, axis=0)
    tau = 20.0 * np.cos(q) + 5.0 * np.sign(np.round(qd, 9))
    assert kinds(check_log(Log(ROBOT.actuated, t, q, tau, qd), ROBOT)) == set()


def test_findings_are_told_once() -> None:
    log = held(changed(tau=put((500, 1), 400.0)), [100, 101, 700])
    once = check_log(log, ROBOT)
    assert kinds(once) == {"held", "spike"}
    assert check_log(once, ROBOT).findings == once.findings


# --- one defect at a time --------------------------------------------------------------------------------------------


def later(row: int, seconds: float) -> Callable[[np.ndarray], None]:
    def change(t: np.ndarray) -> None:
        t[row:] += seconds

    return change


def clipped(tau: np.ndarray) -> None:
    np.clip(tau[:, 1], -9.0, 9.0, out=tau[:, 1])


def scaled(joint: int, factor: float) -> Callable[[np.ndarray], None]:
    def change(array: np.ndarray) -> None:
        array[:, joint] *= factor

    return change


def jump_at_a_gap() -> Log:
    """What was measured after the gap is elsewhere: that is no spike."""
    rows = np.r_[0:1500, 1700:3000]
    assert CLEAN.tau is not None
    return Log(CLEAN.joints, CLEAN.t[rows], CLEAN.q[rows], CLEAN.tau[rows], source="made")


DEFECTS: dict[str, tuple[Log, str, Severity, int, int]] = {  # log, kind, weight, rows dropped, segments
    "a gap": (changed(t=later(1000, 0.05)), "gap", Severity.REPAIRED, 0, 2),
    "two gaps": (changed(t=lambda t: (later(700, 0.4)(t), later(1000, 0.05)(t))[0]), "gap", Severity.REPAIRED, 0, 3),
    "NaN": (changed(q=put((slice(300, 305), 2), np.nan)), "missing", Severity.REPAIRED, 5, 2),
    "NaN at the end": (changed(tau=put((slice(2990, 3000), 2), np.nan)), "missing", Severity.REPAIRED, 10, 1),
    "infinity": (changed(tau=put((40, 0), np.inf)), "missing", Severity.REPAIRED, 1, 1),
    "one row in fifty": (changed(q=put((slice(None, None, 50), 1), np.nan)), "missing", Severity.REPAIRED, 60, 1),
    "three rows": (changed(tau=put((slice(40, 43), 0), np.nan)), "missing", Severity.REPAIRED, 3, 1),
    "four rows": (changed(tau=put((slice(40, 44), 0), np.nan)), "missing", Severity.REPAIRED, 4, 2),
    "a single garbage row": (changed(tau=put((900, 3), -1e9)), "garbage", Severity.REPAIRED, 1, 1),
    "a jump at a gap": (jump_at_a_gap(), "gap", Severity.REPAIRED, 0, 2),
    "garbage": (changed(q=put((7, 0), 1e300)), "garbage", Severity.REPAIRED, 8, 1),
    "garbage inside": (changed(tau=put(([900, 905], 3), -1e9)), "garbage", Severity.REPAIRED, 6, 2),
    "held": (held(CLEAN, [200, 201, 202, 900, 1500]), "held", Severity.REPAIRED, 5, 1),
    "held long": (held(CLEAN, list(range(400, 420))), "held", Severity.REPAIRED, 20, 2),
    "spike in torque": (changed(tau=put((1234, 3), 90.0)), "spike", Severity.REPAIRED, 1, 1),
    "spike in position": (changed(q=put((1234, 3), 2.5)), "spike", Severity.REPAIRED, 1, 1),
    "spike in velocity": (changed(qd=put((1234, 3), 25.0)), "spike", Severity.REPAIRED, 1, 1),
    "a stamp too early": (changed(t=put(500, 4.5)), "time", Severity.REPAIRED, 1, 1),
    "a stamp too late": (changed(t=put(500, 5.5)), "time", Severity.REPAIRED, 1, 1),
    "a stamp twice": (changed(t=put(500, CLEAN.t[499])), "time", Severity.REPAIRED, 1, 1),
    "jitter": (
        changed(t=lambda t: t.__iadd__(np.random.default_rng(1).uniform(-0.0045, 0.0045, len(t)))),
        "sampling",
        Severity.WARNING,
        0,
        1,
    ),
    "saturation": (changed(tau=clipped), "saturation", Severity.WARNING, 0, 1),
    "a joint at rest": (changed(q=scaled(4, 0.005), qd=scaled(4, 0.005)), "still", Severity.WARNING, 0, 1),
    "velocity gain": (changed(qd=scaled(2, 1.18)), "velocity", Severity.WARNING, 0, 1),
    "velocity sign": (changed(qd=scaled(2, -1.0)), "velocity", Severity.WARNING, 0, 1),
    "one torque missing": (changed(tau=scaled(5, 0.0)), "torque", Severity.WARNING, 0, 1),
    "few rows": (CLEAN.rows(0, 60), "short", Severity.WARNING, 0, 1),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_found_and_only_that(name: str) -> None:
    log, kind, weight, dropped, segments = DEFECTS[name]
    found = check_log(log, ROBOT)
    assert kinds(found) == {kind}
    assert finding(found, kind).severity is weight
    assert (len(log) - len(found), len(found.segments)) == (dropped, segments)
    for values in (found.t, found.q, found.qd, found.tau):
        assert values is None or np.all(np.isfinite(values))
    assert np.all(np.diff(found.t) > 0.0)
    refused(log, finding(found, kind).text, strict=True)


ERRORS: dict[str, tuple[Log, tuple[str, ...]]] = {
    "degrees": (replace(CLEAN, q=np.degrees(CLEAN.q), qd=None), ("degrees", "[scale]")),
    "degrees with velocity": (changed(q=put(..., np.degrees(CLEAN.q))), ("0.01745", "positions", "degrees")),
    "velocity in degrees": (changed(qd=lambda qd: qd.__imul__(180 / np.pi)), ("57.29", "velocities", "degrees")),
    "milliseconds": (changed(t=lambda t: t.__imul__(1e3)), ("1000", 't = "ms"')),
    "no torque": (changed(tau=put(..., 0.0)), ("all torques are zero",)),
    "two recordings": (changed(t=later(1500, -15.0)), ("time goes backwards once (", "row 1500", "split")),
    "coarse stamps": (changed(t=put(..., np.round(CLEAN.t, 1))), ("time stands still 2699 times (", "rate")),
    "an empty column": (changed(qd=put((slice(None), 2), np.nan)), ("qd of elbow_joint", "no number")),
    "mostly missing": (changed(q=put((slice(0, 1600), 1), np.nan)), ("1600 of 3000", "record the log again")),
    "eight rows": (CLEAN.rows(0, 8), ("only 8",)),
    "no rows": (CLEAN.rows(0, 0), ("no rows",)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_would_give_wrong_results_is_refused(name: str) -> None:
    log, words = ERRORS[name]
    refused(log, *words)


def refusal(log: Log, robot: Robot = ROBOT, *, clock_stated: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        check_log(log, robot, clock_stated=clock_stated)
    return str(caught.value)


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize(("factor", "word"), [(1e3, "ms"), (1e6, "us"), (1e9, "ns")])
@pytest.mark.parametrize("rate", [50.0, 1000.0, 5000.0])
def test_clocks_that_do_not_count_seconds(rate: float, factor: float, word: str, velocity: bool) -> None:
    """One unit is named, the right one, with and without recorded velocity; the log itself is fine."""
    log = made_log(ROBOT, rate=rate, rows=int(10 * rate))
    log = log if velocity else replace(log, qd=None)
    assert kinds(check_log(log, ROBOT)) == set()
    wrong = refusal(replace(log, t=factor * log.t))
    assert re.findall(r't = "(\w+)" in a mapping', wrong) == [word]
    assert "slow for an arm" not in wrong


def test_slow_motion_and_slow_rates_are_no_other_clock() -> None:
    log = replace(made_log(ROBOT), qd=None)
    assert "units" not in kinds(check_log(replace(log, t=20.0 * log.t), ROBOT))  # at 5 Hz, a minute for a crossing
    hours = replace(log, t=1e3 * log.t)
    assert "milliseconds" in refusal(hours)
    assert kinds(check_log(hours, ROBOT, clock_stated=True)) == {"sampling"}
    fine = np.arange(400_000) / 100.0  # an hour at 100 Hz, as slow
    q = np.stack([np.interp(fine, hours.t, column) for column in hours.q.T], axis=1)
    assert "units" not in kinds(check_log(Log(ROBOT.actuated, fine, q), ROBOT))


def test_real_logs_in_milliseconds(shared_data: Path) -> None:
    for name, folder in (("tx40_joint", "tx40"), ("panda_gaz2019", "panda"), ("lwr4_run1", "lwr4")):
        robot, path = shared_robot(shared_data, folder), shared_data / folder / f"{name}.parquet"
        with pytest.raises(InputError, match='t = "ms"'):
            read_log(path, robot, mapping={"scale": {"t": 1000.0}})
        read_log(path, robot, mapping={"scale": {"t": "s"}})


def test_one_joint_in_degrees() -> None:
    robot = ytheta.load("lu-two-link")
    log = made_log(robot)
    degrees = replace(log, q=log.q * np.array([180.0 / np.pi, 1.0]))
    for wrong in (replace(degrees, qd=None), degrees):
        assert 'q = ["degrees", "radians"] in a mapping' in refusal(wrong, robot)
    both = replace(log, q=np.degrees(log.q), qd=None)
    assert 'q = "degrees" in a mapping' in refusal(both, robot)
    counts = refusal(replace(log, q=1e5 * log.q, qd=None), robot)
    assert "too large" in counts
    assert "encoders" in counts
    assert "seem to be in degrees" not in counts


def test_a_sliding_joint_is_not_in_degrees() -> None:
    robot = ytheta.load("lu-two-link")
    first, second, *others = robot.joints
    sliding = replace(robot, joints=(first, replace(second, kind=JointKind.PRISMATIC), *others))
    log = made_log(sliding)
    degrees = replace(log, q=log.q * np.array([180.0 / np.pi, 1.0]), qd=None)
    assert 'q = ["degrees", "metres"] in a mapping' in refusal(degrees, sliding)


def test_strict_tells_everything_at_once() -> None:
    log = held(changed(t=later(1000, 0.05), qd=scaled(2, 1.18)), [200, 201])
    refused(log, "1 gap", "2 rows", "elbow_joint 1.180", "made", strict=True)


def test_stated_units_are_not_doubted() -> None:
    turning = replace(CLEAN, q=20.0 * CLEAN.q, qd=None)
    refused(turning, "degrees")
    assert kinds(check_log(turning, ROBOT, units_stated=True)) == set()


def test_a_log_of_other_joints_is_refused() -> None:
    refused(made_log(ytheta.load("lu-two-link")), "joint1, joint2", "shoulder_pan_joint")


def test_marks_keep_segments_apart() -> None:
    log = replace(CLEAN.rows(0, 100), segments=((0, 40), (50, 100)))
    cut = apply_edits(log, RowEdits(drop=row_indices([0, 39, 50, 60]), cut=row_indices([20, 60])))
    assert len(cut) == 86
    assert cut.segments == ((0, 19), (19, 38), (38, 47), (47, 86))
    np.testing.assert_array_equal(cut.t[[0, 38, 47]], CLEAN.t[[1, 51, 61]])


# --- the same motion twice -------------------------------------------------------------------------------------------


def with_positions(log: Log, q: SamplesByJoint, t: np.ndarray | None = None) -> Log:
    return replace(log, q=q, t=log.t if t is None else t, qd=None, tau=None)


def test_the_same_motion_is_recognised() -> None:
    noise = 0.003 * np.random.default_rng(3).standard_normal(CLEAN.q.shape)
    found = find_repeated_motion(CLEAN, with_positions(CLEAN, CLEAN.q + noise, CLEAN.t + 77.0))
    assert found is not None
    assert found.code == "repeats"
    assert "the trajectory of made 77 s later (" in found.text
    found = find_repeated_motion(with_positions(CLEAN, CLEAN.q, CLEAN.t + 77.0), CLEAN)
    assert found is not None
    assert "77 s earlier" in found.text
    twice = Log(CLEAN.joints, np.arange(6000) / 100.0, np.concatenate((CLEAN.q, CLEAN.q)))
    found = find_repeated_motion(
        twice.rows(0, 2900), twice.rows(3050, 6000)
    )  # from the parts' starts it would be 0.5 s
    assert found is not None
    assert "30 s later" in found.text
    late = with_positions(CLEAN.rows(500, 3000), CLEAN.q[500:])
    found = find_repeated_motion(CLEAN, late)
    assert found is not None
    assert "4.99 s after its start" in found.text
    found = find_repeated_motion(late, CLEAN)
    assert found is not None
    assert "4.99 s before its start" in found.text


def test_other_motions_are_not_the_same() -> None:
    assert find_repeated_motion(CLEAN, made_log(ROBOT, seed=1)) is None
    assert find_repeated_motion(CLEAN.rows(0, 1500), CLEAN.rows(1500, 3000)) is None
    rest = with_positions(CLEAN, np.zeros_like(CLEAN.q))
    assert find_repeated_motion(rest, rest) is None
    assert find_repeated_motion(CLEAN, CLEAN.rows(0, 1)) is None
    with pytest.raises(InputError, match="different joints"):
        find_repeated_motion(CLEAN, made_log(ytheta.load("lu-two-link")))


def test_real_logs_that_repeat(shared_data: Path) -> None:
    def read(folder: str, name: str) -> Log:
        return read_log(shared_data / folder / f"{name}.parquet", shared_robot(shared_data, folder))

    assert find_repeated_motion(read("lwr4", "lwr4_run1"), read("lwr4", "lwr4_run2")) is not None
    pair = find_repeated_motion(read("ur10e", "ur10e_50s_14harm_unloaded"), read("ur10e", "ur10e_50s_14harm_loaded"))
    assert pair is not None
    assert "1.18 s before its start" in pair.text
    assert find_repeated_motion(read("kr300", "kr300_run_a"), read("kr300", "kr300_run_b")) is None
    assert find_repeated_motion(read("dvrk_mtm", "mtm_train_one"), read("dvrk_mtm", "mtm_test_two")) is None
    assert find_repeated_motion(read("ur10e", "ur10e_train_30s_12harm"), read("ur10e", "ur10e_ptp10")) is None


# --- what the READMEs of the real logs say ---------------------------------------------------------------------------


def test_the_panda_lost_samples_four_times(shared_data: Path) -> None:
    log = read_log(shared_data / "panda/panda_gaz2019.parquet", shared_robot(shared_data, "panda"))
    text = finding(log, "gap").text
    assert "4 gaps" in text
    for step in ("8.54 ms", "8.81 ms", "8.4 ms", "8.5 ms"):
        assert step in text


def test_the_dvrk_holds_rows_and_overstates_three_velocities(shared_data: Path) -> None:
    log = read_log(shared_data / "dvrk_mtm/mtm_train_one.parquet", shared_robot(shared_data, "dvrk_mtm"))
    assert "13 %" in finding(log, "held").text
    told = finding(log, "velocity")
    assert [joint for joint in log.joints if joint in told.text] == ["joint_5", "joint_6", "joint_7"]
    assert "taken from position there" in told.text
    again = [found for found in choose_preparation(log).findings if found.code == "velocity"]
    assert not any(joint in found.text for joint in told.names for found in again)
    silent = replace(log, findings=())  # nobody has told yet
    assert any("joint_7" in found.text for found in choose_preparation(silent).findings if found.code == "velocity")

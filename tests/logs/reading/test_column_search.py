"""Columns are found by name, by joint, by number, or by their count; missing ones are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    codes_above_notes,
    format_csv,
    write_file,
)
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log


def test_without_a_header_the_number_of_columns_decides_with_a_warning(tmp_path: Path) -> None:
    log = read_log(write_file(tmp_path, format_csv(ARM_COLUMNS, header=False), "log.txt"), ARM)
    assert_same_log(log, ARM_LOG)
    assert codes_above_notes(log) == {"header"}
    assert not any("log.txt" in finding.text for finding in log.findings)  # the caller adds the name of the log
    short = {name: column for name, column in ARM_COLUMNS.items() if not name.startswith("qd")}
    assert_same_log(read_log(write_file(tmp_path, format_csv(short, header=False)), ARM), replace(ARM_LOG, qd=None))
    assert_file_refused(
        write_file(tmp_path, format_csv(ARM_COLUMNS | {"more": ARM_LOG.t}, header=False)),
        "8 columns and no header",
        "5",
        "7",
    )


NAMES = {
    "from zero": lambda kind, k: f"{kind}{k}",
    "underscore": lambda kind, k: f"{kind}_{k + 1}",
    "by joint": lambda kind, k: f"{kind}_{ARM.actuated[k]}",
    "joint first": lambda kind, k: f"{ARM.actuated[k]}.{kind}",
    "words": lambda kind, k: f"{ {'q': 'position', 'qd': 'velocity', 'tau': 'effort'}[kind] }_{ARM.actuated[k]}",
    "slashes": lambda kind, k: f"{ARM.actuated[k]}/{kind}",
}


@pytest.mark.parametrize("names", NAMES)
def test_columns_are_found_by_name(names: str, tmp_path: Path) -> None:
    renamed = {"time": ARM_LOG.t, "gripper_q": ARM_LOG.t}
    for name, column in list(ARM_COLUMNS.items())[1:]:
        renamed[NAMES[names](name[:-1], int(name[-1]) - 1)] = column
    assert_same_log(read_log(write_file(tmp_path, format_csv(renamed)), ARM), ARM_LOG)


def test_missing_and_superfluous_columns_are_named(tmp_path: Path) -> None:
    def without(*names: str) -> Path:
        return write_file(
            tmp_path, format_csv({name: column for name, column in ARM_COLUMNS.items() if name not in names})
        )

    assert_file_refused(without("q2"), "has 1 column q1, but", "2 actuated", "joint1, joint2")
    repeated = write_file(tmp_path, format_csv(ARM_COLUMNS).replace("q2", "q1", 1))
    assert_file_refused(repeated, "several columns 'q1' (columns 1, 2, counted from 0)")
    assert_file_refused(without("q1", "q2"), "no columns q1 … q2", "mapping")
    assert_file_refused(
        write_file(tmp_path, format_csv({f"arm_{k}": c for k, c in ARM_COLUMNS.items()})), "q1 … q2", "arm_q1"
    )
    assert_file_refused(
        write_file(tmp_path, format_csv(ARM_COLUMNS)), "2 columns q1 … q2", "6 actuated", robot=ytheta.load("ur10")
    )
    log = read_log(without("tau1", "tau2"), ARM)
    assert log.tau is None
    assert codes_above_notes(log) == {"torque"}


def test_similar_names_are_suggested_for_misspelt_columns(tmp_path: Path) -> None:
    def renamed(**names: str) -> Path:
        return write_file(tmp_path, format_csv({names.get(name, name): column for name, column in ARM_COLUMNS.items()}))

    words = ("(it has t, p1 … p2)", "q, pos or position", "q_joint1", '[columns] q = "name{}"')
    assert "?;" not in assert_file_refused(renamed(q1="p1", q2="p2"), *words)
    assert_file_refused(renamed(t="tiem"), "(did you mean 'tiem'?); name it")
    (finding,) = (f for f in read_log(renamed(tau1="tua1", tau2="tua2"), ARM).findings if f.code == "torque")
    assert "(did you mean 'tua1'?); use one of the names tau, torque or effort" in finding.text


@pytest.mark.parametrize("filler", ["", "unused", "q1", "tau1"])
def test_numbers_are_positions_even_if_names_are_empty_or_repeated(filler: str, tmp_path: Path) -> None:
    """Every column of the log is followed by one of zeros, whose name is empty or repeated."""
    names = ",".join(f"{name},{filler}" for name in ARM_COLUMNS)
    rows = format_csv(
        {f"{name}{k}": column * factor for name, column in ARM_COLUMNS.items() for k, factor in enumerate((1.0, 0.0))},
        header=False,
    )
    path = write_file(tmp_path, f"{names}\n{rows}")
    columns = {"t": 0, "q": [2, 4], "qd": [6, 8], "tau": [10, 12]}
    assert_same_log(read_log(path, ARM, mapping={"columns": columns}), ARM_LOG)
    shifted = read_log(path, ARM, mapping={"columns": columns | {"tau": [10, 11]}})
    assert shifted.tau is not None
    assert not shifted.tau[:, 1].any()  # the twin: the neighbour of a column is the column of zeros


def test_names_that_differ_only_in_their_case_are_distinguished_by_a_mapping(tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS | {"Q1": ARM_LOG.t}))
    assert_same_log(read_log(path, ARM), ARM_LOG)  # q1 is the exact name
    swapped = read_log(path, ARM, mapping={"columns": {"q": ["Q1", "q2"]}})
    assert swapped.q[:, 0].tolist() == ARM_LOG.t.tolist()
    both = {f"{name.upper() if name == 'q1' else name}": column for name, column in ARM_COLUMNS.items()}
    assert_file_refused(
        write_file(tmp_path, format_csv(both | {"Q1 ": ARM_LOG.t})), "several columns 'Q1'", "1, 7", "by its number"
    )


RECORDERS = {
    "PlotJuggler": ("__time", "/joint_states/joint{}/position", "/joint_states/joint{}/velocity",
                    "/joint_states/joint{}/effort", 1),
    "franka": ("time", "q[{}]", "dq[{}]", "tau_J[{}]", 0),
    "franka state": ("time", "state.q[{}]", "state.dq[{}]", "state.tau_J[{}]", 0),
    "RTDE": ("timestamp", "actual_q_{}", "actual_qd_{}", "actual_current_as_torque_{}", 0),
    "plain": ("Time", "pos_{}", "vel_{}", "effort_{}", 1),
    "joint first": ("t", "joint{}.position", "joint{}.velocity", "joint{}.torque", 1),
}  # fmt: skip


def rename(recorder: str) -> dict[str, np.ndarray]:
    """The columns of the log with the names of a recorder, and columns with commands beside them."""
    time, *templates, start = RECORDERS[recorder]
    columns = {str(time): ARM_LOG.t}
    for template, values in zip(templates, (ARM_LOG.q, ARM_LOG.qd, ARM_LOG.tau), strict=True):
        assert values is not None
        columns |= {str(template).format(k + int(start)): values[:, k] for k in range(2)}
    return columns | {"target_q_0": ARM_LOG.t, "target_q_1": ARM_LOG.t, "q_d[0]": ARM_LOG.t, "q_d[1]": ARM_LOG.t}


@pytest.mark.parametrize("recorder", RECORDERS)
def test_names_of_recorders_need_no_mapping(recorder: str, tmp_path: Path) -> None:
    columns = rename(recorder)
    assert_same_log(read_log(write_file(tmp_path, format_csv(columns)), ARM), ARM_LOG)
    names = list(columns)
    swapped = dict(zip([names[0], names[2], names[1], *names[3:]], columns.values(), strict=True))
    with pytest.raises(AssertionError):  # the twin: the positions of two joints are exchanged
        assert_same_log(read_log(write_file(tmp_path, format_csv(swapped)), ARM), ARM_LOG)


def test_a_choice_between_groups_of_columns_is_left_to_the_user(tmp_path: Path) -> None:
    both = write_file(tmp_path, format_csv(ARM_COLUMNS | {"pos1": ARM_LOG.t, "pos2": ARM_LOG.t}))
    assert_file_refused(both, "several groups of columns with positions (q1 … q2; pos1 … pos2)", '[columns] q = "q{}"')
    assert_same_log(read_log(both, ARM, mapping={"columns": {"q": "q{}"}}), ARM_LOG)
    times = write_file(tmp_path, format_csv(ARM_COLUMNS | {"timestamp": ARM_LOG.t}))
    assert_file_refused(times, "several columns of time (t, timestamp)", '[columns] t = "t"')
    arms = {f"/{arm}/joint{k + 1}/position": ARM_LOG.q[:, k] for arm in ("left", "right") for k in range(2)}
    assert_file_refused(write_file(tmp_path, format_csv({"t": ARM_LOG.t} | arms)), "/left/joint1/position", "/right/")


def test_commands_are_no_measurements(tmp_path: Path) -> None:
    columns = {name.replace("q1", "target_q_1").replace("q2", "target_q_2"): v for name, v in ARM_COLUMNS.items()}
    path = write_file(tmp_path, format_csv(columns))
    assert_file_refused(path, "its commands target_q_1 … target_q_2 are not measured positions")
    assert_same_log(read_log(path, ARM, mapping={"columns": {"q": "target_q_{}"}}), ARM_LOG)


def test_currents_need_gains(tmp_path: Path) -> None:
    columns = {name.replace("tau", "actual_current_"): values for name, values in ARM_COLUMNS.items()}
    path = write_file(tmp_path, format_csv(columns))
    assert_file_refused(path, "motor currents (actual_current_1 … actual_current_2)", "no measured torques", "--gain")
    log = read_log(path, ARM, gain=[2.0, -3.0])
    assert ARM_LOG.tau is not None
    assert log.tau is not None
    assert log.tau.tolist() == (ARM_LOG.tau * [2.0, -3.0]).tolist()
    assert log.origin is not None
    assert [column.gain for column in log.origin.columns[-2:]] == [2.0, -3.0]
    computed = {f"target_moment_{k}": ARM_LOG.t for k in range(2)}
    both = write_file(tmp_path, format_csv(columns | computed))
    assert_file_refused(both, "--gain", 'tau = "target_moment_{}"', "computed from its own model")
    torques = write_file(tmp_path, format_csv(ARM_COLUMNS | {"i1": ARM_LOG.t, "i2": ARM_LOG.t}))
    assert_same_log(read_log(torques, ARM), ARM_LOG)  # measured torques are preferred
    assert read_log(torques, ARM, gain=1.0).tau[:, 0].tolist() == ARM_LOG.t.tolist()  # type: ignore[index]
    with pytest.raises(InputError, match="no columns current1"):
        read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM, gain=1.0)


def test_torques_that_a_controller_computed_are_reported(tmp_path: Path) -> None:
    columns = {name.replace("tau", "target_moment_"): values for name, values in ARM_COLUMNS.items()}
    log = read_log(write_file(tmp_path, format_csv(columns)), ARM)
    assert_same_log(log, ARM_LOG)
    assert codes_above_notes(log) == {"computed torque"}


def test_units_in_names(tmp_path: Path) -> None:
    columns = {"t_ms": 1e3 * ARM_LOG.t}
    for name, values in list(ARM_COLUMNS.items())[1:]:
        columns[f"{name} [deg]" if name.startswith("q") else f"{name}_mNm"] = (
            np.degrees(values) if name.startswith("q") else 1e3 * values
        )
    log = read_log(write_file(tmp_path, format_csv(columns)), ARM)
    np.testing.assert_allclose(log.q, ARM_LOG.q, rtol=1e-14)
    np.testing.assert_allclose(log.tau, ARM_LOG.tau, rtol=1e-14)  # type: ignore[arg-type]
    np.testing.assert_allclose(log.t, ARM_LOG.t, rtol=1e-14)
    assert log.origin is not None
    assert [column.unit for column in log.origin.columns] == ["ms", "deg", "deg", "deg/s", "deg/s", "mNm", "mNm"]


def test_joints_without_columns_are_named_with_the_option_that_locks_them(tmp_path: Path) -> None:
    robot = ytheta.load("ur10")
    first, *_, last = robot.actuated
    by_name = {f"{joint}.q": ARM_LOG.t for joint in robot.actuated[:-1]}
    path = write_file(tmp_path, format_csv({"t": ARM_LOG.t} | by_name))
    assert_file_refused(path, "positions of 5 joints", f"{last} is missing", f"--lock {last}=0", robot=robot)
    numbered = write_file(tmp_path, format_csv({"t": ARM_LOG.t} | {f"q{k}": ARM_LOG.t for k in range(1, 5)}))
    missing = ", ".join(robot.actuated[4:])
    assert_file_refused(numbered, "4 columns q1 … q4", f"the first 4, {missing} are missing", "--lock", robot=robot)
    assert first not in missing


@pytest.mark.parametrize("by_name", [False, True])
def test_a_joint_with_a_position_but_no_torque_is_not_to_be_locked(by_name: bool, tmp_path: Path) -> None:
    columns = {name: values for name, values in ARM_COLUMNS.items() if name != "tau2"}
    if by_name:
        columns = {f"{name[:-1]}_joint{name[-1]}" if name != "t" else name: v for name, v in columns.items()}
    words = ("torques of joint2 are missing", "[columns] tau =") if by_name else ("no column 'tau2'", "mapping")
    assert "--lock" not in assert_file_refused(write_file(tmp_path, format_csv(columns)), *words)
    arm = {name: values for name, values in columns.items() if not name.endswith("2")}
    assert_file_refused(write_file(tmp_path, format_csv(arm)), "--lock joint2=0")  # the twin: no position either


@pytest.mark.parametrize("unit", ["dps", "deg_s"])
def test_velocities_in_degrees_per_second(unit: str, tmp_path: Path) -> None:
    def rename(name: str) -> str:
        return f"{name}_{unit}" if name.startswith("qd") else f"{name}_deg" if name.startswith("q") else name

    columns = {rename(name): np.degrees(v) if name.startswith("q") else v for name, v in ARM_COLUMNS.items()}
    log = read_log(write_file(tmp_path, format_csv(columns)), ARM)
    assert log.qd is not None
    np.testing.assert_allclose(log.qd, ARM_LOG.qd, rtol=1e-14)  # type: ignore[arg-type]
    unknown = {name.replace(unit, "grad_s"): values for name, values in columns.items()}
    assert read_log(write_file(tmp_path, format_csv(unknown)), ARM).qd is None  # the twin: an unknown unit


@pytest.mark.parametrize(
    ("names", "contradicts"),
    [
        (("joint2", "joint1"), True),
        (("joint1", "joint2"), False),
        (("joint0", "joint1"), False),
        (("joint31", "motor4"), False),
        (("joint2", "elbow"), False),
    ],
)
def test_numbers_of_joints_in_another_order_are_reported(
    names: tuple[str, str], contradicts: bool, tmp_path: Path
) -> None:
    renamed = dict(zip(ARM.actuated, names, strict=True))
    joints = tuple(replace(joint, name=renamed.get(joint.name, joint.name)) for joint in ARM.joints)
    robot = replace(ARM, joints=joints, actuated=())
    assert robot.actuated == names
    log = read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), robot)
    assert codes_above_notes(log) == ({"order"} if contradicts else set())
    columns = {f"{name[:-1]}_{names[int(name[-1]) - 1]}" if name != "t" else name: v for name, v in ARM_COLUMNS.items()}
    assert codes_above_notes(read_log(write_file(tmp_path, format_csv(columns)), robot)) == set()  # the twin: by name


def test_columns_known_only_by_their_units_are_used_if_no_name_says_more(tmp_path: Path) -> None:
    units = {"q": "[rad]", "qd": "[rad/s]", "tau": "[Nm]"}
    columns = {
        name if name == "t" else f"Joint {name[-1]} {units[name[:-1]]}": values for name, values in ARM_COLUMNS.items()
    }
    log = read_log(write_file(tmp_path, format_csv(columns)), ARM)
    assert_same_log(log, ARM_LOG)
    assert log.origin is not None
    assert [column.unit for column in log.origin.columns] == ["s", "rad", "rad", "rad/s", "rad/s", "Nm", "Nm"]
    other = {name: values + 1.0 for name, values in columns.items() if name != "t"}
    assert_same_log(read_log(write_file(tmp_path, format_csv(other | ARM_COLUMNS)), ARM), ARM_LOG)


def test_a_robot_with_one_joint_needs_no_numbers(tmp_path: Path) -> None:
    urdf = """<robot name="pendulum"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="pivot" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
        </robot>"""
    robot = ytheta.load(write_file(tmp_path, urdf, "pendulum.urdf"))
    assert ARM_LOG.tau is not None
    for q, tau, target in (
        ("q", "tau", "q_d"),
        ("position [rad]", "effort", "position_cmd"),
        ("arm/q", "arm/tau", "x"),
    ):
        columns = {"t": ARM_LOG.t, q: ARM_LOG.q[:, 0], tau: ARM_LOG.tau[:, 0], target: ARM_LOG.q[:, 1]}
        log = read_log(columns, robot)
        np.testing.assert_array_equal(log.q[:, 0], ARM_LOG.q[:, 0])
        assert log.tau is not None
        np.testing.assert_array_equal(log.tau[:, 0], ARM_LOG.tau[:, 0])
    # The twin: with two joints, it is not known whose position it is.
    with pytest.raises(InputError, match="no columns q1 … q2"):
        read_log({"t": ARM_LOG.t, "q": ARM_LOG.q[:, 0]}, ARM)

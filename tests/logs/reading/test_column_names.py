"""Names of recorders and vendors are parsed; names with unknown words are not."""

from __future__ import annotations

import pytest

from ytheta.logs.reading.column_names import NameParser, parse_time_name

PARSER = NameParser(("panda_joint1", "panda_joint2", "elbow"))


@pytest.mark.parametrize(
    ("name", "quantity", "index", "unit"),
    [
        ("q1", "q", 1, ""),
        ("Q_2", "q", 2, ""),
        ("pos_1", "q", 1, ""),
        ("position_0", "q", 0, ""),
        ("effort_1", "tau", 1, ""),
        ("elbow.eff", "tau", "elbow", ""),
        ("joint1.position", "q", 1, ""),
        ("joint_1_velocity", "qd", 1, ""),
        ("jointPosition3", "q", 3, ""),
        ("qActual[0]", "q", 0, ""),
        ("q_elbow", "q", "elbow", ""),
        ("elbow/tau", "tau", "elbow", ""),
        ("actual_q_0", "q", 0, ""),
        ("actual_qd_5", "qd", 5, ""),
        ("actual_current_0", "current", 0, ""),
        ("actual_current_as_torque_0", "tau", 0, ""),
        ("current_position_2", "q", 2, ""),
        ("q[0]", "q", 0, ""),
        ("dq[6]", "qd", 6, ""),
        ("tau_J[3]", "tau", 3, ""),
        ("state.q[0]", "q", 0, ""),
        ("d.q1", "q", 1, ""),
        ("/joint_states/panda_joint1/position", "q", "panda_joint1", ""),
        ("/arm/joint_states/panda_joint2/effort", "tau", "panda_joint2", ""),
        ("/joint_states/velocity[1]", "qd", 1, ""),
        ("/joint_states/position.0", "q", 0, ""),
        ("observation.state.elbow.pos", "q", "elbow", ""),
        ("observation.state.elbow", "q", "elbow", ""),
        ("observation.state[2]", "q", 2, ""),
        ("observation.effort.joint_1", "tau", 1, ""),
        ("robot0_joint_pos1", "q", 1, ""),
        ("obs/robot0_joint_vel3", "qd", 3, ""),
        ("q.Data1", "q", 1, ""),
        ("out.qd.signals.values2", "qd", 2, ""),
        ("/joint_efforts/data[0]", "tau", 0, ""),
        ("q_deg.Data1", "q", 1, "deg"),
        ("q1_deg", "q", 1, "deg"),
        ("q1 [deg]", "q", 1, "deg"),
        ("tau_2 (Nm)", "tau", 2, "Nm"),
        ("joint_1_current [mA]", "current", 1, "mA"),
        ("qd1_dps", "qd", 1, "deg"),
        ("qd1_deg_s", "qd", 1, "deg"),
        ("velocity_2_rad_per_sec", "qd", 2, "rad"),
        ("vel_1_m_s", "qd", 1, "metres"),
        ("qd1 [dps]", "qd", 1, "deg"),
    ],
)
def test_measured_quantities(name: str, quantity: str, index: int | str, unit: str) -> None:
    parsed = PARSER.parse(name)
    assert parsed is not None
    assert (parsed.quantity, parsed.index, parsed.unit, parsed.is_command) == (quantity, index, unit, False)


@pytest.mark.parametrize(
    "name", ["target_q_0", "q_d[0]", "tau_J_d[0]", "cmd.q[1]", "target_moment_2", "q_ref_1", "desired.elbow.pos"]
)
def test_commands_are_told_from_measurements(name: str) -> None:
    parsed = PARSER.parse(name)
    assert parsed is not None
    assert parsed.is_command


@pytest.mark.parametrize(
    "name",
    [
        "gripper_q",
        "left_elbow_q",
        "dtau_J[0]",
        "tau_ext_hat_filtered[0]",
        "actual_TCP_pose_0",
        "tcp.pos1",
        "motor_position_1",
        "target_qdd_0",
        "qdd1",
        "fr3_joint1/position",
        "joint_1",
        "pos_vel_1",
        "q1_deg_s",
        "tau1_dps",
        "qd1_per_s",
        "q",
        "t",
        "",
        "{}",
        "q" * 300 + "1",
    ],
)
def test_other_names_are_unknown(name: str) -> None:
    assert PARSER.parse(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t", ((), "")),
        ("Time", ((), "")),
        ("__time", ((), "")),
        ("timestamp", ((), "")),
        ("time_ms", ((), "ms")),
        ("time_s", ((), "s")),
        ("time [us]", ((), "us")),
        ("data.t", (("data",), "")),
        ("/run/arm/time", (("run", "arm"), "")),
        ("timestep", None),
        ("t1", None),
        ("header/stamp", None),
        ("time_tau", None),
    ],
)
def test_names_of_time(name: str, expected: object) -> None:
    assert parse_time_name(name) == expected


@pytest.mark.parametrize(
    ("name", "quantity", "unit"),
    [
        ("Joint 1 [deg]", "q", "deg"),
        ("Joint 1 [°/s]", "qd", "deg"),
        ("Joint1 (rad/s)", "qd", "rad"),
        ("joint_1 [rpm]", "qd", "rpm"),
        ("Axis 1 [Nm]", "tau", "Nm"),
        ("J1 [A]", "current", "A"),
        ("j1_deg", "q", "deg"),
        ("j1_deg_s", "qd", "deg"),
        ("elbow [mm]", "q", "mm"),
        ("elbow_mNm", "tau", "mNm"),
    ],
)
def test_a_unit_is_that_of_a_quantity(name: str, quantity: str, unit: str) -> None:
    parsed = NameParser(("shoulder", "elbow")).parse(name)
    assert parsed is not None
    assert (parsed.quantity, parsed.unit, parsed.by_unit) == (quantity, unit, True)


def test_a_unit_alone_says_nothing_about_other_columns() -> None:
    parser = NameParser(("shoulder", "elbow"))
    for name in (
        "x1 [deg]",
        "temperature 1 [deg]",
        "joint 1",
        "joint 1 [s]",
        "tool joint 1 [deg]",
        "1 [deg]",
        "q1 [A]",
    ):
        parsed = parser.parse(name)
        assert parsed is None or not parsed.by_unit
    command = parser.parse("target joint 1 [deg]")
    assert command is not None
    assert command.is_command


@pytest.mark.parametrize(
    "unit", ["[%]", "(%)", "[-]", "[‰]", "[µNm]", "[μNm]", "[kNm]", "[Nm/rad]", "_percent", "%", "[% of max]"]
)
def test_a_unit_that_is_not_known_makes_a_name_unknown(unit: str) -> None:
    """Torques in percent must not be taken for Nm."""
    assert NameParser(("shoulder",)).parse(f"tau1 {unit}") is None
    assert NameParser(("shoulder",)).parse(f"shoulder torque {unit}") is None


def test_signs_that_look_alike_and_words_for_units_of_time() -> None:
    for name, unit in (("q1 [°]", "deg"), ("q1 [º]", "deg"), ("tau1 [N m]", "Nm"), ("q1 []", "")):
        parsed = NameParser(()).parse(name)
        assert parsed is not None
        assert parsed.unit == unit
    assert NameParser(()).parse("q1 [µrad]") is None
    for name, unit in (("time [µs]", "us"), ("t_μs", "us"), ("time_msec", "ms"), ("timestamp (nanoseconds)", "ns")):
        assert parse_time_name(name) == ((), unit)
    assert parse_time_name("time [%]") is None
    assert parse_time_name("%time") == ((), "")  # of rostopic echo -p

"""Columns of a floating base in logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError
from ytheta.logs.reading.base_columns import POSITION, QUATERNION, TWIST, WRENCH
from ytheta.robot.floating import compute_twist, float_base, quaternions_from_rotation_vectors

ROBOT = float_base(ytheta.load("ur10"))
T = np.arange(0.0, 4.0, 0.01)


def make_motion() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates of base and joints with their two derivatives; the base turns by more than half a turn."""
    size = len(ROBOT.actuated)
    a, w, phase = np.full(size, 0.8), 1.0 + 0.1 * np.arange(size), np.arange(float(size))
    a[3:6], w[3:6], phase[3:6] = 2.2, 1.0, 0.0  # all sign changes of the rotation vector are at zero
    angle = np.outer(T, w) + phase
    return a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)


def make_table() -> dict[str, np.ndarray]:
    q, qd, qdd = make_motion()
    twist, _ = compute_twist(q[:, :6], qd[:, :6], qdd[:, :6])
    wrench = np.outer(np.sin(T), np.arange(1.0, 7.0))
    table = {"t": T, "q": q[:, 6:], "qd": qd[:, 6:], "tau": 50.0 * np.cos(q[:, 6:])}
    table |= dict(zip(POSITION, q[:, :3].T, strict=True))
    table |= dict(zip(QUATERNION, quaternions_from_rotation_vectors(q[:, 3:6]).T, strict=True))
    table |= dict(zip(TWIST, twist.T, strict=True))
    return table | dict(zip(WRENCH, wrench.T, strict=True))


def test_pose_twist_and_wrench() -> None:
    q, qd, _ = make_motion()
    table = make_table()
    log = ytheta.read_log(table, ROBOT)
    assert log.joints == ROBOT.actuated
    assert np.linalg.norm(log.q[:, 3:6], axis=1).max() > 3.3  # more than half a turn
    np.testing.assert_allclose(log.q, q, atol=1e-12)
    assert log.qd is not None
    np.testing.assert_allclose(log.qd, qd, atol=1e-10)
    assert log.tau is not None
    np.testing.assert_allclose(log.tau[:, :6], np.column_stack([table[name] for name in WRENCH]))
    assert not [finding for finding in log.findings if finding.is_warning]


def test_a_log_without_wrench_is_free_flight() -> None:
    table = {name: values for name, values in make_table().items() if name not in WRENCH}
    log = ytheta.read_log(table, ROBOT)
    assert log.tau is not None
    assert not log.tau[:, :6].any()
    (finding,) = (finding for finding in log.findings if finding.is_warning)
    assert finding.code == "wrench"
    assert "taken to be zero" in finding.text


def test_velocities_need_the_twist() -> None:
    table = {name: values for name, values in make_table().items() if name not in TWIST}
    log = ytheta.read_log(table, ROBOT)
    assert log.qd is None
    assert any("velocities are not used" in finding.text for finding in log.findings)


def test_missing_columns_are_named() -> None:
    table = make_table()
    with pytest.raises(InputError, match="no column 'base_qw', which the pose of the base needs"):
        ytheta.read_log({name: values for name, values in table.items() if name != "base_qw"}, ROBOT)
    with pytest.raises(InputError, match=r"5 of the six columns base_fx, .*, but not base_nz; record all six or none$"):
        ytheta.read_log({name: values for name, values in table.items() if name != "base_nz"}, ROBOT)
    misspelt = {("base_quat_z" if name == "base_qz" else name): values for name, values in table.items()}
    with pytest.raises(InputError, match=r"no column 'base_qz', .*; did you mean 'base_quat_z'\?"):
        ytheta.read_log(misspelt, ROBOT)  # not base_qx, which is present
    joints = {name: table[name] for name in ("t", "q", "tau")}
    with pytest.raises(
        InputError, match=r"does not contain the motion of the floating base .* load the robot with --fix"
    ):
        ytheta.read_log(joints, ROBOT)
    assert ytheta.read_log(joints, ytheta.load("ur10")).joints == ROBOT.actuated[6:]


def test_written_logs_are_read_again(tmp_path: Path) -> None:
    log = ytheta.read_log(make_table(), ROBOT)
    again = ytheta.read_log(ytheta.write_log(log, tmp_path / "log.parquet"), ROBOT)
    np.testing.assert_array_equal(again.q, log.q)
    assert again.tau is not None
    np.testing.assert_array_equal(again.tau, log.tau)


def test_origins_name_the_columns_of_base_and_joints() -> None:
    """Every coordinate comes from its own column; those of the joints are not shifted by the six of the base."""
    log = ytheta.read_log(make_table(), ROBOT)
    assert log.origin is not None
    columns = {(each.quantity, each.joint): (each.column, each.unit) for each in log.origin.columns}
    assert columns["q", "base_x"] == ("base_x", "m")
    assert columns["q", "base_rz"] == ("base_qx … base_qw", "quaternion")
    assert columns["qd", "base_rx"] == ("base_vx … base_wz", "rad/s")
    assert columns["tau", "base_z"] == ("base_fz", "N")
    assert columns["tau", "base_rx"] == ("base_nx", "Nm")
    assert [columns["q", name][0][-1] for name in ROBOT.actuated[6:]] == [
        columns["tau", name][0][-1] for name in ROBOT.actuated[6:]
    ]
    assert len(columns) == 1 + 3 * len(ROBOT.actuated)
    assert log.origin.unused == ()
    table = {name: values for name, values in make_table().items() if name not in (*WRENCH, *TWIST)}
    free = ytheta.read_log(table | {"other": T}, ROBOT)
    assert free.origin is not None
    assert [each.joint for each in free.origin.columns if each.quantity == "tau"] == list(ROBOT.actuated[6:])
    assert free.origin.unused == ("other",)


# --- places -----------------------------------------------------------------------------------------------------------


def place(table: dict[str, np.ndarray], group: str, base: str, *, clock: float | None = None) -> dict[str, np.ndarray]:
    """The table with joints in a group and the base in another; ``clock`` is the delay of the base's own time."""
    joints = {"t", "q", "qd", "tau"}
    placed = {f"{group}/{name}" if name in joints else f"{base}/{name}": values for name, values in table.items()}
    return placed if clock is None else placed | {f"{base}/t": T + clock}


def test_base_columns_are_found_at_the_place_of_the_joints() -> None:
    expected = ytheta.read_log(make_table(), ROBOT)
    log = ytheta.read_log(place(make_table(), "run/arm", "run/arm"), ROBOT)
    assert np.array_equal(log.q, expected.q)
    assert not [finding for finding in log.findings if finding.is_warning]
    # A second base at another place, with other numbers, is not taken.
    other = {name: 2.0 * values for name, values in make_table().items()}
    both = place(other, "other", "other") | place(make_table(), "run/arm", "run/arm")
    chosen = {name: values for name, values in both.items() if not name.startswith(("other/q", "other/tau"))}
    assert np.array_equal(ytheta.read_log(chosen, ROBOT).q, expected.q)


def test_a_base_at_another_place_is_used_with_a_warning() -> None:
    log = ytheta.read_log(place(make_table(), "arm", "odometry"), ROBOT)
    assert np.array_equal(log.q, ytheta.read_log(make_table(), ROBOT).q)
    places = [finding for finding in log.findings if finding.code == "places"]
    assert len(places) == 3  # pose, twist and wrench
    assert "the columns of the base's pose are from 'odometry', but the positions from 'arm'" in places[0].text


def test_a_base_with_another_clock_is_refused() -> None:
    assert len(ytheta.read_log(place(make_table(), "arm", "odometry", clock=0.0), ROBOT)) == len(T)
    with pytest.raises(
        InputError, match=r"columns of the base's pose have their own time \(odometry/t\), which differs"
    ):
        ytheta.read_log(place(make_table(), "arm", "odometry", clock=0.005), ROBOT)


def test_bases_at_several_other_places_are_refused() -> None:
    table = place(make_table(), "arm", "left") | place(make_table(), "arm", "right")
    with pytest.raises(InputError, match=r"base's pose at several places \('left', 'right'\); keep one of them"):
        ytheta.read_log(table, ROBOT)


def test_columns_of_the_base_are_shown_with_their_joints() -> None:
    log = ytheta.read_log(make_table(), ROBOT)
    assert log.origin is not None
    shown = {(column.quantity, column.joint): column.column for column in log.origin.columns}
    assert shown["q", "base_x"] == "base_x"
    assert shown["q", "base_rx"] == "base_qx … base_qw"
    assert shown["tau", "base_rz"] == "base_nz"
    assert shown["q", ROBOT.actuated[6]] == "q1"
    assert log.origin.unused == ()
    check = ytheta.check(ROBOT, make_table())
    assert len(check.logs[0].columns) == 1 + 3 * len(ROBOT.actuated)
    assert "base_qx … base_qw" in str(check)


def test_degrees_concern_the_joints_only() -> None:
    table = make_table()
    degrees = table | {name: np.degrees(table[name]) for name in ("q", "qd")}
    log = ytheta.read_log(degrees, ROBOT, degrees=True)
    np.testing.assert_allclose(log.q, ytheta.read_log(table, ROBOT).q, atol=1e-12)

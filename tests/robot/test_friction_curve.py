"""The friction curve of a drive: the laws by hand, linear factors, bounded extrapolation, and curves that brake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.friction_robots import add_friction_laws, compute_friction_by_hand
from tests.support.toml_robots import read
from ytheta.errors import RobotError
from ytheta.report.numbers import parameter_unit
from ytheta.report.robot import summarize_robot
from ytheta.robot.parameters import (
    find_drive_slices,
    is_dissipative,
    length_exponents,
    select_parameters,
    with_theta,
)
from ytheta.robot.parts import (
    CURVE_PARAMETERS,
    Coupling,
    Drive,
    Motor,
    compute_friction,
    compute_friction_factors,
    find_driving_speed,
)
from ytheta.robot.toml_writer import to_toml

SPEEDS = np.array([-3.0, -0.4, -0.01, 0.0, 0.02, 0.3, 1.0, 7.0])
DRIVES = [
    Drive(viscous=0.7, coulomb=1.3, offset=5.0, root=0.4, load=0.2),
    Drive(viscous=-0.1, coulomb=1.3, root=2.0, load=0.1, coulomb_speed=0.3, friction_speed=0.9),
    Drive(viscous=0.7, coulomb=1.3, friction_speed=0.9),  # without a root, friction_speed has no effect
    Drive(),
]


@pytest.mark.parametrize("drive", DRIVES)
def test_the_curve_is_the_sum_of_the_laws(drive: Drive) -> None:
    torques = np.linspace(-4.0, 3.0, len(SPEEDS))
    expected = [compute_friction_by_hand(drive, v, r) - drive.offset for v, r in zip(SPEEDS, torques, strict=True)]
    np.testing.assert_allclose(compute_friction(drive, SPEEDS, load_torque=torques), expected, rtol=1e-14, atol=1e-14)
    unloaded = [compute_friction_by_hand(drive, v, 0.0) - drive.offset for v in SPEEDS]
    np.testing.assert_allclose(ytheta.compute_friction(drive, SPEEDS), unloaded, rtol=1e-14, atol=1e-14)
    assert float(compute_friction(drive, 0.3, load_torque=2.0)) == pytest.approx(
        compute_friction_by_hand(drive, 0.3, 2.0) - drive.offset
    )


def test_the_curve_of_another_drive_differs() -> None:
    """The twin: every number of the drive matters."""
    drive = DRIVES[1]
    curve = compute_friction(drive, SPEEDS, load_torque=2.0)
    for name in ("viscous", "coulomb", "root", "load", "coulomb_speed", "friction_speed"):
        changed = replace(drive, **{name: getattr(drive, name) * 1.2})
        assert abs(compute_friction(changed, SPEEDS, load_torque=2.0) - curve).max() > 1e-3


def test_the_factors_are_linear_and_bounded() -> None:
    drive = DRIVES[1]
    factors = compute_friction_factors(drive, SPEEDS, load_torque=-2.0)
    assert factors.shape == (len(SPEEDS), len(CURVE_PARAMETERS))
    values = [drive.viscous, drive.coulomb, drive.root, drive.load]
    np.testing.assert_allclose(factors @ values, compute_friction(drive, SPEEDS, load_torque=-2.0))
    beyond = compute_friction_factors(drive, [0.9, 90.0])
    np.testing.assert_array_equal(beyond[0, 0], beyond[1, 0])
    assert beyond[1, 2] == pytest.approx(np.sqrt(0.9), rel=1e-5)
    without_bound = compute_friction_factors(replace(drive, friction_speed=0.0), [0.9, 90.0])
    assert without_bound[1, 2] > 9.0


@pytest.mark.parametrize(
    ("drive", "brakes"),
    [
        (Drive(viscous=1.0, coulomb=1.0, root=-1.99), True),  # u² - 1.99 u + 1 has no real root
        (Drive(viscous=1.0, coulomb=1.0, root=-2.01), False),
        (Drive(viscous=1.0, coulomb=1.0, root=-2.01, friction_speed=0.5), True),  # its roots are at 0.82 and 1.22
        (Drive(viscous=-0.1, coulomb=1.0, root=0.5, friction_speed=10.0), True),
        (Drive(viscous=-0.1, coulomb=1.0, root=0.5), False),  # it drives at very high speeds
        (Drive(coulomb=1.0, root=-0.1), False),
        (Drive(coulomb=-0.1, root=1.0), False),
        (Drive(root=1.0), True),
        (Drive(root=0.0), True),
    ],
)
def test_curves_that_drive_are_found(drive: Drive, *, brakes: bool) -> None:
    speed = find_driving_speed(drive)
    assert (speed is None) is brakes
    end = drive.friction_speed or 1e4
    curve = compute_friction(drive, np.concatenate([np.linspace(1e-9, end, 200_001), np.linspace(1e-9, 4.0, 10_001)]))
    assert bool((curve[: None if drive.friction_speed == 0.0 else 200_001] >= 0.0).all()) is brakes
    if speed is not None:
        assert compute_friction(drive, max(speed, 1e-9)) < 0.0


def test_the_laws_are_optional_parameters() -> None:
    plain = ytheta.load("ur10")
    robot = plain.with_drives(lambda name, d: replace(d, root=0.5) if name == "elbow_joint" else d)
    robot = robot.with_drives(lambda name, d: replace(d, load=0.1) if name in ("elbow_joint", "wrist_3_joint") else d)
    assert plain.parameter_names == tuple(n for n in robot.parameter_names if not n.endswith((".fs", ".fl")))
    start = robot.parameter_names.index("elbow_joint.fo")
    assert robot.parameter_names[start : start + 4] == (
        "elbow_joint.fo",
        "elbow_joint.fs",
        "elbow_joint.fl",
        "wrist_1_joint.Ia",
    )
    assert robot.parameter_names[-1] == "wrist_3_joint.fl"
    assert robot.theta[start + 1 : start + 3].tolist() == [0.5, 0.1]
    for (name, drive), place in zip(robot.drives, find_drive_slices(robot), strict=True):
        names = [f"{name}.{symbol}" for symbol in drive.parameter_symbols]
        assert list(robot.parameter_names[place]) == names
    chosen = set(select_parameters(robot, rotor_inertia=False, friction=("root", "load")))
    assert chosen - set(select_parameters(robot, rotor_inertia=False)) == {
        "elbow_joint.fs",
        "elbow_joint.fl",
        "wrist_3_joint.fl",
    }
    theta = np.arange(1.0, len(robot.theta) + 1.0)
    changed = with_theta(robot, theta)
    np.testing.assert_allclose(changed.theta, theta, rtol=1e-15)
    assert changed.parameter_names == robot.parameter_names
    assert dict(changed.drives)["wrist_1_joint"].root is None


def test_files_keep_the_laws(tmp_path: Path) -> None:
    robot = add_friction_laws(ytheta.load("ur10"))
    zero = robot.with_drives(lambda _, drive: replace(drive, root=0.0, load=None))
    for each in (robot, zero):
        again = read(to_toml(each))
        assert again == each
        assert again.parameter_names == each.parameter_names
        np.testing.assert_array_equal(again.theta, each.theta)
    ytheta.save_robot(robot, tmp_path / "arm.toml")
    text = 'name = "more"\nextends = "arm.toml"\n[[joint]]\nname = "elbow_joint"\ndrive = { root = 0.25 }\n'
    (tmp_path / "more.toml").write_text(text)
    drive = ytheta.load(tmp_path / "more.toml").joint("elbow_joint").drive
    assert drive == Drive(root=0.25)


def test_unusable_laws_are_refused() -> None:
    robot = ytheta.load("ur10")
    for bad in (-1.0, np.inf, np.nan):
        joints = tuple(replace(joint, drive=Drive(friction_speed=bad)) for joint in robot.joints)
        with pytest.raises(RobotError, match=r"'shoulder_pan_joint': its friction_speed is"):
            replace(robot, joints=joints)
    with pytest.raises(RobotError, match="its drive is not finite"):
        robot.with_drives(lambda _, d: replace(d, root=np.nan))
    with pytest.raises(
        RobotError,
        match=r"load-dependent friction \('load'\) of 'elbow_joint' is not possible, because the robot has motors",
    ):
        replace(
            robot.with_drives(lambda name, d: replace(d, load=0.1) if name == "elbow_joint" else d),
            motors=(Motor("m", turns_with=(("elbow_joint", 1.0),)),),
        )
    loaded = robot.with_drives(lambda _, d: replace(d, load=0.1))
    with pytest.raises(RobotError, match="the robot has couplings"):
        replace(loaded, couplings=(Coupling("elbow_joint", (("wrist_1_joint", 1.0),)),), actuated=())
    with pytest.raises(RobotError, match="the robot has loops"):
        ytheta.load("five-bar").with_drives(lambda _, d: replace(d, load=0.1))
    assert ytheta.load("five-bar").with_drives(lambda _, d: replace(d, root=0.1)).parameter_names[-1].endswith(".fs")


def test_files_whose_friction_drives_are_warned_about(tmp_path: Path) -> None:
    robot = ytheta.load("ur10")

    def warn(drive: Drive) -> list[str]:
        changed = robot.with_drives(lambda name, d: drive if name == "elbow_joint" else d)
        ytheta.save_robot(changed, tmp_path / "arm.toml")
        return [finding.statement for finding in ytheta.load(tmp_path / "arm.toml").findings if finding.code == "drive"]

    assert warn(Drive(viscous=-0.1, coulomb=1.0, root=0.5, friction_speed=10.0)) == []
    (driving,) = warn(Drive(viscous=-0.1, coulomb=1.0, root=0.5, friction_speed=1000.0))
    assert "drives instead of braking at a speed of 1000" in driving
    (negative,) = warn(Drive(coulomb=1.0, load=-0.1))
    assert "its load-dependent friction -0.1 is negative" in negative


def test_units_and_tables_know_the_laws() -> None:
    robot = add_friction_laws(ytheta.load("stanford"))  # joint 3 is prismatic
    units = [
        parameter_unit(f"{joint}.{symbol}", robot.prismatic_joints)
        for joint in ("joint1", "joint3")
        for symbol in ("fs", "fl")
    ]
    assert units == ["N m √(s/rad)", "1", "N √(s/m)", "1"]
    exponents = dict(zip(robot.parameter_names, length_exponents(robot).tolist(), strict=True))
    assert exponents["joint1.fl"] == 0.0
    assert is_dissipative("joint1.fs")
    assert is_dissipative("joint1.fl")
    plain, text = str(ytheta.inspect(ytheta.load("stanford"))), str(ytheta.inspect(robot))
    for word in (" fs ", " fl ", "friction_speed"):
        assert word in text
        assert word not in plain
    (row,) = (row for row in summarize_robot(robot)["joint_table"] if row["name"] == "joint2")
    assert (row["fs"], row["fl"], row["friction_speed"]) == (-0.4, 0.08, 0.7)

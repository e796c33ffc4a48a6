"""Robots of three vendors, with parts that URDF cannot describe, against published values."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.base_checks import is_complete_and_minimal, rank
from tests.support.states import close
from tests.support.vendor_robots import KR300, MTM, TX40
from ytheta.robot.robot import Robot

FRICTION = ("viscous", "coulomb", "offset")


Extended = Callable[[str, str, str], Robot]


@pytest.fixture
def extended(shared_data: Path, tmp_path: Path) -> Extended:
    def load_extended(folder: str, urdf: str, text: str) -> Robot:
        if not (shared_data / folder / urdf).is_file():
            pytest.skip(f"{folder}/{urdf} is not in the shared data folder")
        shutil.copy(shared_data / folder / urdf, tmp_path)
        (tmp_path / "extended.toml").write_text(text)
        return ytheta.load(tmp_path / "extended.toml")

    return load_extended


def test_gravity_torques_of_the_kr300_with_its_counterbalance(extended: Extended, shared_data: Path) -> None:
    """Gravity torques equal the published ones, which have four decimals."""
    polars = pytest.importorskip("polars", reason="polars reads the Parquet files of the shared data folder")
    robot = extended("kr300", "kr300.urdf", KR300)
    poses = polars.read_parquet(shared_data / "kr300" / "kr300_run_a_gravity_check.parquet")
    q, expected = (poses.select([f"{name}{k}" for k in range(1, 7)]).to_numpy() for name in ("q", "taug"))
    assert np.abs(ytheta.gravity(robot)(q) - expected).max() < 1e-3
    bare = ytheta.load(shared_data / "kr300" / "kr300.urdf")
    assert np.abs(ytheta.gravity(bare)(q) - expected).max() > 100.0
    assert len(ytheta.base_parameters(robot, rotor_inertia=True)) == 40 + 1


def test_the_wrist_of_the_tx40_equals_the_published_one(extended: Extended) -> None:
    """The three columns of the published model are combinations of those of motor 6 and of joints 5 and 6."""
    robot = extended("tx40", "tx40.urdf", TX40)
    assert robot.actuated == tuple(f"joint_{k}" for k in range(1, 7))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 6))
    names = [f"{owner}.{p}" for p in ("Ia", "fv", "fc") for owner in ("motor_6", "joint_5", "joint_6")]
    Y = ytheta.regressor(robot, parameters=names)(q, qd, qdd)
    for first, rates in ((0, qdd), (3, qd)):  # Iam6 and fvm6
        published = Y[:, :, first] - Y[:, :, first + 1] - Y[:, :, first + 2]
        assert close(published[:, 4:], rates[:, [5, 4]])
        assert not published[:, :4].any()
        assert not close(published[:, 4:], rates[:, 4:])
    assert close(Y[:, 4:, 6], np.sign(qd[:, 4] + qd[:, 5])[:, None] * np.ones(2))  # fsm6


def test_base_parameters_of_the_tx40(extended: Extended) -> None:
    """There are 61 base parameters with all drives, and 60, as published, if joint 6 has no rotor besides motor 6.

    The published 60 do not contain Ia6 either, but Iam6 occurs only off the diagonal of the mass matrix, while motor 6
    is in both places here. The counts are equal, but the spans are not; the span of the 61 contains both.

    The 60 are: 36 parameters of links; rotors of joints 3, 4, 5 and of motor 6 (those of joints 1 and 2 merge with
    links); viscous and Coulomb friction of six joints and of the motor; six offsets (that of the motor merges with
    them).
    """
    robot = extended("tx40", "tx40.urdf", TX40)
    assert len(ytheta.base_parameters(robot, method="qr")) == 36
    all_drives = ytheta.base_parameters(robot, rotor_inertia=True, friction=FRICTION)
    assert (len(all_drives.selected), len(all_drives), rank(robot, all_drives.selected)) == (88, 61, 61)
    parameters = [name for name in robot.parameter_names if name != "joint_6.Ia"]
    base = ytheta.base_parameters(robot, parameters=parameters)
    assert (len(base.selected), len(base), rank(robot, base.selected)) == (87, 60, 60)
    assert is_complete_and_minimal(robot, base)
    drives = [name for name in base.independent if not name.startswith("link_")]
    expected = [f"joint_{k}.{p}" for k in range(1, 7) for p in ("Ia", "fv", "fc", "fo")]
    expected = [name for name in expected if name not in ("joint_1.Ia", "joint_2.Ia", "joint_6.Ia")]
    assert drives == [*expected, "motor_6.Ia", "motor_6.fv", "motor_6.fc"]
    assert base.identifiability["motor_6.fo"].value == "only in combination"


def test_the_complete_model_of_the_dvrk_has_the_published_counts_and_columns(
    extended: Extended, shared_data: Path
) -> None:
    """122 columns and 73 base parameters, as published; the friction columns follow from the published matrix."""
    robot = extended("dvrk_mtm", "mtm_tree.urdf", MTM)
    selected = ("link_*", "*.fv", "*.fc", "*.fo", "motor_4.Ia", "spring.k")
    base = ytheta.base_parameters(robot, parameters=selected)
    assert (len(base.selected), len(base), rank(robot, base.selected)) == (122, 73, 73)
    assert is_complete_and_minimal(robot, base)
    assert len(ytheta.base_parameters(robot, parameters=["link_*"])) == 46
    rows = list(csv.DictReader((shared_data / "dvrk_mtm" / "tree_mdh.csv").read_text().splitlines()))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 7))
    for row in rows:
        c = np.array([float(row[f"c_q{k}"]) for k in range(1, 8)])
        names = [f"joint_{row['link']}.{p}" for p in ("fv", "fc", "fo")]
        Y = ytheta.regressor(robot, parameters=names, backend="interpreter")(q, qd, qdd)
        v = qd @ c
        assert close(Y, c[:, None] * np.stack([v, np.sign(v), np.ones(5)], axis=1)[:, None, :])
    angle = np.pi + np.radians(23.0) - q[:, 4]
    length = np.sqrt(0.0075**2 + 0.1035**2 - 2 * 0.0075 * 0.1035 * np.cos(angle))
    pulled = -0.0075 * 0.1035 * np.sin(angle) / length * (length - 0.0613)
    spring = ytheta.regressor(robot, parameters=["spring.k"])(q, qd, qdd)[:, :, 0]
    np.testing.assert_allclose(spring, pulled[:, None] * np.eye(7)[4], rtol=1e-12, atol=0)
    assert not np.allclose(spring, -pulled[:, None] * np.eye(7)[4], rtol=1e-3, atol=0)


def test_base_parameters_of_other_selections_of_the_dvrk(extended: Extended) -> None:
    """Motors and actuated joints have rotors, coupled joints none: 76 base parameters with motor 4, 73 without it."""
    robot = extended("dvrk_mtm", "mtm_tree.urdf", MTM)
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=FRICTION)
    assert (len(base), rank(robot, base.selected)) == (76, 76)
    assert len(ytheta.base_parameters(robot, friction=FRICTION)) == 72
    joints = ("link_*", "joint_*", "spring.k")
    assert len(ytheta.base_parameters(robot, parameters=joints)) == 73

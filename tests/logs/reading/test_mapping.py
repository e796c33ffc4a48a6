"""Mappings: units, signs, gains, motor matrices, rows; wrong mappings are explained."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    format_csv,
    load_shared_robot,
    write_file,
)
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.read import read_log


def test_a_mapping_file_with_every_section(tmp_path: Path) -> None:
    matrix = np.array([[50.0, 0.0], [20.0, -40.0]])
    assert ARM_LOG.tau is not None
    motor, torque = ARM_LOG.q @ matrix.T, ARM_LOG.tau @ np.linalg.inv(matrix)
    columns = {"clock": ARM_LOG.t * 1e3, "m2": np.degrees(motor[:, 1]), "m1": np.degrees(motor[:, 0])}
    columns |= {"i1": torque[:, 0] / 0.5, "i2": -torque[:, 1] / 0.25}
    mapping = write_file(
        tmp_path,
        """
rows = [10, 140]
skip = 2
[columns]
t = "clock"
q = ["m1", 1]
current = "i{}"
[scale]
t = "ms"
q = "degrees"
[sign]
current = [1, -1]
[gain]
current = [0.5, 0.25]
[motor]
matrix = [[50, 0], [20, -40]]
[offset]
q = [0, "-pi/2"]
""",
        "mapping.toml",
    )
    log = read_log(write_file(tmp_path, "line one\nline, two\n" + format_csv(columns)), ARM, mapping=mapping)
    expected = ARM_LOG.select_rows(10, 140)
    np.testing.assert_allclose(log.t, expected.t, rtol=1e-12)
    np.testing.assert_allclose(log.q, expected.q + np.array([0.0, -np.pi / 2]), atol=1e-12)
    assert log.tau is not None
    assert expected.tau is not None
    np.testing.assert_allclose(log.tau, expected.tau, atol=1e-12)


def test_units_can_differ_between_joints(tmp_path: Path) -> None:
    mixed = ARM_COLUMNS | {
        "q1": np.degrees(ARM_COLUMNS["q1"]),
        "qd1": np.degrees(ARM_COLUMNS["qd1"]),
        "qd2": 2.0 * ARM_COLUMNS["qd2"],
    }
    scale = {"q": ["degrees", "radians"], "qd": ["deg", 0.5]}
    log = read_log(write_file(tmp_path, format_csv(mixed)), ARM, mapping={"scale": scale})
    np.testing.assert_allclose(log.q, ARM_LOG.q, rtol=1e-12)
    assert log.qd is not None
    assert ARM_LOG.qd is not None
    np.testing.assert_allclose(log.qd, ARM_LOG.qd, rtol=1e-12)


def test_a_sampling_rate_replaces_the_time_column(tmp_path: Path) -> None:
    without = {name: column for name, column in ARM_COLUMNS.items() if name != "t"}
    path = write_file(tmp_path, format_csv(without))
    assert_file_refused(path, "no time column 't'", "rate = ")
    np.testing.assert_allclose(read_log(path, ARM, mapping={"rate": 100.0}).t, ARM_LOG.t, atol=1e-12)
    bare = write_file(tmp_path, format_csv(without, header=False), "bare.csv")
    np.testing.assert_array_equal(read_log(bare, ARM, mapping={"rate": 100.0}).q, ARM_LOG.q)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"colums": {}}, ("'colums'", "'columns'")),
        ({"columns": {"tua": "tau{}"}}, ("[columns]", "'tua'", "'tau'")),
        ({"columns": {"q": "pos{}"}}, ("'pos1'", "'q'")),
        ({"columns": {"q": "q1"}}, ("{}",)),
        ({"columns": {"q": ["q1"]}}, ("1 columns", "2", "joint1, joint2")),
        ({"columns": {"q": [1, 99]}}, ("7 columns", "99", "from 0")),
        ({"columns": {"q": [1, -1]}}, ("from 0", "-1")),
        ({"columns": {"t": True}}, ("'t'", "True")),
        ({"columns": {"tau": "tau{}", "current": "tau{}"}}, ("both give the torque",)),
        ({"columns": {"current": "tau{}"}}, ("gains", "Nm/A")),
        ({"gain": {"current": [1, 2]}}, ("[gain]", "[columns] has no current")),
        ({"sign": {"current": -1}}, ("[sign]", "[columns] has no current")),
        ({"columns": {"t": "t"}, "rate": 5}, ("both give the time",)),
        ({"rate": 0}, ("'rate'", "positive")),
        ({"rate": "fast"}, ("'rate'", "'fast'")),
        ({"scale": {"q": "degree"}}, ("'degree'", "'degrees'")),
        ({"scale": {"q": ["degrees", "radian"]}}, ("'radian'", "'radians'")),
        ({"sign": {"q": ["degrees", 1]}}, ("[sign]", "'degrees'")),
        ({"scale": {"q": [1, 2, 3]}}, ("[scale]", "3 numbers for 2 joints")),
        ({"scale": {"qdd": 2}}, ("'qdd'", "'qd'")),
        ({"scale": {"q": float("nan")}}, ("finite",)),
        ({"sign": {"q": 2}}, ("only 1 and -1",)),
        ({"offset": {"q": "pie"}}, ("'pie'", "multiple of pi")),
        ({"motor": {"matrix": [[1, 0], [0, 0]]}}, ("cannot be inverted",)),
        ({"motor": {"matrix": [[1]]}}, ("1 rows", "2 actuated")),
        ({"motor": {"matrix": [[1, 2]]}}, ("as many rows",)),
        ({"motor": {"matrx": [[1]]}}, ("'matrx'", "'matrix'")),
        ({"rows": [5, 5]}, ("empty",)),
        ({"scale": {"t": []}}, ("[scale]", "'t' is an empty list")),
        ({"offset": {"q": []}}, ("[offset]", "'q' is an empty list")),
        ({"rows": [0, 1000]}, ("beyond the 150 rows",)),
        ({"rows": 5}, ("[start, stop]",)),
        ({"skip": -1}, ("'skip'", "-1")),
        ({"topic": 3}, ("'topic'",)),
        ({"columns": 3}, ("[columns]",)),
    ],
)
def test_wrong_mappings_are_explained(mapping: dict[str, Any], words: tuple[str, ...], tmp_path: Path) -> None:
    assert_file_refused(write_file(tmp_path, format_csv(ARM_COLUMNS)), *words, mapping=mapping)


def test_wrong_mapping_files_are_explained(tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS))
    assert_file_refused(path, "none.toml", "does not exist", mapping=tmp_path / "none.toml")
    assert_file_refused(
        path, "a.toml", "not valid TOML", "below a line [columns]", mapping=write_file(tmp_path, "t = ", "a.toml")
    )
    assert_file_refused(path, "b.toml", "not text", mapping=write_file(tmp_path, b"\xff\xfe\xff", "b.toml"))
    assert_file_refused(path, "nested too deeply", mapping=write_file(tmp_path, f"a = {2000 * '['}", "c.toml"))
    assert_file_refused(path, "too many digits", mapping=write_file(tmp_path, f"rate = {5000 * '1'}", "d.toml"))
    assert_file_refused(path, "is empty", mapping=write_file(tmp_path, " ", "e.toml"))
    assert_file_refused(path, "is a folder", mapping=tmp_path)
    assert_file_refused(path, "not a regular file", mapping=Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe.toml")
    assert_file_refused(path, "not a regular file", mapping=tmp_path / "pipe.toml")
    assert_file_refused(write_file(tmp_path, b"x", "c.npz"), "'skip'", mapping={"skip": 3})
    assert read_mapping(read_mapping({"skip": 3})).skip == 3


def test_the_motor_matrix_of_the_tx40_gives_its_joint_side(shared_data: Path) -> None:
    robot = load_shared_robot(shared_data, "tx40")
    matrix = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    matrix[5, 4] = 32.0
    mapping = {
        "columns": {"q": "qm{}", "tau": "taum{}"},
        "motor": {"matrix": matrix.tolist()},
        "offset": {"q": [0, "-pi/2", "pi/2", 0, 0, 0]},
    }
    joint = read_log(shared_data / "tx40/tx40_joint.parquet", robot)
    motor = read_log(shared_data / "tx40/tx40_motor.parquet", robot, mapping=mapping)
    assert joint.tau is not None
    assert motor.tau is not None
    np.testing.assert_allclose(motor.q, joint.q, atol=1e-9)
    np.testing.assert_allclose(motor.tau, joint.tau, atol=1e-9)
    del mapping["offset"]  # the twin: without the offsets it is another pose
    shifted = read_log(shared_data / "tx40/tx40_motor.parquet", robot, mapping=mapping)
    assert np.abs(shifted.q - joint.q).max() > 1.0
    assert_file_refused(shared_data / "tx40/tx40_motor.parquet", "q1 … q6", "'qm1'", robot=robot)


@pytest.mark.parametrize("section", ["scale", "offset"])
def test_time_has_one_factor(section: str, tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS))
    assert_file_refused(path, f"[{section}]", "'t' should be one number", mapping={section: {"t": [1.0, 2.0]}})
    assert read_mapping({section: {"t": [1.0]}}).source  # the twin

"""Joint names that a file contains as texts decide which joint a numbered column belongs to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io

from tests.support.log_files import ARM, ARM_LOG, assert_same_log, codes_above_notes
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.logs.reading.read import read_log

ORDER = [1, 0]  # of the joints in the files, which is not that of the robot
NAMES = [ARM.actuated[k] for k in ORDER]
assert ARM_LOG.qd is not None
assert ARM_LOG.tau is not None
ARRAYS = {"t": ARM_LOG.t, "q": ARM_LOG.q[:, ORDER], "qd": ARM_LOG.qd[:, ORDER], "tau": ARM_LOG.tau[:, ORDER]}


def make_columns(names: list[str] = NAMES) -> dict[str, Any]:
    """Columns as tools write them for JointState messages: name_0, name_1, position_0, …"""
    columns: dict[str, Any] = {"time": ARM_LOG.t}
    columns |= {f"name_{k}": [name] * len(ARM_LOG.t) for k, name in enumerate(names)}
    for word, key in (("position", "q"), ("velocity", "qd"), ("effort", "tau")):
        columns |= {f"{word}_{k}": ARRAYS[key][:, k] for k in range(len(ORDER))}
    return columns


def assert_order(log: Log, column: str) -> None:
    assert_same_log(log, ARM_LOG)
    assert not codes_above_notes(log)
    assert log.origin is not None
    assert next(each.column for each in log.origin.columns if each.quantity == "q") == column
    assert any(finding.fields.get("labels") == NAMES for finding in log.findings)
    assert not log.origin.unused


def test_a_list_of_joint_names_beside_arrays_orders_their_columns() -> None:
    assert_order(read_log(ARRAYS | {"joint_names": NAMES}, ARM), "q2")
    assert_order(read_log(ARRAYS | {"Joints": np.array(NAMES, dtype=object)}, ARM), "q2")
    # The twin: without names, the columns are in the order of the robot.
    with pytest.raises(AssertionError):
        assert_same_log(read_log(ARRAYS, ARM), ARM_LOG)


def test_a_template_of_a_mapping_follows_the_joint_names() -> None:
    arrays = {"t": ARRAYS["t"], "q": ARRAYS["q"], "tq": ARRAYS["tau"], "joint_names": NAMES}
    log = read_log(arrays, ARM, mapping={"columns": {"tau": "tq{}"}})
    np.testing.assert_array_equal(log.tau, ARM_LOG.tau)
    np.testing.assert_array_equal(log.q, ARM_LOG.q)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_joint_names_order_the_columns_of_a_frame(make: Callable[[Any], Any]) -> None:
    assert_order(read_log(make(make_columns()), ARM), "position_1")


@pytest.mark.parametrize("pattern", ["name_{}", "field.name{}", "/joint_states/name[{}]", "js.name.{}"])
def test_columns_of_joint_names_order_the_columns_of_a_text_file(pattern: str, tmp_path: Path) -> None:
    renamed = {}
    for name, values in make_columns().items():
        word, _, number = name.partition("_")
        renamed[pattern.replace("name", word).replace("{}", number) if number else name] = values
    path = tmp_path / "log.csv"
    pd.DataFrame(renamed).to_csv(path, index=False)
    assert_order(read_log(path, ARM), pattern.replace("name", "position").replace("{}", "1"))


def test_parquet_and_json_lines(tmp_path: Path) -> None:
    pl.DataFrame(make_columns()).write_parquet(tmp_path / "log.parquet")
    assert_order(read_log(tmp_path / "log.parquet", ARM), "position_1")
    pd.DataFrame(make_columns()).to_json(tmp_path / "log.jsonl", orient="records", lines=True, double_precision=15)
    log = read_log(tmp_path / "log.jsonl", ARM)
    np.testing.assert_allclose(log.q, ARM_LOG.q, atol=1e-12)
    rows = [{"t": t, "name_0": NAMES[k % 2], "q_0": 0.0, "q_1": 1.0} for k, t in enumerate(ARM_LOG.t.tolist())]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"line 2: its joint names are others"):
        read_log(tmp_path / "log.jsonl", ARM)


def test_archives_of_numpy_and_matlab(tmp_path: Path) -> None:
    archive: dict[str, Any] = {"joint_names": np.array(NAMES), **ARRAYS}
    np.savez(tmp_path / "log.npz", **archive)
    assert_order(read_log(tmp_path / "log.npz", ARM), "q2")
    for names in (np.array(NAMES, dtype=object), np.array(NAMES)):  # a cell array, and a matrix of characters
        scipy.io.savemat(tmp_path / "log.mat", {"joint_names": names, **ARRAYS})
        assert_order(read_log(tmp_path / "log.mat", ARM), "q2")
    scipy.io.savemat(tmp_path / "log.mat", {"data": {"Name": np.array(NAMES, dtype=object), **ARRAYS}})
    assert_order(read_log(tmp_path / "log.mat", ARM), "data.q2")


@pytest.mark.parametrize("place", ["dataset", "rows", "attribute", "group"])
def test_hdf5(place: str, tmp_path: Path) -> None:
    path = tmp_path / "log.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("arm")
        for name, values in ARRAYS.items():
            group[name] = values
        if place == "attribute":
            group.attrs["joint_names"] = NAMES
        elif place == "rows":
            group["joint_names"] = np.array([NAMES] * len(ARM_LOG.t), dtype="S")
        else:
            (file if place == "dataset" else group)["joint_names"] = NAMES
    assert_order(read_log(path, ARM), "arm/q2")


def test_recordings_with_joints_in_different_orders_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.h5"
    with h5py.File(path, "w") as file:
        for k in range(2):
            for name, values in ARRAYS.items():
                file[f"demo_{k}/{name}"] = values
            file[f"demo_{k}/joint_names"] = NAMES[:: 1 - 2 * k]
    with pytest.raises(InputError, match=r"'joint_names' is not the same in all recordings.*--topic"):
        read_log(path, ARM)


def test_names_that_change_within_a_column_are_refused() -> None:
    columns = make_columns()
    columns["name_0"] = [NAMES[k % 2] for k in range(len(ARM_LOG.t))]
    with pytest.raises(InputError, match=r"the joint names in the column 'name_0' change"):
        read_log(pd.DataFrame(columns), ARM)


def test_names_of_other_joints_leave_the_order_with_a_warning() -> None:
    log = read_log(ARRAYS | {"joint_names": ["a", "b"]}, ARM)
    assert codes_above_notes(log) == {"order"}
    warning = next(finding for finding in log.findings if finding.code == "order")
    assert "'joint_names' (a, b)" in warning.text
    np.testing.assert_array_equal(log.q, ARRAYS["q"])


def test_lists_of_another_length_and_other_texts_are_ignored() -> None:
    for others in ({"joint_names": [*ARM.actuated, "finger"]}, {"operator_names": NAMES}, {"name": "run 7"}):
        log = read_log(ARRAYS | others, ARM)
        np.testing.assert_array_equal(log.q, ARRAYS["q"])
        assert not codes_above_notes(log)


def test_a_joint_that_is_not_among_the_names_is_missing() -> None:
    with pytest.raises(InputError, match=f"{ARM.actuated[0]} is missing"):
        read_log(ARRAYS | {"joint_names": [NAMES[0], "other"]}, ARM)


def test_names_of_another_number_in_another_order_are_refused() -> None:
    """With a gripper among the positions, the torques alone would be in the order of the robot."""
    gripper = np.zeros((len(ARM_LOG.t), 1))
    arrays = ARRAYS | {"q": np.hstack([ARRAYS["q"], gripper]), "joint_names": [*NAMES, "finger"]}
    with pytest.raises(
        InputError, match=r"3 joint names in 'joint_names' .* but 2 columns qd….*a mapping: \[columns\] qd"
    ):
        read_log(arrays, ARM)
    mapping = {"columns": {"qd": ["qd2", "qd1"], "tau": ["tau2", "tau1"]}}
    assert_same_log(read_log(arrays, ARM, mapping=mapping), ARM_LOG)


@pytest.mark.parametrize("spelling", ["left_{}", "{}_axis", "arm/{}/motor", "J{}"])
def test_names_with_another_prefix_or_suffix_are_those_of_the_robot(spelling: str) -> None:
    cores = [name.removeprefix("joint") for name in NAMES] if spelling == "J{}" else NAMES
    names = [spelling.replace("{}", core) for core in cores]
    log = read_log(ARRAYS | {"joint_names": names}, ARM)
    assert_same_log(log, ARM_LOG)
    assert any(finding.fields.get("labels") == names for finding in log.findings)
    assert not codes_above_notes(log)

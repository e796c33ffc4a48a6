"""Files that are not logs are refused; real logs are read with the expected findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.log_files import ARM_COLUMNS, assert_file_refused, codes_above_notes, load_shared_robot, write_file
from ytheta.findings import Severity
from ytheta.logs.reading.read import read_log


def test_files_that_are_not_logs_are_refused(tmp_path: Path) -> None:
    assert_file_refused(tmp_path / "none.csv", "none.csv", "does not exist")
    assert_file_refused(tmp_path, "directory", "metadata.yaml")
    assert_file_refused(write_file(tmp_path, ""), "is empty")
    assert_file_refused(write_file(tmp_path, "\n\n# nothing\n"), "contains no data")
    assert_file_refused(write_file(tmp_path, ",".join(ARM_COLUMNS) + "\n"), "contains no rows")
    assert_file_refused(write_file(tmp_path, "hello\nworld\n"), "no column separator found", "'hello'")
    assert_file_refused(write_file(tmp_path, "x", "log.xlsx"), "'.xlsx'", ".csv")
    assert_file_refused(Path("/dev/null"), "regular file")
    assert_file_refused(tmp_path / ("x" * 300 + ".csv"), "cannot be read")
    assert_file_refused(tmp_path / "a\0b.csv", "cannot be read")


REAL: dict[str, tuple[str, int, int, set[str]]] = {  # robot, rows left, segments, findings
    "tx40/tx40_joint.parquet": ("tx40", 45000, 1, set()),
    "kr300/kr300_run_a.parquet": ("kr300", 2501, 1, set()),
    "kr300/kr300_run_b.parquet": ("kr300", 2501, 1, set()),
    "lwr4/lwr4_run1.parquet": ("lwr4", 5027, 1, set()),
    "lwr4/lwr4_run2.parquet": ("lwr4", 5027, 1, set()),
    "panda/panda_gaz2019.parquet": ("panda", 19436, 5, {"gap", "held"}),
    "ur10e/ur10e_train_30s_12harm.parquet": ("ur10e", 3691, 1, set()),
    "ur10e/ur10e_ptp10.parquet": ("ur10e", 5347, 1, set()),
    "ur10e/ur10e_20s_8harm.parquet": ("ur10e", 2506, 1, set()),
    "ur10e/ur10e_50s_14harm_unloaded.parquet": ("ur10e", 5375, 1, set()),
    "ur10e/ur10e_50s_14harm_loaded.parquet": ("ur10e", 5306, 1, {"spike"}),
    "dvrk_mtm/mtm_train_one.parquet": ("dvrk_mtm", 5240, 1, {"held", "velocity"}),
    "dvrk_mtm/mtm_test_two.parquet": ("dvrk_mtm", 5344, 1, {"held", "velocity"}),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs_have_the_expected_findings(name: str, shared_data: Path) -> None:
    robot, rows, segments, codes = REAL[name]
    log = read_log(shared_data / name, load_shared_robot(shared_data, robot))
    assert (len(log), len(log.segments), codes_above_notes(log)) == (rows, segments, codes)
    assert np.all(np.isfinite(log.q))
    assert [finding.severity for finding in log.findings if finding.code == "sampling"] == [Severity.NOTE]


def test_a_log_of_another_robot_is_refused(shared_data: Path) -> None:
    path = shared_data / "panda/panda_gaz2019.parquet"
    assert_file_refused(path, "7 columns q1 … q7", "6 actuated", robot=load_shared_robot(shared_data, "ur10e"))
    tree = ytheta.load(shared_data / "dvrk_mtm/mtm_tree.urdf")
    assert_file_refused(shared_data / "dvrk_mtm/mtm_train_one.parquet", "7 columns", "9 actuated", robot=tree)


GAINS = [14.87, 13.26, 11.13, 10.62, 11.03, 11.47]


RAW: dict[str, dict[str, Any]] = {
    "columns": {"t": 0, "q": [1, 2, 3, 4, 5, 6], "qd": [7, 8, 9, 10, 11, 12], "current": [13, 14, 15, 16, 17, 18]},
    "gain": {"current": GAINS},
}


def test_a_raw_file_without_a_header_is_read_by_column_numbers(shared_data: Path) -> None:
    robot, path = load_shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-19_09_27-11_28_22.csv"
    target = {"columns": RAW["columns"] | {"tau": [25, 26, 27, 28, 29, 30]}}
    del target["columns"]["current"]
    assert_file_refused(path, "19 columns", "column 25", "'tau'", robot=robot, mapping=target)
    assert "truncated" not in codes_above_notes(read_log(path, robot, mapping=RAW))
    assert "header" in codes_above_notes(read_log(path, robot))


def test_garbage_at_the_beginning_of_a_raw_file_is_dropped(shared_data: Path) -> None:
    robot, path = load_shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-19_09_27-11_32_02.csv"
    log = read_log(path, robot, mapping=RAW)
    assert codes_above_notes(log) == {"garbage"}
    assert (len(log), log.t[0]) == (1119, 0.727)
    assert any("20 of 1139" in finding.text and "rows 0 to 19" in finding.text for finding in log.findings)
    assert_file_refused(path, "garbage", robot=robot, mapping=RAW, strict=True)


def test_a_truncated_last_line_of_a_raw_file_is_dropped(shared_data: Path) -> None:
    robot, path = load_shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-20_02_19_15harm50secLoad.csv"
    log = read_log(path, robot, mapping=RAW)
    assert codes_above_notes(log) == {"truncated", "garbage"}  # rows 1 to 9 are garbage too, with garbage times
    assert (len(log), log.t[0]) == (6096, 3048.059)
    assert any("line (6107)" in finding.text and "20 fields instead of 31" in finding.text for finding in log.findings)
    assert_file_refused(path, "31 columns and no header", "13", "19", robot=robot)

"""A table with one row per joint and sample gives the log of the table with one row per sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.support.log_files import ARM, ARM_LOG, assert_same_log, codes_above_notes
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log


def make_rows(joints: tuple[str, ...] = ARM.actuated, word: str = "joint") -> pd.DataFrame:
    """The rows of a log: for every sample one of each joint, in reversed order, and one of a gripper."""
    assert ARM_LOG.qd is not None
    assert ARM_LOG.tau is not None
    rows: list[dict[str, Any]] = []
    for k, t in enumerate(ARM_LOG.t):
        rows.append({"time": t, word: "finger", "position": 0.02, "velocity": 0.0, "effort": 0.0})
        for j in reversed(range(len(joints))):
            values = {"position": ARM_LOG.q[k, j], "velocity": ARM_LOG.qd[k, j], "effort": ARM_LOG.tau[k, j]}
            rows.append({"time": t, word: joints[j]} | values)
    return pd.DataFrame(rows)


@pytest.mark.parametrize("word", ["joint", "Name", "joint_name"])
def test_rows_of_joints_become_columns(word: str, tmp_path: Path) -> None:
    frame = make_rows(word=word)
    frame.to_csv(tmp_path / "log.csv", index=False)
    pl.DataFrame(frame.to_dict("list")).write_parquet(tmp_path / "log.parquet")
    for source in (frame, pl.DataFrame(frame.to_dict("list")), tmp_path / "log.csv", tmp_path / "log.parquet"):
        log = read_log(source, ARM)
        assert_same_log(log, ARM_LOG)
        assert not codes_above_notes(log)
        assert log.origin is not None
        assert log.origin.ignored_joints == ("finger",)
        assert log.origin.columns[1].column == f"{ARM.actuated[0]}/position"
        assert any("450 rows are 150 samples" in finding.text for finding in log.findings)


def test_units_and_dates() -> None:
    frame = make_rows()
    frame["position [deg]"] = np.degrees(frame.pop("position"))
    frame["time"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(frame["time"], unit="s")
    log = read_log(frame.drop(columns="velocity"), ARM)
    np.testing.assert_allclose(log.q, ARM_LOG.q, atol=1e-12)
    np.testing.assert_allclose(log.t, ARM_LOG.t, atol=1e-9)


def test_a_recording_may_end_within_a_message() -> None:
    log = read_log(make_rows().iloc[:-1], ARM)
    np.testing.assert_array_equal(log.q, ARM_LOG.q[:-1])


def test_joints_with_other_times_or_names_are_refused() -> None:
    frame = make_rows()
    shifted = frame.assign(time=frame["time"].where(frame["joint"] != ARM.actuated[1], frame["time"] + 0.001))
    for wrong in (shifted, frame[(frame["joint"] != ARM.actuated[1]) | (frame.index > 30)]):
        with pytest.raises(InputError, match=r"one row for each joint, but not the same times.*one row per sample"):
            read_log(wrong, ARM)
    with pytest.raises(InputError, match=r"rows of the joints finger, b, a; the joints of the robot have other names"):
        read_log(make_rows(("a", "b")), ARM)
    with pytest.raises(InputError, match=f"{ARM.actuated[1]} is missing"):
        read_log(frame[frame["joint"] != ARM.actuated[1]], ARM)

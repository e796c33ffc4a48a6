"""Quantities of several topics, structs or groups: one place is preferred, and different clocks are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io

from tests.support.log_files import (
    ARM,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    codes_above_notes,
    format_csv,
    get_finding,
    write_file,
)
from ytheta.logs.reading.read import read_log

NAMES = {"q": "position", "qd": "velocity", "tau": "effort"}
STEP = 0.01  # s, the sampling interval of the log


def name_columns(places: dict[str, str]) -> dict[str, np.ndarray]:
    """The columns of the log, each quantity at its place; an empty place is the top level of the file."""
    values = {"q": ARM_LOG.q, "qd": ARM_LOG.qd, "tau": ARM_LOG.tau}
    columns = {"t": ARM_LOG.t}
    for key, place in places.items():
        matrix = values[key]
        assert matrix is not None
        columns |= {f"{place}joint{k + 1}/{NAMES[key]}": matrix[:, k] for k in range(2)}
    return columns


def write_clocks(folder: Path, kind: str, delay: float) -> Path:
    """Write positions and torques at places with their own times; those of the torques are later by ``delay``."""
    arm: dict[str, Any] = {"t": ARM_LOG.t, "q": ARM_LOG.q, "qd": ARM_LOG.qd}
    drive: dict[str, Any] = {"t": ARM_LOG.t + delay, "tau": ARM_LOG.tau}
    path = folder / f"log.{kind}"
    if kind == "mat":
        scipy.io.savemat(path, {"arm": arm, "drive": drive})
    elif kind == "h5":
        with h5py.File(path, "w") as file:
            for place, arrays in (("arm", arm), ("drive", drive)):
                for name, values in arrays.items():
                    file[f"{place}/{name}"] = values
    else:
        rows = [
            {place: {name: values[k].tolist() for name, values in arrays.items()}
             for place, arrays in (("arm", arm), ("drive", drive))}
            for k in range(len(ARM_LOG))
        ]  # fmt: skip
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize("kind", ["h5", "mat", "jsonl"])
def test_torques_with_another_clock_are_refused(kind: str, tmp_path: Path) -> None:
    late = write_clocks(tmp_path, kind, 2.0 * STEP)
    assert_file_refused(late, "the torques have their own time (drive", "(arm", "by up to 0.02 s", "[columns] t = ")
    log = read_log(write_clocks(tmp_path, kind, 0.01 * STEP), ARM)  # the twin: the same clock but for rounding
    assert_same_log(log, ARM_LOG)
    assert codes_above_notes(log) == {"places"}


def test_a_mapping_can_say_that_rows_belong_together(tmp_path: Path) -> None:
    late = write_clocks(tmp_path, "jsonl", 2.0 * STEP)
    assert_same_log(read_log(late, ARM, mapping={"columns": {"t": "arm.t"}}), ARM_LOG)
    chosen = {"q": "arm.q{}", "tau": "drive.tau{}"}
    assert_file_refused(late, "by up to 0.02 s", mapping={"columns": chosen})  # the twin: columns, but not the time
    assert read_log(late, ARM, mapping={"columns": chosen}, rate=100.0).tau is not None


def test_times_are_compared_in_seconds(tmp_path: Path) -> None:
    columns = {"arm/t": ARM_LOG.t} | {f"arm/q{k + 1}": ARM_LOG.q[:, k] for k in range(2)}
    assert ARM_LOG.tau is not None
    torques = {f"drive/tau{k + 1}": ARM_LOG.tau[:, k] for k in range(2)}
    same = format_csv(columns | {"drive/time_ms": 1e3 * ARM_LOG.t} | torques)
    assert codes_above_notes(read_log(write_file(tmp_path, same), ARM)) == {"places"}
    other = format_csv(columns | {"drive/time_us": 1e3 * ARM_LOG.t} | torques)
    assert_file_refused(write_file(tmp_path, other), "drive/time_us", "arm/t")  # the twin: another unit


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ({"q": "left/", "qd": "left/", "tau": "right/"}, "the torques are from 'right', but the positions from 'left'"),
        ({"q": "/a/joint_states/", "qd": "/a/joint_states/", "tau": "/b/joint_states/"}, "'b/joint_states'"),
        ({"q": "joint_states/", "qd": "leader/", "tau": "joint_states/"}, "the velocities are from 'leader'"),
        ({"q": "", "qd": "", "tau": "drive/"}, "the positions from the top level of the file"),
    ],
)
def test_quantities_of_several_places_are_reported(places: dict[str, str], text: str, tmp_path: Path) -> None:
    log = read_log(write_file(tmp_path, format_csv(name_columns(places))), ARM)
    assert_same_log(log, ARM_LOG)
    assert text in get_finding(log, "places").text
    one = read_log(write_file(tmp_path, format_csv(name_columns(dict.fromkeys(places, places["q"])))), ARM)
    assert codes_above_notes(one) == set()  # the twin: one place has everything


def test_the_place_of_the_positions_is_preferred(tmp_path: Path) -> None:
    both = name_columns(dict.fromkeys(NAMES, "left/"))
    both |= {f"right/joint{k + 1}/effort": ARM_LOG.t for k in range(2)}
    log = read_log(write_file(tmp_path, format_csv(both)), ARM)
    assert_same_log(log, ARM_LOG)
    assert codes_above_notes(log) == set()
    moved = {name.replace("left/joint1/p", "right/joint1/p").replace("left/joint2/p", "right/joint2/p"): values
             for name, values in both.items()}  # fmt: skip
    with pytest.raises(AssertionError):  # the twin: positions elsewhere bring the torques of the other place
        assert_same_log(read_log(write_file(tmp_path, format_csv(moved)), ARM), ARM_LOG)


@pytest.mark.parametrize(
    "names", [("position.joint{}", "effort.joint{}"), ("observation.state.joint{}", "observation.effort.joint{}")]
)
def test_a_quantity_in_the_scope_is_no_place(names: tuple[str, str], tmp_path: Path) -> None:
    columns = {"t": ARM_LOG.t}
    for name, values in zip(names, (ARM_LOG.q, ARM_LOG.tau), strict=True):
        assert values is not None
        columns |= {name.format(k + 1): values[:, k] for k in range(2)}
    assert codes_above_notes(read_log(write_file(tmp_path, format_csv(columns)), ARM)) == set()
    renamed = {name.replace("effort", "drive.effort"): values for name, values in columns.items()}
    assert codes_above_notes(read_log(write_file(tmp_path, format_csv(renamed)), ARM)) == {"places"}  # the twin

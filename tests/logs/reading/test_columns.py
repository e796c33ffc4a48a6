"""Columns are found by name, by joint, by number, or by their count; missing ones are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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

    words = ("(choose from: p1, p2, t)", "q, pos or position", "q_joint1", '[columns] q = "name{}"')
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

"""JSON lines: flat, nested and message-like objects give the log of the text file; damaged lines are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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

assert ARM_LOG.qd is not None
assert ARM_LOG.tau is not None
Q, QD, TAU = ARM_LOG.q.tolist(), ARM_LOG.qd.tolist(), ARM_LOG.tau.tolist()
T = ARM_LOG.t.tolist()


def make_message(k: int) -> dict[str, Any]:
    stamp = {"sec": 1_600_000_000 + int(T[k]), "nanosec": round(1e9 * (T[k] % 1.0))}
    names = list(ARM.actuated)[::-1]
    return {"header": {"stamp": stamp, "frame_id": ""}, "name": names, "position": Q[k][::-1], "velocity": QD[k][::-1],
            "effort": TAU[k][::-1]}  # fmt: skip


RECORDS: dict[str, Callable[[int], dict[str, Any]]] = {
    "flat": lambda k: {name: float(values[k]) for name, values in ARM_COLUMNS.items()} | {"mode": "run"},
    "lists": lambda k: {"t": T[k], "q": Q[k], "qd": QD[k], "tau": TAU[k], "images": [[1, 2]]},
    "nested": lambda k: {"time": T[k], "state": {"q": Q[k], "dq": QD[k], "tau_J": TAU[k]}, "cmd": {"q": [0, 0]}},
    "messages": make_message,
    "messages of a topic": lambda k: {"topic": "/joint_states", "log_time": k, "data": make_message(k)},
    "objects with names": lambda k: {
        "time": T[k],
        "joints": [
            {"name": joint, "position": Q[k][i], "velocity": QD[k][i], "effort": TAU[k][i]}
            for i, joint in reversed(list(enumerate(ARM.actuated)))
        ],
    },
    "objects without names": lambda k: {
        "time": T[k],
        "joints": [{"q": Q[k][i], "dq": QD[k][i], "tau": TAU[k][i]} for i in range(2)],
    },
}


def write_records(folder: Path, make: Callable[[int], Any], name: str = "log.jsonl") -> Path:
    return write_file(folder, "".join(json.dumps(make(k)) + "\n" for k in range(150)), name)


@pytest.mark.parametrize("records", RECORDS)
def test_objects_give_the_log_of_the_text_file(records: str, tmp_path: Path) -> None:
    expected = read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM)
    log = read_log(write_records(tmp_path, RECORDS[records]), ARM)
    np.testing.assert_allclose(log.t, expected.t, atol=2e-9 if "messages" in records else 0.0, rtol=0.0)
    assert np.array_equal(log.q, expected.q)
    assert log.qd is not None
    assert log.tau is not None
    assert np.array_equal(log.qd, QD)
    assert np.array_equal(log.tau, TAU)


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    """The twin: one list in another order."""
    log = read_log(write_records(tmp_path, lambda k: RECORDS["lists"](k) | {"q": Q[k][::-1]}), ARM)
    with pytest.raises(AssertionError):
        assert_same_log(log, ARM_LOG)


def test_missing_values_and_incomplete_lines(tmp_path: Path) -> None:
    record = RECORDS["lists"]
    log = read_log(write_records(tmp_path, lambda k: record(k) | ({"q": None} if k == 60 else {})), ARM)
    assert "missing" in codes_above_notes(log)
    assert len(log) == 149
    whole = write_records(tmp_path, record).read_text(encoding="utf-8")
    log = read_log(write_file(tmp_path, whole[:-40], "cut.ndjson"), ARM)
    assert codes_above_notes(log) == {"truncated"}
    assert np.array_equal(log.q, ARM_LOG.q[:149])
    lines = whole.splitlines(keepends=True)
    assert_file_refused(write_file(tmp_path, "".join([*lines[:5], "{oops\n", *lines[5:]]), "a.json"), "line 6")


def test_faulty_files_are_refused(tmp_path: Path) -> None:
    for content in (
        "[1, 2]\n",
        "[" * 100_000,
        '{"t": ' + "9" * 10_000 + "}\n",
        "\xff\xfe",
        "text\n",
        '{"t": {"a":' * 900,
    ):
        assert_file_refused(write_file(tmp_path, content, "log.jsonl"), "log.jsonl")
    assert_file_refused(write_file(tmp_path, '{"t": "' + "x" * (1 << 21) + '"}', "log.jsonl"), "longer than")
    assert_file_refused(write_file(tmp_path, "\n\n", "log.jsonl"), "no data")
    assert_same_log(read_log(write_records(tmp_path, RECORDS["lists"]), ARM), ARM_LOG)


def test_objects_with_another_layout_than_the_first(tmp_path: Path) -> None:
    """Keys in another order, whole numbers, further keys, and joints in another order are read all the same."""

    def vary(k: int) -> dict[str, Any]:
        record = make_message(k)
        if k % 3 == 1:
            record = dict(reversed(record.items())) | {"more": [1, 2]}
        if k % 3 == 2:
            record |= {key: record[key][::-1] for key in ("name", "position", "velocity", "effort")}
        return record

    log = read_log(write_records(tmp_path, vary), ARM)
    assert np.array_equal(log.q, Q)
    assert log.tau is not None
    assert np.array_equal(log.tau, TAU)


def test_one_object_with_all_samples_is_refused(tmp_path: Path) -> None:
    arrays = {"t": ARM_LOG.t.tolist(), "q": ARM_LOG.q.tolist()}
    words = ("line 1: 't' is a list of 150 times", "write one JSON object per line")
    assert_file_refused(write_file(tmp_path, json.dumps(arrays), "log.json"), *words)
    assert_file_refused(write_file(tmp_path, json.dumps({"run": arrays}), "log.json"), "'run.t' is a list")
    lines = [json.dumps({"t": t, "q": q.tolist()}) for t, q in zip(ARM_LOG.t, ARM_LOG.q, strict=True)]
    log = read_log(write_file(tmp_path, "\n".join(lines), "log.json"), ARM)  # the twin
    np.testing.assert_array_equal(log.q, ARM_LOG.q)


def test_a_repeated_key_is_refused(tmp_path: Path) -> None:
    lines = [f'{{"t": {t}, "q": {q.tolist()}, "q": [0, 0]}}' for t, q in zip(ARM_LOG.t, ARM_LOG.q, strict=True)]
    path = write_file(tmp_path, "\n".join(lines), "log.jsonl")
    assert_file_refused(path, "line 1: the key 'q' is there more than once")
    nested = path.read_text().replace('"q": [0, 0]', '"command": {"q": [0, 0]}')  # the twin: another object's key
    np.testing.assert_array_equal(read_log(write_file(tmp_path, nested, "log.jsonl"), ARM).q, ARM_LOG.q)

"""The output of ``ros2 topic echo --csv``: joints by name, incomplete lines, other layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    codes_above_notes,
    format_csv,
    write_file,
)
from ytheta.logs.log import Log
from ytheta.logs.reading.read import read_log

assert ARM_LOG.qd is not None
assert ARM_LOG.tau is not None
NAMES = ["gripper", *reversed(ARM.actuated)]


def format_echo(quantities: list[np.ndarray], names: list[str], frame: str = "base") -> str:
    lines = []
    for k, t in enumerate(ARM_LOG.t):
        nanoseconds = 1_600_000_000_000_000_000 + round(1e9 * t)
        fields = [str(nanoseconds // 10**9), str(nanoseconds % 10**9), frame, *names]
        for values in quantities:
            row = dict(zip(ARM.actuated, values[k].tolist(), strict=True))
            fields += [repr(row.get(name, 0.5)) for name in names]
        lines.append(",".join(fields))
    return "\n".join(lines) + "\n"


ALL = [ARM_LOG.q, ARM_LOG.qd, ARM_LOG.tau]


def read_echo(folder: Path, text: str) -> Log:
    return read_log(write_file(folder, text), ARM)


@pytest.mark.parametrize("frame", ["", "base"])
def test_echoed_messages_give_the_log_of_the_text_file(frame: str, tmp_path: Path) -> None:
    expected = read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM)
    log = read_echo(tmp_path, format_echo(ALL, NAMES, frame))
    np.testing.assert_allclose(log.t, expected.t, atol=2e-9)
    assert np.array_equal(log.q, expected.q)
    assert np.array_equal(log.tau, ARM_LOG.tau)  # type: ignore[arg-type]
    assert codes_above_notes(log) == set()
    assert log.origin is not None
    assert log.origin.ignored_joints == ("gripper",)
    swapped = read_echo(
        tmp_path, format_echo(ALL, ["gripper", *ARM.actuated], frame).replace("joint1,joint2", "joint2,joint1")
    )
    assert not np.array_equal(swapped.q, expected.q)  # the twin


def test_echoed_joints_may_have_another_prefix(tmp_path: Path) -> None:
    text = format_echo(ALL, NAMES)
    for joint in ARM.actuated:
        text = text.replace(joint, f"left_{joint}")
    log = read_echo(tmp_path, text)
    assert np.array_equal(log.q, ARM_LOG.q)
    assert any("left_joint1 is joint1" in finding.text for finding in log.findings)


def test_positions_only(tmp_path: Path) -> None:
    log = read_echo(tmp_path, format_echo(ALL[:1], NAMES))
    assert log.qd is None
    assert codes_above_notes(log) == {"torque"}


def test_faulty_lines(tmp_path: Path) -> None:
    text = format_echo(ALL, NAMES)
    log = read_echo(tmp_path, text[:-30])
    assert codes_above_notes(log) == {"truncated"}
    assert len(log) == 149
    lines = text.splitlines(keepends=True)
    cut = "".join([*lines[:9], lines[9][:60] + "\n", *lines[10:]])
    assert_file_refused(write_file(tmp_path, cut), "line 10", "same joints and fields")
    renamed = "".join([*lines[:9], lines[9].replace("joint2", "elbow"), *lines[10:]])
    assert_file_refused(write_file(tmp_path, renamed), "line 10")
    endless = "".join(["9" * 400 + lines[0][lines[0].index(",") :], *lines[1:]])
    assert_file_refused(write_file(tmp_path, endless), "line 1")
    assert_file_refused(write_file(tmp_path, format_echo(ALL[:2], NAMES)), "ros2 topic echo", "12 fields", "15")
    assert_file_refused(
        write_file(tmp_path, format_echo(ALL, ["joint2", "gripper"])), "joint1 is missing", "--lock joint1=0"
    )


def test_a_warning_before_the_first_message_is_skipped(tmp_path: Path) -> None:
    text = format_echo(ALL, NAMES)
    warning = "WARNING: topic [/joint_states] does not appear to be published yet\n"
    log = read_echo(tmp_path, warning + text)
    assert np.array_equal(log.q, read_echo(tmp_path, text).q)
    lines = text.splitlines(keepends=True)
    late = "".join([warning, *lines[:9], warning, *lines[9:]])  # the twin: within the data
    assert_file_refused(write_file(tmp_path, late), "line 11", "same joints and fields")

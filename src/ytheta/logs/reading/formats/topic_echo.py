"""Reading the output of ``ros2 topic echo --csv`` for JointState messages.

It has no header. Each line contains seconds and nanoseconds of the stamp, the frame, the names of the joints, then the
positions, velocities and efforts of all joints, or only some of the three. Before the first message, warnings of the
command may have been written to the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.files.panics import catch_panics
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.formats.csv_dialect import parse_number, split_fields
from ytheta.logs.reading.joint_columns import describe_missing_joints, spell_joints
from ytheta.logs.reading.table import ColumnTable

WARNING_START = "WARNING: topic "  # of a line about a topic that is not published yet
FIRST_NAME = 3  # after seconds, nanoseconds and frame. Fixed by: ros2 topic echo.
QUANTITIES = ("q", "qd", "tau")


def find_echoed_names(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the joint names in lines of this format; an empty tuple if they have another one."""
    skip = count_warnings(lines)
    rows = [split_fields(line, ",") for line in lines[skip : skip + 2] if line.strip()]
    found = [_find_names(row) for row in rows]
    return found[0] if found and all(names == found[0] for names in found) else ()


def count_warnings(lines: Sequence[str]) -> int:
    """Return the number of lines before the first message."""
    return next((k for k, line in enumerate(lines) if not line.startswith(WARNING_START)), len(lines))


def read_topic_echo(
    path: Path, lines: Sequence[str], names: tuple[str, ...], joints: Sequence[str], locked: Sequence[str] = ()
) -> ColumnTable:
    """Return the table of a file whose lines contain these joint names; ``lines`` are the first ones.

    Of the joints that the robot has ``locked``, the positions are columns too.
    """
    import polars as pl

    skip = count_warnings(lines)
    count = len(split_fields(lines[skip], ","))
    n = len(names)
    blocks, rest = divmod(count - FIRST_NAME - n, n)
    if rest or blocks not in (1, 3):
        raise InputError(
            f"{path} seems to be the output of ros2 topic echo --csv with {n} joints, but a line has {count} fields, "
            f"not {FIRST_NAME + 4 * n} (positions, velocities, efforts) or {FIRST_NAME + 2 * n} (positions only); "
            "write a header, or record a bag"
        )
    spelled = spell_joints(names, joints)
    if missing := [joint for joint in joints if joint not in spelled]:
        raise InputError(f"{path} contains the joints {', '.join(names)}; {describe_missing_joints(missing, joints)}")
    numeric = [0, 1, *range(FIRST_NAME + n, count)]
    try:
        with catch_panics():
            frame = pl.read_csv(
                path,
                has_header=False,
                skip_lines=skip,
                schema={str(k): pl.Float64 if k in numeric else pl.String for k in range(count)},
                ignore_errors=True,
                missing_columns="insert",
                truncate_ragged_lines=True,
                glob=False,
                encoding="utf8-lossy",
            )
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read as a text table: {reason}; record it again") from None
    findings: tuple[Finding, ...] = ()
    expected = [pl.col(str(FIRST_NAME + k)) == pl.lit(name) for k, name in enumerate(names)]
    complete = [pl.col(str(k)).is_not_null() for k in numeric]
    complete += [pl.col(str(k)).is_finite() for k in (0, 1)]  # seconds and nanoseconds may have too many digits
    good = frame.select(pl.all_horizontal([*expected, *complete]).fill_null(value=False)).to_series().to_numpy()
    bad = np.flatnonzero(~good)
    if len(bad):
        if bad[0] != len(frame) - 1:
            raise InputError(
                f"{path}, line {skip + bad[0] + 1}: the line does not contain the same joints and fields as the first; "
                "correct or remove it"
            )
        findings = (_report_truncated(skip + len(frame)),)
        frame = frame.head(len(frame) - 1)
    values = {k: frame[str(k)].to_numpy() for k in numeric}
    columns = {"t": (values[0] - values[0][0]) + 1e-9 * values[1]} if len(frame) else {}
    for block, quantity in enumerate(QUANTITIES[:blocks]):
        first = FIRST_NAME + n * (1 + block)
        columns |= {f"{quantity}_{joint}": values[first + spelled.index(joint)] for joint in joints}
    resting = [joint for joint in locked if joint in spelled]
    columns |= {f"q_{joint}": values[FIRST_NAME + n + spelled.index(joint)] for joint in resting}
    table = ColumnTable.of(columns, len(frame), kind="output of ros2 topic echo --csv")
    return replace(
        table,
        findings=findings,
        message_type="sensor_msgs/msg/JointState",
        ignored_joints=tuple(name for name in spelled if name not in joints and name not in resting),
        spellings={joint: name for joint, name in zip(spelled, names, strict=True) if joint != name},
    )


def _find_names(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the joint names of one line; an empty tuple if it has another format."""
    if len(fields) < FIRST_NAME + 2 or not all(field.strip().isdigit() for field in fields[:2]):
        return ()
    names: list[str] = []
    for field in fields[FIRST_NAME:]:
        if parse_number(field) is not None:
            break
        names.append(field)
    values = fields[FIRST_NAME + len(names) :]
    is_numeric = bool(values) and all(parse_number(field) is not None for field in values)
    return tuple(names) if names and is_numeric and len(set(names)) == len(names) else ()


def _report_truncated(number: int) -> Finding:
    return Finding(
        LogFindingCode.TRUNCATED,
        Severity.REPAIRED,
        f"the last line ({number}) is incomplete",
        remedy="it was dropped",
        fields={"line": number},
    )

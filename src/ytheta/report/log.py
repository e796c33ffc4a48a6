"""A log for a terminal and as plain data; where its columns come from and how it was prepared, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.findings import Severity
from ytheta.report.numbers import NO_VALUE, format_number, format_plain, replace_nonfinite
from ytheta.report.terminal import TerminalColumn, fit_table, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from rich.console import Console

    from ytheta.logs.log import ColumnOrigin, Log, LogOrigin
    from ytheta.logs.preparing.preparation import PreparationSettings

HEADINGS = {"q": "position q", "qd": "velocity qd", "tau": "torque tau"}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.REPAIRED: "yellow", Severity.NOTE: "dim"}


def print_log(console: Console, log: Log, *, verbose: bool = False) -> None:
    """Print size and sampling, the range of every quantity, and the findings; notes only with ``verbose``."""
    data = summarize_log(log)
    segments = f" in {len(log.segments)} segments" if len(log.segments) > 1 else ""
    size = f"{log.seconds:.4g} s, {len(log)} samples at {log.rate:.4g} Hz{segments}"
    console.print(safe_text(f"{Path(log.source).name or 'log'}: {size}"))
    columns = [TerminalColumn("joint", safe_texts(log.joints), align_left=True)]
    for quantity, heading in HEADINGS.items():
        ranges = data["ranges"][quantity]
        cells = (
            [NO_VALUE] * len(log.joints)
            if ranges is None
            else [_format_range(*pair) for pair in zip(*ranges, strict=True)]
        )
        columns.append(TerminalColumn(heading, safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))
    for finding in log.findings:
        if verbose or finding.severity is not Severity.NOTE:
            console.print(safe_text(f"{finding.severity.value}: {finding.text}", COLOURS[finding.severity]))


def _format_range(lowest: float | None, highest: float | None) -> str:
    """Return a range of values; the unit of a joint is rad or m."""
    if lowest is None or highest is None:
        return NO_VALUE
    return f"{format_plain(lowest)} … {format_plain(highest)}"


# A log as plain data.


def summarize_log(log: Log) -> dict[str, Any]:
    """Return size, sampling, the range of every quantity of every joint, and the findings."""
    quantities = {"q": log.q, "qd": log.qd, "tau": log.tau}
    data: dict[str, Any] = replace_nonfinite(
        {
            "log": log.source,
            "joints": list(log.joints),
            "samples": len(log),
            "seconds": log.seconds,
            "rate": log.rate,
            "start": float(log.t[0]) if len(log) else None,
            "segments": [list(segment) for segment in log.segments],
            "ranges": {
                name: None
                if values is None or not len(log)
                else [values.min(axis=0).tolist(), values.max(axis=0).tolist()]
                for name, values in quantities.items()
            },
        }
    )
    return data | {"findings": [finding.data for finding in log.findings]}


# Where the columns of logs come from and how logs are prepared, in words: for the terminal and for pages.


QUANTITIES = {"t": "time", "q": "position", "qd": "velocity", "tau": "torque"}
MAX_LISTED_COLUMNS = 8  # unused columns in one line


def describe_origin(origin: ColumnOrigin) -> tuple[str, str, str, str, str]:
    """Return quantity, joint, column, unit and conversion of a column."""
    column = origin.column or "from the sampling rate"
    return QUANTITIES[origin.quantity], origin.joint, column, origin.unit or "other", describe_conversion(origin)


def describe_conversion(origin: ColumnOrigin) -> str:
    """Return the conversion to SI units, such as "× 14.9 Nm/A, sign reversed"; empty if there is none."""
    parts = []
    if origin.factor != 1.0:
        parts.append(f"× {origin.factor:.6g}")
    if origin.gain is not None:
        parts.append(f"× {origin.gain:.6g} Nm/A")
    if origin.sign < 0.0:
        parts.append("sign reversed")
    if origin.offset:
        parts.append(f"{'+' if origin.offset > 0.0 else '−'} {abs(origin.offset):.6g}")
    return ", ".join(parts)


def get_si_unit(origin: ColumnOrigin, *, prismatic: bool) -> str:
    """Return the unit of a quantity in the log."""
    units = {"q": "m", "qd": "m/s", "tau": "N"} if prismatic else {"q": "rad", "qd": "rad/s", "tau": "Nm"}
    return units.get(origin.quantity, "s")


def describe_source(log: Log) -> str:
    """Return format, topic and message type, length and sampling of a log in one line."""
    origin = log.origin
    parts = [] if origin is None else [origin.format]
    if origin is not None and origin.topic:
        parts.append(f"topic {origin.topic}")
    if origin is not None and origin.message_type:
        parts.append(origin.message_type)
    segments = f" in {len(log.segments)} segments" if len(log.segments) > 1 else ""
    rate = f" at {log.rate:.4g} Hz" if log.rate > 0.0 else ""  # timestamps of a refused log may stand still
    size = f"{log.seconds:.4g} s, {len(log)} samples{rate}{segments}"
    return f"{Path(log.source).name or 'log'}: {', '.join([*parts, size])}"


def list_left_out(log: Log) -> list[str]:
    """Return lines about rows, joints and columns of the file that are not part of the log."""
    origin = log.origin
    if origin is None:
        return []
    lines = []
    chosen = origin.stop - origin.first
    if rows := origin.describe_rows():
        lines.append(f"{rows} were chosen")
    if len(log) != chosen:
        lines.append(f"{chosen - len(log)} of {chosen} rows were dropped by the checks")
    if origin.motor_matrix:
        lines.append("the columns are those of motors; a matrix turns them into joint coordinates")
    if origin.ignored_joints:
        lines.append(f"recorded joints that the robot does not have: {', '.join(origin.ignored_joints)}")
    if origin.unused:
        lines.append(f"columns not used: {_shorten_list(origin.unused)}")
    return lines


def list_origin_rows(origins: Sequence[tuple[str, LogOrigin]]) -> list[tuple[str, ...]]:
    """Return log, quantity, joint, column, unit and conversion of each column of several logs."""
    return [
        (Path(source).name or "log", *describe_origin(column))
        for source, origin in origins
        for column in origin.columns
    ]


def _shorten_list(names: Sequence[str]) -> str:
    shown = ", ".join(name[:40] or "''" for name in names[:MAX_LISTED_COLUMNS])
    more = len(names) - MAX_LISTED_COLUMNS
    return f"{shown} and {more} more" if more > 0 else shown


def describe_preparation(settings: PreparationSettings, joints: tuple[str, ...]) -> list[str]:
    """Return the cells of a row that says how a log was prepared."""
    return [
        format_cutoff(settings),
        settings.derivative,
        _velocity(settings, joints),
        "all" if settings.decimate == 1 else f"1 of {settings.decimate}",
        f"{_format_setting(settings.trim)} s",
        "none" if settings.average_periods is None else f"over {_format_setting(settings.average_periods)} s",
    ]


def format_cutoff(settings: PreparationSettings) -> str:
    return f"{_format_setting(settings.cutoff)} Hz"


def _format_setting(value: float | str) -> str:
    return value if isinstance(value, str) else format_number(float(value))


def _velocity(settings: PreparationSettings, joints: tuple[str, ...]) -> str:
    """Return a text that says which velocities were recorded; the others were differentiated from positions."""
    if isinstance(settings.velocity, str):
        return settings.velocity
    recorded = [name for name, trusted in zip(joints, settings.velocity, strict=True) if trusted]
    if len(recorded) in (0, len(joints)):
        return "recorded" if recorded else "from position"
    return f"recorded for {', '.join(recorded)}"

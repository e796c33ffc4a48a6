"""Checked logs for a terminal, as the output of ``ytheta check --json``, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.findings import Severity
from ytheta.plots import Axis, Line
from ytheta.report.figure import line_plot
from ytheta.report.html_page import render_page, write_page
from ytheta.report.log import COLOURS, describe_origin, describe_source, get_si_unit, list_left_out
from ytheta.report.numbers import format_plain, replace_nonfinite
from ytheta.report.terminal import TerminalColumn, fit_table, print_table, safe_text, safe_texts
from ytheta.shapes import PerSample

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console

    from ytheta.logs.check import CheckedLog, LogCheck

BARS = "▁▂▃▄▅▆▇█"
PICTURE_WIDTH, MIN_PICTURE_WIDTH = 40, 18  # characters
COLUMN_GAP = 4  # characters between columns
HEADINGS = ("quantity", "joint", "column", "unit", "conversion", "range", "", "plausibility")


def print_log_check(console: Console, check: LogCheck, *, verbose: bool = False) -> None:
    """Print the columns of every log, what was left out, and the findings; notes only with ``verbose``."""
    for k, checked in enumerate(check.logs):
        if k:
            console.print()
        _print_log(console, check, checked, verbose=verbose)
    for k, unreadable in enumerate(check.unreadable):
        if k or check.logs:
            console.print()
        console.print(safe_text(unreadable.source))
        console.print(safe_text(f"refused: {unreadable.refusal}", "red"))


def _print_log(console: Console, check: LogCheck, checked: CheckedLog, *, verbose: bool) -> None:
    log = checked.log
    console.print(safe_text(describe_source(log)))
    rows = list_chosen_columns(check, checked)
    columns = []
    for k, heading in enumerate(HEADINGS):
        cells = [row[k] for row in rows]
        styles = ["" if row[6] == "ok" else "yellow" for row in rows] if k >= 6 else [""] * len(rows)
        if any(cells):
            texts = [safe_text(cell, style) for cell, style in zip(cells, styles, strict=True)]
            priority = _choose_drop_priority(heading, rows)
            columns.append(TerminalColumn(heading, texts, align_left=heading != "range", drop_priority=priority))
    fitted = fit_table(columns, console.width)
    print_table(console, fitted)
    for row in rows if HEADINGS[-1] in fitted.left_out else ():
        if row[6] != "ok":
            console.print(safe_text(f"{row[6]}: {row[0]} {row[1]} ({row[2]}): {row[7]}", "yellow"))
    _print_motion(console, checked)
    for line in list_left_out(log):
        console.print(safe_text(line))
    for finding in log.findings:
        if verbose or finding.severity is not Severity.NOTE:
            console.print(safe_text(f"{finding.severity.value}: {finding.text}", COLOURS[finding.severity]))
    if checked.refusal:
        console.print(safe_text(f"refused: {checked.refusal}", "red"))


def _choose_drop_priority(heading: str, rows: Sequence[tuple[str, ...]]) -> int:
    """Return what a narrow terminal leaves out first: joints that are in the names of columns, then the remarks.

    Remarks about doubtful columns are then printed below the table.
    """
    if heading == "joint":
        return 2 * all(row[1].casefold() in row[2].casefold() for row in rows)
    return 1 if heading == HEADINGS[-1] else 0


def _print_motion(console: Console, checked: CheckedLog) -> None:
    """Print a small picture of positions and torques of each joint, as wide as the names leave room for."""
    log = checked.log
    pictured = 1 if log.tau is None else 2
    longest = max(len(joint) for joint in log.joints)
    width = min(PICTURE_WIDTH, max(MIN_PICTURE_WIDTH, (console.width - longest) // pictured - COLUMN_GAP))
    columns = [TerminalColumn("joint", safe_texts(log.joints), align_left=True)]
    for heading, values in (("position over time", log.q), ("torque over time", log.tau)):
        if values is not None:
            pictures = [draw_line(values[:, k], width) for k in range(len(log.joints))]
            columns.append(TerminalColumn(heading, safe_texts(pictures), align_left=True))
    print_table(console, fit_table(columns, console.width))


def draw_line(values: PerSample, width: int = PICTURE_WIDTH) -> str:
    """Return a small picture of a signal: one bar per interval of rows, from its minimum to its maximum."""
    count = min(width, len(values))
    means = np.array([float(np.mean(piece)) for piece in np.array_split(values, count)]) if count else np.empty(0)
    finite = means[np.isfinite(means)]
    if not len(finite):
        return ""
    low, height = float(finite.min()), float(finite.max() - finite.min())
    levels = np.clip((means - low) / (height or 1.0) * len(BARS), 0, len(BARS) - 1)
    return "".join(BARS[int(level)] if np.isfinite(level) else " " for level in levels)


# Rows of the table about the columns of checked logs.


def list_chosen_columns(check: LogCheck, checked: CheckedLog) -> list[tuple[str, ...]]:
    """Return quantity, joint, column, unit, conversion, range, plausibility and remark of each column.

    The range has a unit of its own if the column was converted to another one.
    """
    rows: list[tuple[str, ...]] = []
    for column in checked.columns:
        origin = column.origin
        unit = get_si_unit(origin, prismatic=origin.joint in check.robot.prismatic_joints)
        values = f"{format_plain(column.lowest)} … {format_plain(column.highest)}"
        values = values if unit == origin.unit else f"{values} {unit}"
        judgement = "ok" if column.is_plausible else "doubtful"
        rows.append((*describe_origin(origin), values, judgement, column.remark))
    return rows


# Checked logs as plain data.


def summarize_log_check(check: LogCheck) -> dict[str, Any]:
    """Return columns, rows, plausibility and findings of every log."""
    return {
        "robot": check.robot.name,
        "joints": list(check.robot.actuated),
        "accepted": check.accepted,
        "logs": [_summarize_log(checked) for checked in check.logs],
        "unreadable": [{"log": log.source, "refusal": log.refusal} for log in check.unreadable],
    }


def _summarize_log(checked: CheckedLog) -> dict[str, Any]:
    log, origin = checked.log, checked.log.origin
    columns = [
        asdict(column.origin)
        | {
            "lowest": column.lowest,
            "highest": column.highest,
            "plausible": column.is_plausible,
            "remark": column.remark,
        }
        for column in checked.columns
    ]
    data: dict[str, Any] = replace_nonfinite(
        {
            "log": log.source,
            "accepted": not checked.refusal,
            "refusal": checked.refusal,
            "format": origin.format if origin else "",
            "topic": origin.topic if origin else "",
            "message_type": origin.message_type if origin else "",
            "rows": {
                "recorded": origin.rows if origin else len(log),
                "first": origin.first if origin else 0,
                "stop": origin.stop if origin else len(log),
                "used": len(log),
            },
            "seconds": log.seconds,
            "rate": log.rate,
            "segments": len(log.segments),
            "columns": columns,
            "unused_columns": list(origin.unused) if origin else [],
            "ignored_joints": list(origin.ignored_joints) if origin else [],
        }
    )
    return data | {"findings": [finding.data for finding in log.findings]}


# The report of checked logs: a self-contained HTML file.


def write_log_check_report(check: LogCheck, path: str | Path) -> Path:
    """Write the report of checked logs; the file is written atomically."""
    return write_page(path, lambda: log_check_html(check))


def log_check_html(check: LogCheck) -> str:
    """Return the page as text."""
    content = {
        "check": check,
        "summary": summarize_log_check(check),
        "figures": [list(plot_log(checked)) for checked in check.logs],
    }
    functions = (describe_source, list_chosen_columns, list_left_out)
    return render_page("log_check.html", content, functions)


# Plots of checked logs: positions, velocities and torques of all joints over time.


AXES = {
    "positions": ("position", "rad or m"),
    "velocities": ("velocity", "rad/s or m/s"),
    "torques": ("torque", "Nm or N"),
}


def make_log_check_figures(check: LogCheck) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    return {
        f"{name} of {Path(checked.log.source).name or 'log'} ({k + 1})": figure
        for k, checked in enumerate(check.logs)
        for name, figure in plot_log(checked)
    }


def plot_log(checked: CheckedLog) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each recorded quantity, with one line per joint; lines have gaps where the log has gaps."""
    log = checked.log
    seconds = np.where(np.isfinite(log.t), log.t, np.nan) - float(log.t[0])
    x_title = f"time since {log.t[0]:.10g} s / s" if log.t[0] else "time / s"
    breaks = [start for start, _ in log.segments if start > 0]
    for name, values in (("positions", log.q), ("velocities", log.qd), ("torques", log.tau)):
        if values is None:
            continue
        shown = np.where(np.isfinite(values), values, np.nan)
        shown[breaks] = np.nan
        lines = [Line(joint, shown[:, k]) for k, joint in enumerate(log.joints)]
        yield name, line_plot(seconds, lines, [Axis(*AXES[name])], x_title=x_title)

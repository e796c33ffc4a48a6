"""Checked logs for a terminal: a table of columns, a picture of the motion, what was left out, and findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from ytheta.findings import Severity
from ytheta.report.log.columns import describe_source, list_left_out
from ytheta.report.log.text import COLOURS
from ytheta.report.log_check.tables import list_chosen_columns
from ytheta.report.terminal import Column, fit_table, print_table, safe_text, safe_texts
from ytheta.shapes import PerSample

if TYPE_CHECKING:
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
            columns.append(Column(heading, texts, align_left=heading != "range", drop_priority=priority))
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
    columns = [Column("joint", safe_texts(log.joints), align_left=True)]
    for heading, values in (("position over time", log.q), ("torque over time", log.tau)):
        if values is not None:
            pictures = [draw_line(values[:, k], width) for k in range(len(log.joints))]
            columns.append(Column(heading, safe_texts(pictures), align_left=True))
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

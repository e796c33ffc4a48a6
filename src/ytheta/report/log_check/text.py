"""Checked logs for a terminal: a table of columns, a picture of the motion, what was left out, and findings."""

from __future__ import annotations

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
    from ytheta.logs.check_logs import CheckedLog, LogCheck

BARS = "▁▂▃▄▅▆▇█"
PICTURE_WIDTH = 40  # characters
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
            columns.append(Column(heading, texts, align_left=heading != "range"))
    print_table(console, fit_table(columns, console.width))
    _print_motion(console, checked)
    for line in list_left_out(log):
        console.print(safe_text(line))
    for finding in log.findings:
        if verbose or finding.severity is not Severity.NOTE:
            console.print(safe_text(f"{finding.severity.value}: {finding.text}", COLOURS[finding.severity]))
    if checked.refusal:
        console.print(safe_text(f"refused: {checked.refusal}", "red"))


def _print_motion(console: Console, checked: CheckedLog) -> None:
    """Print a small picture of positions and torques of each joint."""
    log = checked.log
    columns = [Column("joint", safe_texts(log.joints), align_left=True)]
    for heading, values in (("position over time", log.q), ("torque over time", log.tau)):
        if values is not None:
            pictures = [draw_line(values[:, k]) for k in range(len(log.joints))]
            columns.append(Column(heading, safe_texts(pictures), align_left=True))
    print_table(console, fit_table(columns, console.width))


def draw_line(values: PerSample) -> str:
    """Return a small picture of a signal: one bar per interval of rows, from its minimum to its maximum."""
    count = min(PICTURE_WIDTH, len(values))
    means = np.array([float(np.mean(piece)) for piece in np.array_split(values, count)]) if count else np.empty(0)
    finite = means[np.isfinite(means)]
    if not len(finite):
        return ""
    low, width = float(finite.min()), float(finite.max() - finite.min())
    levels = np.clip((means - low) / (width or 1.0) * len(BARS), 0, len(BARS) - 1)
    return "".join(BARS[int(level)] if np.isfinite(level) else " " for level in levels)

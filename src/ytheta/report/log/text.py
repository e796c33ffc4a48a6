"""A log for a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ytheta.findings import Severity
from ytheta.report.log.summary import summarize_log
from ytheta.report.numbers import NO_VALUE, format_plain
from ytheta.report.terminal import Column, fit_table, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.logs.log import Log

HEADINGS = {"q": "position q", "qd": "velocity qd", "tau": "torque tau"}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.REPAIRED: "yellow", Severity.NOTE: "dim"}


def print_log(console: Console, log: Log, *, verbose: bool = False) -> None:
    """Print size and sampling, the range of every quantity, and the findings; notes only with ``verbose``."""
    data = summarize_log(log)
    segments = f" in {len(log.segments)} segments" if len(log.segments) > 1 else ""
    size = f"{log.seconds:.4g} s, {len(log)} samples at {log.rate:.4g} Hz{segments}"
    console.print(safe_text(f"{Path(log.source).name or 'log'}: {size}"))
    columns = [Column("joint", safe_texts(log.joints), align_left=True)]
    for quantity, heading in HEADINGS.items():
        ranges = data["ranges"][quantity]
        cells = (
            [NO_VALUE] * len(log.joints)
            if ranges is None
            else [_format_range(*pair) for pair in zip(*ranges, strict=True)]
        )
        columns.append(Column(heading, safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))
    for finding in log.findings:
        if verbose or finding.severity is not Severity.NOTE:
            console.print(safe_text(f"{finding.severity.value}: {finding.text}", COLOURS[finding.severity]))


def _format_range(lowest: float | None, highest: float | None) -> str:
    """Return a range of values; the unit of a joint is rad or m."""
    if lowest is None or highest is None:
        return NO_VALUE
    return f"{format_plain(lowest)} … {format_plain(highest)}"

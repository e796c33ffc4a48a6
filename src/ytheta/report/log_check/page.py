"""The report of checked logs: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import render_page, write_page
from ytheta.report.log.columns import describe_source, list_left_out
from ytheta.report.log_check.plots import plot_log
from ytheta.report.log_check.summary import summarize_log_check
from ytheta.report.log_check.tables import list_chosen_columns

if TYPE_CHECKING:
    from ytheta.logs.check import LogCheck


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

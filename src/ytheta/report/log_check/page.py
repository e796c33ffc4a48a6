"""The report of checked logs: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.identification.tables import sort_findings
from ytheta.report.log import columns
from ytheta.report.log_check import tables
from ytheta.report.log_check.plots import plot_log
from ytheta.report.log_check.summary import summarize_log_check

if TYPE_CHECKING:
    from ytheta.logs.check_logs import LogCheck

check_installed()


def write_log_check_report(check: LogCheck, path: str | Path) -> Path:
    """Write the report of checked logs; the file is written atomically."""
    return write_page(path, lambda: log_check_html(check))


def log_check_html(check: LogCheck) -> str:
    """Return the page as text."""
    content = {
        "check": check,
        "columns": columns,
        "tables": tables,
        "summary": summarize_log_check(check),
        "figures": [list(plot_log(checked)) for checked in check.logs],
        "sort_findings": sort_findings,
    }
    return render_page("log_check.html", content)

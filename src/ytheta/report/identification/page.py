"""The report of an identification: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.identification import explanations, statistics, tables
from ytheta.report.identification.friction_plots import plot_friction
from ytheta.report.identification.plots import plot_correlations, plot_torques
from ytheta.report.identification.summary import summarize_identification
from ytheta.report.log.columns import list_origin_rows

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

check_installed()


def write_identification_report(identification: Identification, path: str | Path) -> Path:
    """Write the report of an identification; the file is written atomically."""
    return write_page(path, lambda: identification_html(identification))


def identification_html(identification: Identification) -> str:
    """Return the page as text."""
    content = {
        "identification": identification,
        "tables": tables,
        "statistics": statistics,
        "explanations": explanations,
        "summary": summarize_identification(identification),
        "torque_figures": plot_torques(identification),
        "friction_figures": list(plot_friction(identification)),
        "correlation": plot_correlations(identification),
        "column_rows": list_origin_rows(identification.origin.named_log_origins),
    }
    return render_page("identification.html", content)

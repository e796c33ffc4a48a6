"""The report of a comparison: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.comparison import tables
from ytheta.report.comparison.plots import plot_changes, plot_friction, plot_parameters, plot_torques
from ytheta.report.comparison.summary import summarize_comparison
from ytheta.report.html_page import check_installed, render_page, write_page

if TYPE_CHECKING:
    from ytheta.comparison.compare import Comparison

check_installed()


def write_comparison_report(comparison: Comparison, path: str | Path) -> Path:
    """Write the report of a comparison; the file is written atomically."""
    return write_page(path, lambda: comparison_html(comparison))


def comparison_html(comparison: Comparison) -> str:
    """Return the page as text."""
    content = {
        "comparison": comparison,
        "tables": tables,
        "summary": summarize_comparison(comparison),
        "parameter_figures": list(plot_parameters(comparison)),
        "changes": plot_changes(comparison),
        "friction_figures": list(plot_friction(comparison)),
        "torque_figures": list(plot_torques(comparison)),
    }
    return render_page("comparison.html", content)

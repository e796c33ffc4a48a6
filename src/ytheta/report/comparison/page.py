"""The report of a comparison: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.comparison.plots import plot_changes, plot_friction, plot_parameters, plot_torques
from ytheta.report.comparison.summary import summarize_comparison
from ytheta.report.comparison.tables import (
    BODIES_NOTE,
    USED_NOTE,
    describe_differences,
    list_changes,
    list_friction_rows,
    list_models,
    list_parameter_rows,
    list_torque_rows,
    list_used_shares,
    name_log,
)
from ytheta.report.html_page import render_page, write_page

if TYPE_CHECKING:
    from ytheta.comparison.compare import Comparison


def write_comparison_report(comparison: Comparison, path: str | Path) -> Path:
    """Write the report of a comparison; the file is written atomically."""
    return write_page(path, lambda: comparison_html(comparison))


def comparison_html(comparison: Comparison) -> str:
    """Return the page as text."""
    content = {
        "comparison": comparison,
        "BODIES_NOTE": BODIES_NOTE,
        "USED_NOTE": USED_NOTE,
        "summary": summarize_comparison(comparison),
        "parameter_figures": list(plot_parameters(comparison)),
        "changes": plot_changes(comparison),
        "friction_figures": list(plot_friction(comparison)),
        "torque_figures": list(plot_torques(comparison)),
    }
    functions = (
        *(describe_differences, list_changes, list_friction_rows, list_models),
        *(list_parameter_rows, list_torque_rows, list_used_shares, name_log),
    )
    return render_page("comparison.html", content, functions)

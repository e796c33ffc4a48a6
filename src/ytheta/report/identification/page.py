"""The report of an identification: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.identification import explanations, headline, motion_plots, statistics, tables
from ytheta.report.identification.friction_plots import plot_friction
from ytheta.report.identification.parameter_plots import plot_origins, plot_values
from ytheta.report.identification.plots import plot_correlations, plot_torques
from ytheta.report.identification.residual_plots import plot_residuals
from ytheta.report.identification.robot_drawing import draw_robot
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
        "headline": headline,
        "motion": motion_plots,
        "summary": summarize_identification(identification),
        "torque_figures": plot_torques(identification),
        "friction_figures": list(plot_friction(identification)),
        "residual_figures": list(plot_residuals(identification)),
        "motion_figures": list(motion_plots.plot_motion(identification)),
        "value_figures": list(plot_values(identification)),
        "origin_figures": list(plot_origins(identification)),
        "drawing": draw_robot(identification),
        "correlation": plot_correlations(identification),
        "column_rows": list_origin_rows(identification.origin.named_log_origins),
    }
    return render_page("identification.html", content)

"""The report of an identification: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import render_page, write_page
from ytheta.report.identification.explanations import list_explanations
from ytheta.report.identification.friction_plots import plot_friction
from ytheta.report.identification.headline import describe_change, describe_logs, list_error_bars
from ytheta.report.identification.motion_plots import plot_motion
from ytheta.report.identification.parameter_plots import plot_origins, plot_values
from ytheta.report.identification.plots import plot_correlations, plot_torques
from ytheta.report.identification.residual_plots import plot_residuals
from ytheta.report.identification.robot_drawing import draw_robot
from ytheta.report.identification.statistics import (
    describe_coordinates,
    describe_rests,
    describe_validation_motion,
    list_file_names,
    list_weaknesses,
)
from ytheta.report.identification.summary import summarize_identification
from ytheta.report.identification.tables import (
    describe_selection,
    explain_certainty,
    explain_marks,
    list_alternative_rows,
    list_cause_rows,
    list_correlated_pairs,
    list_coverage_rows,
    list_joint_rows,
    list_key_numbers,
    list_log_rows,
    list_parameter_rows,
    list_standard_rows,
)
from ytheta.report.log.columns import list_origin_rows
from ytheta.report.numbers import format_percent

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def write_identification_report(identification: Identification, path: str | Path) -> Path:
    """Write the report of an identification; the file is written atomically."""
    return write_page(path, lambda: identification_html(identification))


def identification_html(identification: Identification) -> str:
    """Return the page as text."""
    content = {
        "identification": identification,
        "summary": summarize_identification(identification),
        "torque_figures": plot_torques(identification),
        "friction_figures": list(plot_friction(identification)),
        "residual_figures": list(plot_residuals(identification)),
        "motion_figures": list(plot_motion(identification)),
        "value_figures": list(plot_values(identification)),
        "origin_figures": list(plot_origins(identification)),
        "drawing": draw_robot(identification),
        "correlation": plot_correlations(identification),
        "column_rows": list_origin_rows(identification.origin.named_log_origins),
    }
    functions = (
        *(describe_change, describe_coordinates, describe_logs, describe_rests, describe_selection),
        *(describe_validation_motion, explain_certainty, explain_marks, format_percent, list_alternative_rows),
        *(list_cause_rows, list_correlated_pairs, list_coverage_rows, list_error_bars, list_explanations),
        *(list_file_names, list_joint_rows, list_key_numbers, list_log_rows, list_parameter_rows),
        *(list_standard_rows, list_weaknesses),
    )
    return render_page("identification.html", content, functions)
